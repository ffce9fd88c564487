package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Hooks and the logger are told what happens, and never a value.
func TestHooks(t *testing.T) {
	_, port := startUnreliable(t, 0)
	var mu sync.Mutex
	var requests []RequestInfo
	var connections []ConnectionInfo
	var log lockedBuffer
	c := chaosClient(t, port, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.OnRequest = func(r RequestInfo) {
			mu.Lock()
			defer mu.Unlock()
			requests = append(requests, r)
		}
		c.OnConnection = func(i ConnectionInfo) {
			mu.Lock()
			defer mu.Unlock()
			connections = append(connections, i)
		}
	})
	index := c.Index(IndexSpec{Database: "d", Table: "t", Columns: []string{"id"}})
	ctx := t.Context()
	if _, err := index.Get(ctx, "VALUE"); err != nil {
		t.Fatal(err)
	}
	if _, err := index.Modify(ctx, Eq("VALUE"), OpIncrement, 1); err != nil {
		t.Fatal(err)
	}
	for _, err := range index.Rows(ctx, Eq("VALUE")) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := index.Find(ctx, Eq("VALUE").Long()); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	_, err := index.Get(ctx, "VALUE")
	if !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	var got []string
	for _, r := range requests {
		got = append(got, fmt.Sprintf("%s %s.%s.%s %s %d %s", r.Operation, r.Database, r.Table, r.Index, r.Route, r.Rows, r.ErrorType()))
		if r.Err == nil && (r.Duration <= 0 || r.BytesIn == 0 || r.BytesOut == 0 || r.Address == "") {
			t.Errorf("%+v", r)
		}
	}
	want := "find d.t.PRIMARY read 1 ; increment d.t.PRIMARY write 1 ; find d.t.PRIMARY stream 1 ; " +
		"find d.t.PRIMARY long 1 ; find d.t.PRIMARY read 0 closed"
	if strings.Join(got, "; ") != want {
		t.Errorf("%q", got)
	}
	if len(connections) < 4 || connections[0].Event != Connected || connections[0].Route != RouteRead {
		t.Errorf("%+v", connections)
	}
	if text := log.String() + fmt.Sprint(requests, connections); strings.Contains(text, "VALUE") || !strings.Contains(log.String(), "connected") {
		t.Error(text)
	}
	if s := c.Stats(); s.Requests != 5 || s.Errors != 1 || s.InFlight != 0 || s.ConnectionsMade != 4 {
		t.Errorf("%+v", s)
	}
}

type lockedBuffer struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.String()
}

func TestAFailedAttemptIsTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	var mu sync.Mutex
	told := 0
	c := chaosClient(t, port, func(c *Config) {
		c.ConnectAttempts = 3
		c.OnConnection = func(i ConnectionInfo) {
			mu.Lock()
			defer mu.Unlock()
			if i.Event == ConnectFailed && i.Err != nil {
				told++
			}
		}
	})
	_, err = c.Index(IndexSpec{Table: "t", Columns: []string{"id"}}).Get(t.Context(), 1)
	mu.Lock()
	defer mu.Unlock()
	if told != 3 || !errors.Is(err, ErrConnect) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%d, %v", told, err)
	}
}

// Finds of replicas go elsewhere than the writes, and to the writer when there is no replica.
func TestReadFromReplicas(t *testing.T) {
	writer, port := startUnreliable(t, 0)
	replica, replicaPort := startUnreliable(t, 0)
	var mu sync.Mutex
	asked := map[string]int{}
	c := chaosClient(t, port, func(c *Config) {
		c.ReadFrom = ReadFromReplicas
		c.Addresses = append(c.Addresses, Address{Host: "127.0.0.1", Port: replicaPort, PortWrite: replicaPort})
		c.OnRequest = func(r RequestInfo) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.Operation+r.Address]++
		}
	})
	index := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}})
	for range 3 {
		if _, err := index.Modify(t.Context(), Eq(1), OpIncrement, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := index.Get(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	first := fmt.Sprintf("%v", asked)
	mu.Unlock()
	if want := fmt.Sprintf("map[find127.0.0.1:%d,%[1]d:3 increment127.0.0.1:%d,%[2]d:3]", replicaPort, port); first != want {
		t.Errorf("%s, and not %s", first, want)
	}
	replica.stop()
	time.Sleep(50 * time.Millisecond)
	if _, err := index.Get(t.Context(), 1); err != nil {
		t.Error(err)
	}
	_ = writer
}

// What a hook or a logger does wrong harms nobody.
func TestHooksThatPanic(t *testing.T) {
	_, port := startUnreliable(t, 0)
	var calls atomic.Int64
	panics := func() {
		calls.Add(1)
		panic("mine")
	}
	c := chaosClient(t, port, func(c *Config) {
		c.OnRequest = func(RequestInfo) { panics() }
		c.OnConnection = func(ConnectionInfo) { panics() }
		c.Logger = slog.New(panickingHandler{slog.DiscardHandler, panics})
	})
	for _, call := range []func() error{
		func() error { return second(indexT(c).Get(t.Context(), 1)) },
		func() error { return second(indexT(c).Get(t.Context(), 1)) },
		func() error { return iterated(t, indexT(c)) },
		func() error { return second(c.Describe(t.Context(), IndexSpec{Table: "t", Columns: []string{"id"}})) },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	// Four requests, and two connections that the hook and the logger were told of.
	if n := calls.Load(); n < 8 {
		t.Errorf("%d calls", n)
	}
	_ = c.Close()
}

type panickingHandler struct {
	slog.Handler
	panics func()
}

func (p panickingHandler) Enabled(context.Context, slog.Level) bool { return true }

func (p panickingHandler) Handle(context.Context, slog.Record) error {
	p.panics()
	return nil
}
