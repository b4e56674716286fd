// blocks waits in system calls of its own, by which it keeps its other goroutines from running for a while.
// usage: blocks
package main

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	time.Sleep(time.Second)
	for n := range 5 {
		go func() {
			fmt.Println("goroutine", n)
			syscall.Write(pipe[1], []byte("x"))
		}()
		syscall.Read(pipe[0], make([]byte, 1))
		if err := exec.Command("true").Run(); err != nil {
			panic(err)
		}
	}
	go func() {
		time.Sleep(time.Hour)
		syscall.Write(pipe[1], []byte("x"))
	}()
	syscall.Read(pipe[0], make([]byte, 1))
	fmt.Println("over")
}
