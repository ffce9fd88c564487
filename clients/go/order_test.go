package handlersocket

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Config.ReadYourWrites: what a write is, from when it is called until its reply.

const openWritten = "P\t1\td\tt\tPRIMARY\tid\n"

// playTwoPorts is a client of servers with a port for writing each, whose ports for reading nobody may ask.
func playTwoPorts(t *testing.T, s *signals, change func(*Config), writing ...[]script) (*Client, func()) {
	t.Helper()
	var ports []*playedPort
	c := chaosClient(t, 1, func(config *Config) {
		config.Database, config.ReadYourWrites, config.Addresses = "d", true, nil
		for _, scripts := range writing {
			read, write := playPort(t, "reading", nil, 0, s), playPort(t, "writing", scripts, 0, s)
			ports = append(ports, read, write)
			config.Addresses = append(config.Addresses, Address{Host: "127.0.0.1", Port: read.port(), PortWrite: write.port()})
		}
		if change != nil {
			change(config)
		}
	})
	return c, func() {
		t.Helper()
		var all []error
		for _, port := range ports {
			all = append(all, port.finish())
		}
		_ = c.Close()
		for _, port := range ports {
			all = append(all, port.stop())
		}
		if err := errors.Join(all...); err != nil {
			t.Error(err)
		}
	}
}

// A write that waits for a connection has no reply yet: a find that is called then goes behind it.
func TestAFindGoesBehindAWriteThatIsNotSent(t *testing.T) {
	const modify, find = "1\t=\t1\t5\t1\t0\tU\t7\n", "1\t=\t1\t5\n"
	for range 20 { // two callers wait for the same connection: luck must not decide who is first
		var s signals
		answers := expects("A\t1\ts\n", "0\t1\n", openWritten+modify+find, "0\t1\n0\t1\t1\n0\t1\t7\n")
		answers = append(script{{Signal: "begun"}, {Await: "found"}}, answers...)
		c, done := playTwoPorts(t, &s, func(c *Config) { c.Secret = "s" }, []script{{{Close: true}}, answers})
		x := indexT(c)
		wrote, found := make(chan error, 1), make(chan error, 1)
		go func() { wrote <- second(x.Modify(t.Context(), Eq(5), OpUpdate, 7)) }()
		if err := s.await("begun"); err != nil {
			t.Fatal(err)
		}
		go func() { found <- second(x.Get(t.Context(), 5)) }()
		time.Sleep(5 * time.Millisecond)
		s.give("found")
		if err := errors.Join(<-wrote, <-found); err != nil {
			t.Error(err)
		}
		done()
	}
}

// A write in flight to a server that another one has followed has no reply, either.
func TestAFindKnowsOfAWriteOnAFormerConnection(t *testing.T) {
	const modify = "1\t=\t1\t5\t1\t0\tU\t7\n"
	var s signals
	first := append(expects(openWritten+modify+modify, "0\t1\n1\t1\t3032\n"), scriptStep{Await: "found"})
	first = append(first, scriptStep{Send: textOfBytes("0\t1\t1\n")}, scriptStep{ExpectEnd: true})
	next := append(expects(openWritten+modify, "0\t1\n0\t1\t1\n"), scriptStep{Signal: "moved"})
	next = append(next, expects("1\t=\t1\t5\n", "0\t1\t7\n")...)
	next = append(next, scriptStep{Signal: "found"})
	c, done := playTwoPorts(t, &s, nil, []script{first}, []script{next})
	x := indexT(c)
	wrote := make(chan error, 2)
	for range 2 {
		go func() { wrote <- second(x.Modify(t.Context(), Eq(5), OpUpdate, 7)) }()
	}
	if err := s.await("moved"); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if _, err := x.Get(t.Context(), 5); err != nil {
		t.Error(err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	done()
}

// A find does not wait longer than its time for a write that has no connection.
func TestAFindBehindAWriteHasItsTime(t *testing.T) {
	var s signals
	c, done := playTwoPorts(t, &s, func(c *Config) { c.Secret = "s" }, []script{{{Expect: textOfBytes("A\t1\ts\n")}, {Signal: "begun"}, {ExpectEnd: true}}})
	x := indexT(c)
	wrote := make(chan error, 1)
	go func() { wrote <- second(x.Modify(t.Context(), Eq(5), OpUpdate, 7)) }()
	if err := s.await("begun"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := x.Get(ctx, 5); !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
	_ = c.Close()
	if err := <-wrote; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	done()
}
