// ticks sleeps a second twenty times, twice over, and reads the clock a varying number of times in between.
// usage: ticks READINGS
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	readings, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Add(1)
		go func() {
			defer both.Done()
			for tick := range 20 {
				for range readings * (tick % 3) {
					time.Now()
				}
				time.Sleep(time.Second)
			}
		}()
	}
	both.Wait()
}
