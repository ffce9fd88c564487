package handlersocket

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"
)

// A listening is what a client tells of requests.
type listening struct {
	mu   sync.Mutex
	told []RequestInfo
}

func (l *listening) to(c *Config) {
	c.OnRequest = func(r RequestInfo) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.told = append(l.told, r)
	}
}

func (l *listening) only(t *testing.T) RequestInfo {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.told) != 1 {
		t.Fatalf("%+v", l.told)
	}
	return l.told[0]
}

// An iteration whose loop panics is told as one that was left, and does not keep Shutdown waiting.
func TestAnIterationThatPanicsIsTold(t *testing.T) {
	var l listening
	c, done := playClient(t, l.to, append(expects(openT+"1\t=\t1\t5\t9\n", "0\t1\n0\t1\tone\ttwo\t"), scriptStep{ExpectEnd: true}))
	func() {
		defer func() {
			if recover() != "of the loop" {
				t.Error("another panic")
			}
		}()
		for range rowsOfT(t.Context(), c) {
			panic("of the loop")
		}
	}()
	if r := l.only(t); r.Rows != 1 || r.Err != nil || r.Route != RouteStream {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	done()
}

// The replies of iterations are counted, and those that were given up.
func TestIterationsAreCounted(t *testing.T) {
	c, done := playClient(t, nil, append(expects(openT+"1\t=\t1\t5\t9\n", "0\t1\n0\t1\tone\n", "1\t=\t1\t5\t9\n", "1\t1\tlock_wait\n",
		"1\t=\t1\t5\t9\n", "0\t1\tone\t"), scriptStep{ExpectEnd: true}))
	if err := takeAll(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := takeAll(t.Context(), c); !errors.Is(err, ErrReply) {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Requests != 2 || s.Replies != 2 || s.Errors != 1 || s.GivenUp != 0 {
		t.Errorf("%+v", s)
	}
	if err := takeAndCancel(t.Context(), c); !errors.Is(err, ErrCanceled) {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Requests != 3 || s.Replies != 2 || s.GivenUp != 1 {
		t.Errorf("%+v", s)
	}
	done()
}

// More bytes than 31 bits can count.
func TestALargeIterationIsToldWhole(t *testing.T) {
	k := newCall(nil, kindFind, opFind)
	k.bytesIn, k.rows = 1<<33, 1<<32
	var l listening
	c := &Client{}
	l.to(&c.config)
	c.ended(k, nil)
	if r := l.only(t); r.BytesIn != 1<<33 || r.Rows != 1<<32 {
		t.Errorf("%+v", r)
	}
}

// Close and the caller's end free an iteration that waits for an attempt or is being connected.
func TestAnIterationThatHasNoConnectionIsFree(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	// Nobody accepts there, and so no log-in is answered.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, each := range []struct {
		name  string
		port  int
		frees func(*Client, context.CancelFunc)
		kind  error
	}{
		{"closed while it waits", closed.Addr().(*net.TCPAddr).Port, func(c *Client, _ context.CancelFunc) { _ = c.Close() }, ErrClosed},
		{"given up while it waits", closed.Addr().(*net.TCPAddr).Port, func(_ *Client, cancel context.CancelFunc) { cancel() }, ErrCanceled},
		{"closed while it logs in", silent.Addr().(*net.TCPAddr).Port, func(c *Client, _ context.CancelFunc) { _ = c.Close() }, ErrClosed},
		{"given up while it logs in", silent.Addr().(*net.TCPAddr).Port, func(_ *Client, cancel context.CancelFunc) { cancel() }, ErrCanceled},
	} {
		t.Run(each.name, func(t *testing.T) {
			c := chaosClient(t, each.port, func(config *Config) {
				config.Database, config.Secret = "d", "s"
				config.Timeout, config.ConnectTimeout = time.Hour, time.Hour
				config.BackoffMin, config.BackoffMax = 1<<50, 1<<50
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- takeAll(ctx, c) }()
			time.Sleep(50 * time.Millisecond)
			each.frees(c, cancel)
			select {
			case err := <-ended:
				var e *Error
				if !errors.Is(err, each.kind) || !errors.As(err, &e) || e.Sent {
					t.Error(err)
				}
			case <-time.After(patience):
				t.Fatal("it still waits")
			}
			_ = c.Close()
		})
	}
}

// A server that has sent nothing for DeadAfter is dead, in the middle of a reply, too.
func TestAnIterationOfADeadServerIsLost(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"without a timeout": -1, "before the timeout": time.Hour} {
		t.Run(name, func(t *testing.T) {
			c, done := playClient(t, func(c *Config) { c.Timeout, c.DeadAfter = timeout, 100*time.Millisecond },
				append(expects(openT+"1\t=\t1\t5\t9\n", "0\t1\n0\t1\tone\ttwo\t"), scriptStep{ExpectEnd: true}))
			ended := make(chan error, 1)
			go func() { ended <- takeAll(context.Background(), c) }()
			select {
			case err := <-ended:
				if !errors.Is(err, ErrLost) || !errors.Is(err, errSilent) {
					t.Error(err)
				}
			case <-time.After(patience):
				t.Error("it still waits")
			}
			done()
		})
	}
}
