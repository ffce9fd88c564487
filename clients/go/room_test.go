package handlersocket

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// roomConn is a connection on which 100 bytes may be in flight, and what the server reads.
func roomConn(t *testing.T) (c *conn, lines *bufio.Reader, server net.Conn) {
	client, server := net.Pipe()
	config := DefaultConfig()
	config.MaxInFlightBytes = 100
	c = newConn(client, &config, 0, "")
	c.events = &counters{}
	c.start()
	t.Cleanup(func() {
		c.close(errClientClosed)
		_ = server.Close()
	})
	_ = server.SetDeadline(time.Now().Add(patience))
	return c, bufio.NewReader(server), server
}

// ofSize is a call with a request of so many bytes.
func ofSize(size int, within time.Duration) *call {
	k := newCall(nil, kindPing, opPing)
	k.request = append(k.request[:0], strings.Repeat("x", size-1)+"\n"...)
	k.began = now()
	k.deadline = k.began + int64(within)
	return k
}

func asks(c *conn, k *call) chan error {
	done := make(chan error, 1)
	go func() { done <- c.exchange(context.Background(), k, nil) }()
	return done
}

func awaitWaiters(t *testing.T, c *conn, count int) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		n := len(c.waiters.list)
		c.mu.Unlock()
		if n == count {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d calls wait for room, and not %d", n, count)
		}
	}
}

// The second request of a pipeline stands behind a large one of another caller, which has room when the first one
// of the pipeline has its reply. So that one has to be sent.
func TestAPipelineThatWaitsForRoomHasSentWhatItCan(t *testing.T) {
	c, lines, server := roomConn(t)
	first := asks(c, ofSize(95, patience))
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pipeline := []*call{ofSize(20, patience), ofSize(20, patience)}
	ended := make(chan struct{})
	go func() {
		c.exchangeAll(context.Background(), pipeline, nil)
		close(ended)
	}()
	awaitWaiters(t, c, 1)
	large := asks(c, ofSize(95, patience))
	awaitWaiters(t, c, 2)
	for _, size := range []int{20, 95, 20} {
		if _, err := server.Write([]byte("0\t1\tx\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); len(line) != size {
			t.Fatalf("%d bytes came, and not %d: %v", len(line), size, err)
		}
	}
	if _, err := server.Write([]byte("0\t1\tx\n")); err != nil {
		t.Fatal(err)
	}
	for _, done := range []chan error{first, large} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	<-ended
	for _, k := range pipeline {
		if k.err != nil {
			t.Error(k.err)
		}
	}
}

// A call that waits behind one whose time is over has its turn then, and not when the next reply comes.
func TestRoomGoesOnWhenTheFirstThatWaitsGivesUp(t *testing.T) {
	for name, within := range map[string]time.Duration{"late": 50 * time.Millisecond, "canceled": patience} {
		t.Run(name, func(t *testing.T) {
			c, lines, _ := roomConn(t)
			asks(c, ofSize(50, patience))
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			large := make(chan error, 1)
			go func() { large <- c.exchange(ctx, ofSize(90, within), nil) }()
			awaitWaiters(t, c, 1)
			asks(c, ofSize(20, patience))
			awaitWaiters(t, c, 2)
			if name == "canceled" {
				cancel()
			}
			if err := <-large; err == nil {
				t.Error("it has an answer")
			}
			if line, err := lines.ReadString('\n'); len(line) != 20 {
				t.Errorf("%d bytes came: %v", len(line), err)
			}
		})
	}
}
