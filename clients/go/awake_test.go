package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// When a look pays: if requests were alone lately, and those that looked found something.
func TestWhenACallerStaysAwake(t *testing.T) {
	a := alone{socket: &wakeful{}}
	asks := func() bool {
		a.added(true)
		a.begins()
		return a.socket.looks.Swap(false)
	}
	read := func(found bool) {
		a.socket.looked, a.socket.found = true, found
		a.hasRead()
	}
	first := func() int {
		for n := range 5000 {
			if asks() {
				return n
			}
		}
		return -1
	}
	if n := first(); n != aloneBefore {
		t.Errorf("%d requests were not looked for", n)
	}
	for i := range 15 {
		read(false)
		if n, want := first(), min(2<<i, 1024); n != want {
			t.Errorf("after %d looks in vain %d requests are not looked for, and not %d", i+1, n, want)
		}
	}
	read(true)
	if !asks() {
		t.Error("a look that succeeds is followed by none")
	}
	read(false)
	if n := first(); n != 2 {
		t.Errorf("after the first look in vain %d requests are not looked for", n)
	}
	a.socket.looks.Store(true)
	a.added(false)
	if a.socket.looks.Load() {
		t.Error("it looks although another request is in flight")
	}
	a.skip = 0
	if n := first(); n != aloneBefore {
		t.Errorf("%d requests were not looked for behind one that was not alone", n)
	}
	// Where no socket can look, nothing happens.
	none := alone{}
	for range 20 {
		none.added(true)
		none.begins()
		none.hasRead()
	}
}

// pairOfSockets is a socket that can look, and its peer.
func pairOfSockets(t *testing.T) (*wakeful, net.Conn) {
	t.Helper()
	before := runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w := wakefulOf(stayingAwake(near))
	if w == nil {
		t.Skip("here no socket can look")
	}
	t.Cleanup(func() {
		_ = w.Close()
		_ = far.Close()
	})
	return w, far
}

// A read that looks gives what any read gives: bytes, the end, a deadline that is over, a socket that was closed.
func TestAReadThatLooks(t *testing.T) {
	w, far := pairOfSockets(t)
	read := func() (string, error) {
		b := make([]byte, 10)
		w.looks.Store(true)
		n, err := w.Read(b)
		if w.looks.Load() || !w.looked {
			t.Error("it looks no more, or has not looked")
		}
		return string(b[:n]), err
	}
	_, _ = far.Write([]byte("hello"))
	if text, err := read(); text != "hello" || err != nil {
		t.Error(text, err)
	}
	// What comes too late for a look is waited for.
	go func() {
		time.Sleep(200 * time.Millisecond)
		_, _ = far.Write([]byte("later"))
	}()
	if text, err := read(); text != "later" || err != nil || w.found {
		t.Error(text, err, w.found)
	}
	_ = w.SetReadDeadline(time.Unix(1, 0))
	if _, err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_ = w.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_ = w.SetReadDeadline(time.Time{})
	go func() {
		time.Sleep(20 * time.Millisecond)
		_ = far.Close()
	}()
	for range 2 {
		if _, err := read(); err != io.EOF {
			t.Error(err)
		}
	}
	_ = w.Close()
	if _, err := read(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// A look that another request ends is neither in vain nor a success.
func TestALookThatIsEnded(t *testing.T) {
	for range 20 {
		w, far := pairOfSockets(t)
		a := alone{socket: w, vain: 3}
		w.looks.Store(true)
		go func() {
			// It is ended at once, and long before the reply.
			a.socket.looks.Store(false)
			time.Sleep(5 * time.Millisecond)
			_, _ = far.Write([]byte("later"))
		}()
		n, err := w.Read(make([]byte, 10))
		if n != len("later") || err != nil {
			t.Fatal(n, err)
		}
		a.hasRead()
		if !w.looked && !w.found && a.vain == 3 && a.skip == 0 {
			return
		}
	}
	t.Error("each look was in vain")
}

// A caller who looks has its time and its context like any other, and Close frees it.
func TestACallerThatLooksIsFreed(t *testing.T) {
	const find = "1\t=\t1\t5\n"
	for name, free := range map[string]struct {
		kind error
		call func(*Client) error
	}{
		"timeout": {ErrTimeout, func(c *Client) error {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			return second(indexT(c).Get(ctx, 5))
		}},
		"close": {ErrClosed, func(c *Client) error {
			time.AfterFunc(300*time.Millisecond, func() { _ = c.Close() })
			return second(indexT(c).Get(t.Context(), 5))
		}},
	} {
		steps := expects(openT+find, "0\t1\n0\t1\tx\n")
		for range 19 {
			steps = append(steps, expects(find, "0\t1\tx\n")...)
		}
		steps = append(steps, scriptStep{Expect: textOfBytes(find)}, scriptStep{QuietMs: 1})
		c, done := playClient(t, nil, steps)
		for range 20 {
			if _, err := indexT(c).Get(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
		}
		if err := free.call(c); !errors.Is(err, free.kind) {
			t.Errorf("%s: %v", name, err)
		}
		done()
	}
}

// Config.NoStayAwake leaves the socket as it is.
func TestNobodyStaysAwakeIfThatIsNotWanted(t *testing.T) {
	_, port := startUnreliable(t, 0)
	for _, off := range []bool{false, true} {
		c := chaosClient(t, port, func(c *Config) { c.NoStayAwake = off })
		for range 50 {
			if row, err := indexT(c).Get(t.Context(), "x"); err != nil || !bytes.Equal(row.Bytes(0), []byte("x")) {
				t.Error(row, err)
			}
		}
		if looks := c.lanes[RouteRead][0].now.Load().alone.socket != nil; off && looks {
			t.Error("a socket can look")
		}
	}
}
