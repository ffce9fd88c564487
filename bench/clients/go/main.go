// Measures lookups of random rows by many goroutines that share one client. Each asks for one row at a time and
// compares what it gets with its key.
//
//	bench CLIENT CALLERS WARM_UP SECONDS READ_PORT REDIS_PORT SQL_PORT ROWS
//
// It writes the line "begin" after warming up, and then the result as a line of JSON; bench/clients/measure.py reads both.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// One of so many requests of a caller is timed.
const timedOneOf = 8

func main() {
	log.SetFlags(0)
	if len(os.Args) != 9 {
		log.Fatal("bench CLIENT CALLERS WARM_UP SECONDS READ_PORT REDIS_PORT SQL_PORT ROWS")
	}
	find := clients[os.Args[1]]
	if find == nil {
		log.Fatal("no client is called ", os.Args[1])
	}
	callers, rows := int(number(2)), int(number(8))
	lookup := find(place{hs: os.Args[5], redis: os.Args[6], sql: os.Args[7], callers: callers})
	run(lookup, callers, rows, time.Duration(number(3)*float64(time.Second)))
	fmt.Println("begin")
	result := run(lookup, callers, rows, time.Duration(number(4)*float64(time.Second)))
	line, err := json.Marshal(result)
	check(err)
	fmt.Println(string(line))
}

type result struct {
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
}

// run has the callers ask until the time is over, and gives latencies in microseconds.
func run(lookup func(key int), callers, rows int, duration time.Duration) result {
	var stop atomic.Bool
	var all sync.WaitGroup
	counts := make([]int64, callers)
	times := make([][]time.Duration, callers)
	began := time.Now()
	for i := range callers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), uint64(began.UnixNano())))
			var count int64
			for ; !stop.Load(); count++ {
				key := 1 + r.IntN(rows)
				if count%timedOneOf != 0 {
					lookup(key)
					continue
				}
				asked := time.Now()
				lookup(key)
				times[i] = append(times[i], time.Since(asked))
			}
			counts[i] = count
		})
	}
	time.Sleep(duration)
	stop.Store(true)
	all.Wait()
	took := time.Since(began).Seconds()
	sorted := slices.Concat(times...)
	slices.Sort(sorted)
	var sum int64
	for _, count := range counts {
		sum += count
	}
	return result{sum, took, percentile(sorted, 50), percentile(sorted, 99)}
}

func percentile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[len(sorted)*percent/100].Nanoseconds()) / 1000
}

// number is a number among the arguments.
func number(position int) float64 {
	value, err := strconv.ParseFloat(os.Args[position], 64)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
