package handlersocket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An unreliable server: it answers a find with its key, counts modifications by their key, and now
// and then cuts a connection anywhere, stalls, or sends its replies in small pieces.
type unreliable struct {
	listener net.Listener
	// Of a thousand replies so many end the connection; 0: none.
	cuts int

	mu       sync.Mutex
	executed map[string]int
	sockets  map[net.Conn]bool
}

func startUnreliable(t testing.TB, cuts int) (*unreliable, int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &unreliable{listener: listener, cuts: cuts, executed: map[string]int{}, sockets: map[net.Conn]bool{}}
	t.Cleanup(u.stop)
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			u.mu.Lock()
			u.sockets[socket] = true
			u.mu.Unlock()
			go u.serve(socket)
		}
	}()
	return u, listener.Addr().(*net.TCPAddr).Port
}

func (u *unreliable) stop() {
	_ = u.listener.Close()
	u.mu.Lock()
	defer u.mu.Unlock()
	for socket := range u.sockets {
		_ = socket.Close()
	}
}

func (u *unreliable) serve(socket net.Conn) {
	defer func() {
		_ = socket.Close()
		u.mu.Lock()
		delete(u.sockets, socket)
		u.mu.Unlock()
	}()
	in := bufio.NewReader(socket)
	var out bytes.Buffer
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		out.WriteString(u.answer(strings.Split(strings.TrimSuffix(line, "\n"), "\t")))
		cut := u.cuts > 0 && rand.IntN(1000) < u.cuts
		if in.Buffered() > 0 && !cut {
			continue
		}
		b := out.Bytes()
		if cut {
			b = b[:rand.IntN(len(b)+1)]
		}
		if u.cuts > 0 && rand.IntN(100) == 0 {
			time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		}
		for len(b) > 0 {
			n := len(b)
			if u.cuts > 0 && rand.IntN(10) == 0 {
				n = 1 + rand.IntN(len(b))
			}
			if _, err := socket.Write(b[:n]); err != nil {
				return
			}
			b = b[n:]
		}
		out.Reset()
		if cut {
			return
		}
	}
}

func (u *unreliable) answer(tokens []string) string {
	if tokens[0] == "within" {
		tokens = tokens[2:]
	}
	switch {
	case tokens[0] == "P":
		return "0\t1\n"
	case tokens[0] == "H":
		return greeting
	case tokens[0] == "D":
		return "0\t7\tcolumn\tid\tvarchar(9)\t0\t0\t0\tutf8mb4\tkey\tid\tvarchar(9)\t0\t0\t0\tutf8mb4\n"
	case len(tokens) > 6 && tokens[6] == "+":
		u.mu.Lock()
		u.executed[tokens[3]]++
		u.mu.Unlock()
		return "0\t1\t1\n"
	}
	return "0\t1\t" + tokens[3] + "\n"
}

func (u *unreliable) count(key string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.executed[key]
}

func chaosClient(t testing.TB, port int, change func(*Config)) *Client {
	c := Config{
		Database:   "d",
		Addresses:  []Address{{Host: "127.0.0.1", Port: port, PortWrite: port}},
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond, ConnectAttempts: 50, RetryReads: 50,
	}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Whatever happens, nobody gets another's row, what was acknowledged was done once, and what is said
// not to have been executed was not.
func TestUnreliableServer(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"default": nil,
		"few in flight": func(c *Config) {
			c.MaxInFlight, c.MaxInFlightBytes, c.ReadConnections, c.WriteConnections = 3, 200, 2, 2
		},
		"reads behind writes": func(c *Config) { c.ReadYourWrites = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, port := startUnreliable(t, 20)
			c := chaosClient(t, port, change)
			index := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}})
			var all sync.WaitGroup
			var wrong, unsure, acknowledged atomic.Int64
			for i := range 40 {
				all.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 3))
					for n := range 100 {
						key := fmt.Sprintf("%d-%d", i, n)
						ctx, cancel := context.WithCancel(t.Context())
						switch r.IntN(8) {
						case 0:
							cancel()
							ctx, cancel = context.WithTimeout(t.Context(), time.Duration(r.IntN(500))*time.Microsecond)
						case 1:
							time.AfterFunc(time.Duration(r.IntN(300))*time.Microsecond, cancel)
						}
						row, err := index.Get(ctx, key)
						if err == nil && row.String(0) != key {
							wrong.Add(1)
						}
						_, err = index.Modify(ctx, Eq(key), OpIncrement, 1)
						cancel()
						done := u.count(key)
						switch {
						case err == nil && done == 1:
							acknowledged.Add(1)
						case MaybeExecuted(err) && done <= 1:
							unsure.Add(1)
						case SafeToRetry(err) && done == 0:
						default:
							t.Errorf("%s was executed %d times: %v", key, done, err)
						}
					}
				})
			}
			all.Wait()
			if wrong.Load() > 0 {
				t.Errorf("%d wrong rows", wrong.Load())
			}
			t.Logf("%d acknowledged, %d unsure; %+v", acknowledged.Load(), unsure.Load(), c.Stats())
		})
	}
}

// The wish to be alone must not make a call wait for another that is not answered.
func TestManyCallersOneConnection(t *testing.T) {
	_, port := startUnreliable(t, 0)
	c := chaosClient(t, port, func(c *Config) { c.RetryReads = 0 })
	index := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}})
	for _, callers := range []int{1, 2, 3, 8, 100} {
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for n := range 2000 / callers {
					key := fmt.Sprintf("%d-%d", i, n)
					row, err := index.Get(t.Context(), key)
					if err != nil || row.String(0) != key {
						t.Errorf("%s gives %v, %v", key, row, err)
					}
				}
			})
		}
		all.Wait()
	}
	if s := c.Stats(); s.ConnectionsMade != 1 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}

func TestClosingInEveryState(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 30 {
		_, port := startUnreliable(t, 10)
		c := chaosClient(t, port, nil)
		index := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := 0; ; n++ {
					_, err := index.Get(context.Background(), n)
					if i%2 == 0 {
						_, err = index.Modify(context.Background(), Eq(n), OpIncrement, 1)
					}
					if errors.Is(err, ErrClosed) {
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		if rand.IntN(2) == 0 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = c.Shutdown(ctx)
			cancel()
		}
		for range 2 {
			all.Go(func() { _ = c.Close() })
		}
		all.Wait()
		if err := c.Ping(context.Background()); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		if _, err := index.Get(context.Background(), 1); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		for _, err := range index.Rows(context.Background(), Eq(1)) {
			if !errors.Is(err, ErrClosed) {
				t.Fatal(err)
			}
		}
	}
	// The servers of this test have two goroutines each that end with it.
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if n := runtime.NumGoroutine(); n <= before+30 {
			break
		} else if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func TestShutdownWaitsForReplies(t *testing.T) {
	var s signals
	port := playPort(t, "read", []script{{
		{Expect: textOfBytes("P\t1\td\tt\tPRIMARY\tid\n1\t=\t1\t5\n")}, {Signal: "asked"}, {QuietMs: 50},
		{Send: textOfBytes("0\t1\n0\t1\t5\n")},
	}}, 0, &s)
	c := chaosClient(t, port.port(), nil)
	index := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}})
	result := make(chan error)
	go func() {
		_, err := index.Get(context.Background(), 5)
		result <- err
	}()
	if err := s.await("asked"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Shutdown(context.Background()) }()
	if err := <-result; err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := errors.Join(port.finish(), port.stop()); err != nil {
		t.Error(err)
	}
}

func textOfBytes(text string) *byteText { return &byteText{[]byte(text)} }

// A find that was lost and could not be sent again was seen all the same.
func TestWhatWasSentOnceCountsAsSent(t *testing.T) {
	var s signals
	port := playPort(t, "read", []script{{
		{Expect: textOfBytes("P\t1\td\tt\tPRIMARY\tid\n1\t=\t1\t5\n")}, {Signal: "asked"}, {Await: "gone"}, {Close: true},
	}}, 0, &s)
	go func() {
		_ = s.await("asked")
		_ = port.listener.Close()
		s.give("gone")
	}()
	c := chaosClient(t, port.port(), func(c *Config) { c.ConnectAttempts = 1 })
	_, err := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}}).Get(t.Context(), 5)
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrConnect || !e.Sent || e.MaybeExecuted {
		t.Errorf("%+v", err)
	}
	if err := errors.Join(port.finish(), port.stop()); err != nil {
		t.Error(err)
	}
}
