package handlersocket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// The end of an iteration's connection is told and counted as that of any other one.
func TestTheEndOfAStreamIsTold(t *testing.T) {
	const asked = openT + "1\t=\t1\t5\t9\n"
	// What a server answers behind the P, what it does then, and what the caller does with the rows.
	for _, each := range []struct {
		name, answer string
		then         scriptStep
		take         func(context.Context, *Client) error
		kind, cause  error
		lost         bool
	}{
		{"lost", "0\t1\tone\ttwo\tthr", scriptStep{Close: true}, takeAll, ErrLost, errEnded, true},
		{"no reply", "0\t1\tone\ttwo\x01\x01\t", scriptStep{ExpectEnd: true}, takeAll, ErrProtocol, errNoReply, true},
		{"unasked", "0\t1\tone\n0\t1\n", scriptStep{ExpectEnd: true}, takeAll, nil, errUnasked, true},
		{"idle", "0\t1\tone\n", scriptStep{Close: true}, takeAll, nil, errEnded, false},
		{"left", "0\t1\tone\ttwo\t", scriptStep{ExpectEnd: true}, takeOne, nil, errUnread, false},
		{"given up", "0\t1\tone\ttwo\t", scriptStep{ExpectEnd: true}, takeAndCancel, ErrCanceled, errUnread, false},
		{"closed", "0\t1\tone\ttwo\t", scriptStep{ExpectEnd: true}, takeAndClose, ErrClosed, errClientClosed, false},
		{"closed idle", "0\t1\tone\n", scriptStep{ExpectEnd: true}, takeAllAndClose, nil, errClientClosed, false},
	} {
		t.Run(each.name, func(t *testing.T) {
			var mu sync.Mutex
			var told []ConnectionInfo
			var log lockedBuffer
			c, done := playClient(t, func(c *Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.OnConnection = func(i ConnectionInfo) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, i)
				}
			}, append(expects(asked, "0\t1\n"+each.answer), each.then))
			if err := each.take(t.Context(), c); !errors.Is(err, each.kind) {
				t.Errorf("%v, and not %v", err, each.kind)
			}
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
				mu.Lock()
				n := len(told)
				mu.Unlock()
				if n > 1 {
					break
				}
			}
			done()
			mu.Lock()
			defer mu.Unlock()
			if len(told) != 2 || told[0].Event != Connected || told[1].Address != told[0].Address {
				t.Fatalf("%+v", told)
			}
			if e := told[1]; e.Event != Disconnected || e.Route != RouteStream || e.Lost != each.lost || e.Err != each.cause {
				t.Errorf("%+v", e)
			}
			lost := uint64(0)
			if each.lost {
				lost = 1
			}
			if s := c.Stats(); s.ConnectionsMade != 1 || s.ConnectionsLost != lost {
				t.Errorf("%+v", s)
			}
			line := fmt.Sprintf("handlersocket: disconnected\" server.address=%s route=stream error=%q", told[1].Address, each.cause)
			if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, line) || strings.Contains(text, "one") {
				t.Error(text)
			}
		})
	}
}

func rowsOfT(ctx context.Context, c *Client) func(func(Row, error) bool) {
	return indexT(c).Rows(ctx, Eq(5).Limit(9))
}

func takeAll(ctx context.Context, c *Client) error {
	for _, err := range rowsOfT(ctx, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

func takeOne(ctx context.Context, c *Client) error {
	for _, err := range rowsOfT(ctx, c) {
		return err
	}
	return nil
}

func takeAndCancel(ctx context.Context, c *Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, err := range rowsOfT(ctx, c) {
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func takeAndClose(ctx context.Context, c *Client) error {
	for _, err := range rowsOfT(ctx, c) {
		_ = c.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func takeAllAndClose(ctx context.Context, c *Client) error {
	return errors.Join(takeAll(ctx, c), c.Close())
}

// A connection that was idle when it ended was not lost, on any route.
func TestAnIdleConnectionIsNotLost(t *testing.T) {
	ended := make(chan ConnectionInfo, 1)
	c, done := playClient(t, func(c *Config) {
		c.OnConnection = func(i ConnectionInfo) {
			if i.Event == Disconnected {
				ended <- i
			}
		}
	}, append(expects(openT+"1\t=\t1\t5\n", "0\t1\n0\t1\t5\n"), scriptStep{Close: true}))
	if _, err := indexT(c).Get(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if i := <-ended; i.Lost || i.Route != RouteRead || i.Err != errEnded || c.Stats().ConnectionsLost != 0 {
		t.Errorf("%+v, %+v", i, c.Stats())
	}
	done()
}
