package handlersocket

import (
	"context"
	"net"
	"testing"
	"time"
)

// What the client itself costs for a request, without sockets and goroutines: an encoded lookup, its
// slot, its reply, and the typed row.

type echoConn struct {
	net.Conn
	reply []byte
}

func (e *echoConn) Read(to []byte) (int, error)     { return copy(to, e.reply), nil }
func (e *echoConn) Write(b []byte) (int, error)     { return len(b), nil }
func (e *echoConn) Close() error                    { return nil }
func (e *echoConn) SetReadDeadline(time.Time) error { return nil }

func BenchmarkPath(b *testing.B) {
	client, err := Open("handlersocket://192.0.2.1:1/d")
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	users := IndexOf[struct {
		Name    string `hs:"user_name"`
		Email   string `hs:"user_email"`
		Created string `hs:"created"`
	}](client, IndexSpec{Table: "user"})
	socket := &echoConn{reply: []byte("0\t3\tuser_0000042\tuser_0000042@example.com\t2024-02-29 01:02:03\n")}
	c, calls := reading(socket, users.definition)
	calls[0].done = make(chan struct{}, 1)
	if _, err := c.read(); err != nil {
		b.Fatal(err)
	}
	lane := client.lanes[RouteRead][0]
	lane.now.Store(c)
	b.ReportAllocs()
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		if _, err := users.Get(ctx, 1000+i); err != nil {
			b.Fatal(err)
		}
	}
}
