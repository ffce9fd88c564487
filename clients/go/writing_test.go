package handlersocket

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// putRequest puts a request of so many bytes into the buffer, as its caller does. The lock is held.
func putRequest(c *conn, size int) *call {
	k := &call{began: 1}
	k.slot = c.tail
	c.out = append(c.out, make([]byte, size)...)
	c.enqueue(slot{call: k, start: c.position, size: size, began: 1})
	return k
}

// sharedConn is a connection whose callers were answered together. The server does not read, so a write
// does not return. So many bytes of an earlier request are in flight.
func sharedConn(t *testing.T, inFlight int) (c *conn, server net.Conn) {
	client, server := net.Pipe()
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	config := DefaultConfig()
	c = newConn(client, &config, 0, "")
	c.events = &counters{}
	c.shared = true
	putRequest(c, inFlight)
	c.out, c.written = nil, c.tail
	return c, server
}

func sends(c *conn, k *call) chan struct{} {
	done := make(chan struct{})
	go func() {
		c.mu.Lock()
		c.send(k)
		c.mu.Unlock()
		close(done)
	}()
	return done
}

func returns(done chan struct{}, within time.Duration) bool {
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}

// The first request waits for writeLoop, so that others can join it. When much of what is in flight waits, a
// caller writes it.
func TestCallersWriteWhenMuchWaits(t *testing.T) {
	c, server := sharedConn(t, 100)
	c.mu.Lock()
	for range 2*partsInFlight - 1 {
		putRequest(c, 10)
	}
	c.out, c.written = nil, c.tail
	first := putRequest(c, 10)
	c.mu.Unlock()
	if !returns(sends(c, first), patience) || len(c.out) != 10 {
		t.Fatal("the first caller has written")
	}
	c.mu.Lock()
	putRequest(c, 10)
	last := putRequest(c, 10)
	c.mu.Unlock()
	done := sends(c, last)
	got := make([]byte, 100)
	_ = server.SetReadDeadline(time.Now().Add(patience))
	if n, err := server.Read(got); n != 30 || err != nil {
		t.Errorf("the server has got %d bytes: %v", n, err)
	}
	if !returns(done, patience) || c.writing {
		t.Error("the caller has not ended its write")
	}
}

// If much was sent and has no reply, the server may have stopped reading. A caller that writes would stand
// still for longer than its time.
func TestCallersDoNotWriteWhatCouldBlock(t *testing.T) {
	c, _ := sharedConn(t, mostInline)
	c.mu.Lock()
	first, second := putRequest(c, 10), putRequest(c, 10)
	c.mu.Unlock()
	for _, k := range []*call{first, second} {
		if !returns(sends(c, k), patience) {
			t.Fatal("a caller waits until the server reads")
		}
	}
	if !c.writing || !c.lingering || len(c.wakeWriter) != 1 {
		t.Error("nobody writes it")
	}
}

// unixPair is a client's end of a Unix socket. The server does not read.
func unixPair(t *testing.T) net.Conn {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Skip(err)
	}
	client, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = client.Close(), server.Close(), listener.Close() })
	return client
}

// A Unix socket takes a few hundred writes only, however small they are.
func TestCallersDoNotWriteWhatAUnixSocketDoesNotTake(t *testing.T) {
	filled := unixPair(t)
	writes := 0
	for ; ; writes++ {
		_ = filled.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := filled.Write(make([]byte, 10)); err != nil {
			break
		}
	}
	if 20*writes > mostInline {
		t.Skipf("it takes %d writes", writes)
	}
	c, _ := sharedConn(t, 10)
	c.socket = unixPair(t)
	c.mu.Lock()
	for range writes {
		putRequest(c, 10)
		c.writeOut()
	}
	c.mu.Unlock()
	for range writes {
		c.mu.Lock()
		k := putRequest(c, 10)
		c.mu.Unlock()
		if !returns(sends(c, k), patience) {
			t.Fatalf("a caller waits after %d writes until the server reads", writes)
		}
	}
}
