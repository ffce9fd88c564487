package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"handlersocket2.example/handlersocket"
)

const (
	owner = "go"
	// With fewer live rows a caller inserts one.
	liveRows = 8
	// How long a caller waits after an error.
	pause = 10 * time.Millisecond
	// The longest text, and the longest time of an operation that has one of its own.
	longestText    = 60
	longestTimeout = 20
)

// What texts are made of.
var letters = []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\t\n\x00é😀")

// What faults may cause. Any other error is wrong.
var (
	faults = []handlersocket.Kind{
		handlersocket.ErrLost, handlersocket.ErrConnect, handlersocket.ErrTimeout, handlersocket.ErrCanceled,
		handlersocket.ErrBusy,
	}
	replies = []handlersocket.Kind{
		handlersocket.ErrLock, handlersocket.ErrElsewhere, handlersocket.ErrReadOnly, handlersocket.ErrInterrupted,
		handlersocket.ErrLimit, handlersocket.ErrSchema, handlersocket.ErrServer,
	}
)

type keptRow struct {
	Owner          string
	Caller, Number int
	N              int64
	Text           string
}

// String keeps a row on one line, whatever its text.
func (r keptRow) String() string {
	return fmt.Sprintf("(%q, %d, %d, %d, %q)", r.Owner, r.Caller, r.Number, r.N, r.Text)
}

type logRow struct {
	Owner          string
	Caller, Number int
}

// A service is what all callers share.
type service struct {
	client *handlersocket.Client
	kept   *handlersocket.Index[keptRow]
	log    *handlersocket.Index[logRow]
	// How many calls have succeeded.
	calls atomic.Int64
}

func newService(client *handlersocket.Client) *service {
	return &service{
		client: client,
		kept:   handlersocket.IndexOf[keptRow](client, handlersocket.IndexSpec{Table: "kept"}),
		log:    handlersocket.IndexOf[logRow](client, handlersocket.IndexSpec{Table: "log"}),
	}
}

type caller struct {
	*service
	ledger
	number int
	random *rand.Rand
	// What it does now, and whether a part of that has failed.
	operation string
	failed    bool
	// Errors by their kind, and how many of them said that the call may have been executed.
	errors        map[string]int
	maybeExecuted int
}

func newCaller(s *service, seed uint64, number int) *caller {
	return &caller{
		service: s, ledger: newLedger(), number: number,
		random: rand.New(rand.NewPCG(seed, uint64(number))), errors: map[string]int{},
	}
}

// work does one operation after the other until it is over.
func (c *caller) work(over *atomic.Bool) {
	for !over.Load() {
		next := insertion
		if len(c.live) >= liveRows {
			next = c.draw()
		}
		c.perform(next)
		if c.failed {
			time.Sleep(pause)
		} else {
			c.calls.Add(1)
		}
	}
}

func (c *caller) perform(next operation) {
	c.operation, c.failed = next.name, false
	ctx := context.Background()
	if next.hurries {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(1+c.random.IntN(longestTimeout))*time.Millisecond)
		defer cancel()
	}
	next.run(c, ctx)
}

// draw chooses an operation by its weight.
func (c *caller) draw() operation {
	sum := 0
	for _, one := range operations {
		sum += one.weight
	}
	place := c.random.IntN(sum)
	for _, one := range operations {
		if place < one.weight {
			return one
		}
		place -= one.weight
	}
	panic("the weights have another sum")
}

// A fate is what has become of a call.
type fate int

const (
	done   fate = iota
	undone      // it failed, and has changed nothing
	unsure      // it failed, and may have been executed
)

// fate judges the error of a call, if there is one, and counts it.
func (c *caller) fate(ctx context.Context, err error, modifies bool) fate {
	if err == nil {
		return done
	}
	var e *handlersocket.Error
	if !errors.As(err, &e) || !isFault(e) {
		c.wrong("a result or the error of a fault was expected, and %q came", err)
	}
	maybe := handlersocket.MaybeExecuted(err)
	switch deadline, _ := ctx.Deadline(); {
	case maybe == handlersocket.SafeToRetry(err):
		c.wrong("%q both may have been executed and is safe to retry, or neither", err)
	case maybe && (!modifies || !e.Sent || e.Kind == handlersocket.ErrConnect || e.Kind == handlersocket.ErrBusy):
		c.wrong("%q cannot have been executed", err)
	case e.Kind == handlersocket.ErrTimeout && time.Now().Before(deadline):
		c.wrong("%q came %v too early", err, time.Until(deadline))
	}
	c.failed = true
	c.errors[string(e.Kind)]++
	if maybe {
		c.maybeExecuted++
		return unsure
	}
	return undone
}

func isFault(e *handlersocket.Error) bool {
	kinds, kind := faults, e.Kind
	if kind == handlersocket.ErrReply {
		kinds, kind = replies, e.Class
	}
	return slices.Contains(kinds, kind)
}

// wrong says what is not as it must be, and ends the program.
func (c *caller) wrong(format string, arguments ...any) {
	fmt.Printf("wrong caller %d, %s: %s\n", c.number, c.operation, fmt.Sprintf(format, arguments...))
	os.Exit(1)
}

// expect compares a part of what came.
func expect[T comparable](c *caller, what string, came, wanted T) {
	if came != wanted {
		c.wrong("%s: %v was expected, and %v came", what, wanted, came)
	}
}

func (c *caller) anyRow() liveRow { return c.live[c.random.IntN(len(c.live))] }

func (c *caller) amount() int64 { return 1 + c.random.Int64N(9) }

func (c *caller) text() string {
	text := make([]rune, c.random.IntN(longestText+1))
	for i := range text {
		text[i] = letters[c.random.IntN(len(letters))]
	}
	return string(text)
}

func (c *caller) row(number int, s state) keptRow {
	return keptRow{owner, c.number, number, s.n, s.text}
}

func (c *caller) key(number int) handlersocket.Query {
	return handlersocket.Eq(owner, c.number, number)
}
