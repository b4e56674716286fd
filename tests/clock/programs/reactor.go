// reactor long-polls a server, does the work that the answer asks for and posts a result: what a scheduler does, in small.
// usage: reactor URL
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"
)

type order struct {
	Round int     `json:"round"`
	Kind  string  `json:"kind"`
	Ms    float64 `json:"ms"`
	Posts int     `json:"posts"`
}

const turnsPerMs = 500_000 // about: the amount of work must not depend on a clock, which may stand still

func spin(turns int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < turns; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

var sink uint64

// handOver lets two goroutines pass a token to and fro, each working a little in its turn.
func handOver(turns, work int, threads bool) {
	to, back := make(chan int), make(chan int)
	go func() {
		if threads {
			runtime.LockOSThread()
		}
		for v := range to {
			spin(work)
			back <- v
		}
		close(back)
	}()
	if threads {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for i := 0; i < turns; i++ {
		to <- i
		spin(work)
		<-back
	}
	close(to)
}

func work(o order) {
	turns := int(o.Ms * turnsPerMs)
	switch o.Kind {
	case "cpu":
		sink += spin(turns)
	case "fan":
		var wg sync.WaitGroup
		for g := 0; g < 8; g++ {
			wg.Add(1)
			go func() { defer wg.Done(); spin(turns / 8) }()
		}
		wg.Wait()
	case "channels":
		handOver(turns/4000+1, 2000, false)
	case "threads": // a futex sleep and wake at each turn
		handOver(turns/4000+1, 1000, true)
	case "gc":
		var keep [][]byte
		for i := 0; i < turns/20000+1; i++ {
			keep = append(keep, make([]byte, 16<<10))
			if len(keep) > 500 {
				keep = keep[250:]
			}
			spin(10000)
		}
		runtime.GC()
	case "disk":
		f, err := os.CreateTemp("", "reactor")
		if err != nil {
			panic(err)
		}
		f.Write(make([]byte, 4096))
		f.Sync()
		f.Close()
		os.Remove(f.Name())
	case "pipe":
		r, w, _ := os.Pipe()
		go func() { spin(turns / 2); w.Write([]byte("x")); w.Close() }()
		io.ReadAll(r)
		r.Close()
		spin(turns / 2)
	case "sleep":
		for i := 0; i < 3; i++ {
			spin(turns / 6)
			time.Sleep(time.Duration(o.Ms*1000) * time.Microsecond)
		}
	}
}

func main() {
	url := os.Args[1]
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	poll := &http.Client{Transport: transport}
	post := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	for {
		answer, err := poll.Get(url + "/wait")
		if err != nil {
			fmt.Fprintln(os.Stderr, "wait:", err)
			os.Exit(3)
		}
		var o order
		err = json.NewDecoder(answer.Body).Decode(&o)
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			fmt.Fprintln(os.Stderr, "decode:", err)
			os.Exit(3)
		}
		share := o
		share.Ms /= float64(max(1, o.Posts))
		for i := 0; i < o.Posts; i++ {
			work(share)
			body, _ := json.Marshal(map[string]any{"round": o.Round, "part": i, "now": time.Now().UnixNano()})
			answer, err := post.Post(url+"/answer", "application/json", bytes.NewReader(body))
			if err != nil {
				fmt.Fprintln(os.Stderr, "post:", err)
				os.Exit(3)
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
}
