package handlersocket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// A server that takes connections and answers nobody is passed over, if there is another one.

// resettingPort takes connections, and resets each when something was asked. It counts them.
func resettingPort(t *testing.T) (port int, connections *atomic.Int64) {
	connections = new(atomic.Int64)
	return servedPort(t, func(socket net.Conn) {
		connections.Add(1)
		_, _ = io.ReadAtLeast(socket, make([]byte, 100), 1)
		_ = socket.(*net.TCPConn).SetLinger(0)
		_ = socket.Close()
	}), connections
}

func bothPorts(port int) Address { return Address{Host: "127.0.0.1", Port: port, PortWrite: port} }

func TestASilentServerIsPassedOver(t *testing.T) {
	_, fine := startUnreliable(t, 0)
	for name, ask := range map[string]func(*Client) error{
		"find":    func(c *Client) error { return second(indexT(c).Get(t.Context(), 1)) },
		"write":   func(c *Client) error { return second(indexT(c).Increment(t.Context(), Eq(1), Set{"id": 1})) },
		"iterate": func(c *Client) error { return iterated(t, indexT(c)) },
	} {
		t.Run(name, func(t *testing.T) {
			silent, connections := resettingPort(t)
			var told connectionsTold
			c := chaosClient(t, 0, func(c *Config) {
				c.Addresses, c.RetryReads, c.OnConnection = []Address{bothPorts(silent), bothPorts(fine)}, 0, told.hear
			})
			if err := ask(c); !errors.Is(err, ErrLost) {
				t.Error(err)
			}
			if err := ask(c); err != nil {
				t.Error(err)
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
			var events []string
			for _, info := range told.await(t, 4) {
				events = append(events, fmt.Sprintf("%s %s", info.Event, info.Address))
			}
			from, to := bothPorts(silent).String(), bothPorts(fine).String()
			slices.Sort(events)
			want := []string{"connected " + from, "connected " + to, "disconnected " + from, "failed over " + to}
			slices.Sort(want)
			if !slices.Equal(events, want) {
				t.Error(events)
			}
		})
	}
}

func iterated(t *testing.T, x *Index[Row], key ...any) error {
	if key == nil {
		key = []any{1}
	}
	for _, err := range x.Rows(t.Context(), Eq(key...)) {
		if err != nil {
			return err
		}
	}
	return nil
}

// One that has answered a caller, also one that has left, is asked again.
func TestAServerThatHasAnsweredIsNotPassedOver(t *testing.T) {
	var s signals
	first := playPort(t, "first", []script{
		append(expects(openT+"1\t=\t1\t5\n", "0\t1\n0\t1\tx\n"), scriptStep{Expect: textOfBytes("1\t=\t1\t6\n")}, scriptStep{Reset: true}),
		expects(openT+"1\t=\t1\t7\n", "0\t1\n0\t1\ty\n"),
	}, 0, &s)
	other, connections := resettingPort(t)
	c := chaosClient(t, 0, func(c *Config) {
		c.Database, c.RetryReads, c.Addresses = "d", 0, []Address{bothPorts(first.port()), bothPorts(other)}
	})
	x := indexT(c)
	if err := second(x.Get(t.Context(), 5)); err != nil {
		t.Error(err)
	}
	if err := second(x.Get(t.Context(), 6)); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if err := second(x.Get(t.Context(), 7)); err != nil {
		t.Error(err)
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections to the other one", n)
	}
	if err := errors.Join(first.finish(), first.stop()); err != nil {
		t.Error(err)
	}
}

// With one address it stays the one.
func TestASilentServerThatIsTheOnlyOne(t *testing.T) {
	port, connections := resettingPort(t)
	c := chaosClient(t, port, func(c *Config) { c.RetryReads, c.BackoffMin = 0, time.Nanosecond })
	for range 3 {
		if err := second(indexT(c).Get(t.Context(), 1)); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections", n)
	}
}

// Both take connections and end them before anything can be sent: a call has its attempts, and no more.
func TestServersThatEndEachConnection(t *testing.T) {
	ends := func() int {
		return servedPort(t, func(socket net.Conn) {
			_ = socket.(*net.TCPConn).SetLinger(0)
			_ = socket.Close()
		})
	}
	addresses := []Address{bothPorts(ends()), bothPorts(ends())}
	c := chaosClient(t, 0, func(c *Config) { c.Addresses, c.RetryReads, c.ConnectAttempts, c.Timeout = addresses, 0, 4, -1 })
	for range 20 {
		// It depends on when the end comes whether a request was sent.
		if err := second(indexT(c).Get(t.Context(), 1)); !errors.Is(err, ErrLost) && !errors.Is(err, ErrConnect) {
			t.Error(err)
		}
	}
}
