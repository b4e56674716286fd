// timers says when its timers fire, in seconds since its start. usage: timers [spin | LONGEST]
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

func main() {
	start := time.Now()
	var lock sync.Mutex
	say := func(what string) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Printf("%.6f %s\n", time.Since(start).Seconds(), what)
	}
	say("start " + start.UTC().Format(time.RFC3339))
	longest := 10 * time.Hour
	if len(os.Args) > 1 && os.Args[1] != "spin" {
		longest, _ = time.ParseDuration(os.Args[1])
	} else if len(os.Args) > 1 {
		for time.Since(start) < 250*time.Millisecond {
		}
		say("spun")
		return
	}
	var all sync.WaitGroup
	all.Add(4)
	go func() { time.Sleep(5 * time.Second); say("sleep"); all.Done() }()
	go func() { <-time.After(longest); say("after"); all.Done() }()
	go func() {
		limited, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		<-limited.Done()
		say("context")
		all.Done()
	}()
	time.AfterFunc(1500*time.Microsecond, func() { say("func"); all.Done() })
	ticker := time.NewTicker(30 * time.Second)
	for i := 0; i < 4; i++ {
		<-ticker.C
		say("tick")
	}
	ticker.Stop()
	all.Wait()
}
