// draws prints what a Go program takes from the runtime's random numbers, and where its variables lie.
// usage: draws, after a sleep of a second
package main

import (
	"fmt"
	"maps"
	"math/rand"
	randv2 "math/rand/v2"
	"slices"
	"sync"
	"time"
)

func main() {
	time.Sleep(time.Second)
	numbers := map[int]bool{}
	for n := range 20 {
		numbers[n] = true
	}
	for range 3 {
		fmt.Println("map", slices.Collect(maps.Keys(numbers)))
	}
	channels := [2]chan int{make(chan int, 40), make(chan int, 40)}
	for range 40 {
		channels[0] <- 0
		channels[1] <- 1
	}
	fmt.Print("select ")
	for range 40 {
		select {
		case n := <-channels[0]:
			fmt.Print(n)
		case n := <-channels[1]:
			fmt.Print(n)
		}
	}
	fmt.Println()
	fmt.Println("rand", rand.Intn(1000000), rand.Perm(10), randv2.IntN(1000000))
	var all sync.WaitGroup
	for n := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			fmt.Println("goroutine", n, rand.Intn(1000))
		}()
	}
	all.Wait()
	var local int
	fmt.Printf("address %p\n", &local)
}
