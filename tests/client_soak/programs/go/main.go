// The Go client's part of the clients' soak: callers that know what their rows have to be.
// tests/client_soak/README.md says what the program does.
//
//	client_soak URL SEED CALLERS
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"handlersocket2.example/handlersocket"
)

// How often the program says that it is alive.
const pulse = time.Second

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("client_soak URL SEED CALLERS")
	}
	client, err := handlersocket.Open(os.Args[1])
	check(err)
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	check(err)
	count, err := strconv.Atoi(os.Args[3])
	check(err)

	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	shared := newService(client)
	callers := run(shared, seed, count, &over)
	lost := client.Stats().ConnectionsLost
	check(client.Close())
	line, err := json.Marshal(newReport(callers, shared.calls.Load(), lost))
	check(err)
	fmt.Printf("report %s\n", line)
}

// run has so many callers work until it is over, and shows meanwhile that they do.
func run(s *service, seed uint64, count int, over *atomic.Bool) []*caller {
	callers := make([]*caller, count)
	var all sync.WaitGroup
	for number := range callers {
		one := newCaller(s, seed, number)
		callers[number] = one
		all.Go(func() { one.work(over) })
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	ticks := time.NewTicker(pulse)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			fmt.Println("alive", s.calls.Load())
		case <-ended:
			return callers
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
