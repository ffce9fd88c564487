package handlersocket

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Attempts to connect: what is told of them, and how long the client waits between two.

// A listener keeps what hooks are told of connections, and when.
type connectionsTold struct {
	mu   sync.Mutex
	all  []ConnectionInfo
	when []time.Time
}

func (l *connectionsTold) hear(i ConnectionInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.when = append(l.all, i), append(l.when, time.Now())
}

// await waits until so many events were told, and gives them.
func (l *connectionsTold) await(t *testing.T, count int) []ConnectionInfo {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		all := slices.Clone(l.all)
		l.mu.Unlock()
		if len(all) >= count {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("%d events are awaited, and told were %+v", count, all)
		}
	}
}

// nobody is a port where nobody listens.
func nobody(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestBackoffIsWithinItsBounds(t *testing.T) {
	for _, bounds := range [][2]time.Duration{
		{50 * time.Millisecond, 5 * time.Second}, {20 * time.Second, time.Minute}, {time.Hour, math.MaxInt64},
		{1, 1}, {1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64},
	} {
		c := &Client{config: Config{BackoffMin: bounds[0], BackoffMax: bounds[1]}}
		for failures := range 100 {
			most := bounds[1]
			if failures < 20 && bounds[0] < time.Hour {
				most = min(most, bounds[0]<<max(0, failures-1))
			}
			if wait := c.backoff(failures); wait < 0 || wait > most || failures == 0 && wait != 0 {
				t.Errorf("%v: %s after %d failures", bounds, wait, failures)
			}
		}
	}
}

// A time-out of any length is no deadline in the past.
func TestTheLongestTimeoutIsOneInTheFuture(t *testing.T) {
	answers := append(expects(openT+"1\t=\t1\t5\n", "0\t1\n"), scriptStep{QuietMs: 100}, scriptStep{Send: textOfBytes("0\t1\tx\n")})
	c, done := playClient(t, func(c *Config) {
		c.Timeout, c.DeadAfter, c.ConnectTimeout = math.MaxInt64, math.MaxInt64, math.MaxInt64
	}, answers)
	if _, err := indexT(c).Get(t.Context(), 5); err != nil {
		t.Error(err)
	}
	done()
}

// What failed is told with the time until the next attempt, which does not begin earlier.
func TestTheNextAttemptIsTold(t *testing.T) {
	for name, call := range map[string]func(*Client) error{
		"find":    func(c *Client) error { return second(indexT(c).Get(t.Context(), 1)) },
		"iterate": func(c *Client) error { return takeAll(t.Context(), c) },
	} {
		var told connectionsTold
		c := chaosClient(t, nobody(t), func(c *Config) {
			c.Addresses = append(c.Addresses, Address{Host: "127.0.0.1", Port: nobody(t)})
			c.ConnectAttempts, c.BackoffMin, c.BackoffMax = 3, 20*time.Millisecond, time.Hour
			c.OnConnection = told.hear
		})
		if err := call(c); !errors.Is(err, ErrConnect) {
			t.Errorf("%s: %v", name, err)
		}
		all := told.await(t, 6)
		for i, one := range all {
			most := time.Duration(0)
			if i%2 == 1 { // the last one of an attempt
				most = 20 * time.Millisecond << (i / 2)
			}
			if name == "iterate" && i == 5 { // an iteration makes no further attempt
				most = 0
			}
			if one.Event != ConnectFailed || one.Wait < 0 || one.Wait > most {
				t.Errorf("%s, %d: %+v", name, i, one)
			}
			// The hook notes the moment a little later than the client begins to wait.
			const late = 5 * time.Millisecond
			if i > 0 && told.when[i].Sub(told.when[i-1]) < all[i-1].Wait-late {
				t.Errorf("%s, %d: the attempt began too early", name, i)
			}
		}
	}
}

// An address that takes the place of one that cannot be reached is told.
func TestFailOverByConnectingIsTold(t *testing.T) {
	for name, call := range map[string]func(*Client) error{
		"find":    func(c *Client) error { return second(indexT(c).Get(t.Context(), 1)) },
		"modify":  func(c *Client) error { return second(indexT(c).Modify(t.Context(), Eq(1), OpIncrement, 1)) },
		"iterate": func(c *Client) error { return takeAll(t.Context(), c) },
	} {
		_, port := startUnreliable(t, 0)
		var told connectionsTold
		gone := nobody(t)
		c := chaosClient(t, gone, func(c *Config) {
			c.Addresses = append(c.Addresses, Address{Host: "127.0.0.1", Port: port, PortWrite: port})
			c.OnConnection = told.hear
		})
		for range 2 {
			if err := call(c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		var events []string
		for _, one := range told.await(t, 3) {
			events = append(events, fmt.Sprintf("%s %t", one.Event, strings.Contains(one.Address, fmt.Sprint(port))))
		}
		if got := strings.Join(events, ", "); got != "connect failed false, connected true, failed over true" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A connection that is made while the client is being closed ends as it began: told.
func TestAConnectionThatIsMadeTooLateIsToldOf(t *testing.T) {
	_, port := startUnreliable(t, 0)
	var told connectionsTold
	var c *Client
	c = chaosClient(t, port, func(config *Config) {
		config.OnConnection = func(i ConnectionInfo) {
			told.hear(i)
			if i.Event == Connected {
				_ = c.Close()
			}
		}
	})
	if _, err := indexT(c).Get(t.Context(), 1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if all := told.await(t, 2); all[1].Event != Disconnected || all[1].Lost {
		t.Errorf("%+v", all)
	}
}

// A log-in that is refused is asked for at the other addresses. If all refuse, the first one says why.
func TestARefusedLogInIsTriedElsewhere(t *testing.T) {
	const refused, asked = "3\t1\t", "A\t1\ts\n"
	call := func(scripts ...script) error {
		var s signals
		var ports []*playedPort
		c := chaosClient(t, 1, func(c *Config) {
			c.Addresses, c.Secret, c.Database, c.RetryReads = nil, "s", "d", 0
			for _, one := range scripts {
				ports = append(ports, playPort(t, "any", []script{one}, 0, &s))
				c.Addresses = append(c.Addresses, Address{Host: "127.0.0.1", Port: ports[len(ports)-1].port()})
			}
		})
		_, err := indexT(c).Get(t.Context(), 5)
		for _, port := range ports {
			if err := port.finish(); err != nil {
				t.Error(err)
			}
		}
		_ = c.Close()
		for _, port := range ports {
			_ = port.stop()
		}
		return err
	}
	if err := call(expects(asked, refused+"first\n"), expects(asked, refused+"second\n"), script{{Close: true}}); !errors.Is(err, ErrLogIn) ||
		!strings.Contains(err.Error(), "first") {
		t.Error(err)
	}
	if err := call(expects(asked, refused+"first\n"), expects(asked, "0\t1\n", openT+"1\t=\t1\t5\n", "0\t1\n0\t1\tx\n")); err != nil {
		t.Error(err)
	}
}
