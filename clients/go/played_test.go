package handlersocket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// A server that is played by the scripts of a scenario: tests/vectors/README.md explains them.

const patience = 20 * time.Second

type scriptStep struct {
	Expect      *byteText
	Send        *byteText
	Pieces      int
	EveryMs     int `json:"every_ms"`
	Cut         bool
	QuietMs     int `json:"quiet_ms"`
	Close       bool
	Reset       bool
	ExpectEnd   bool `json:"expect_end"`
	StopReading bool `json:"stop_reading"`
	Signal      string
	Await       string
}

type script []scriptStep

// signals are given once, and last.
type signals struct {
	mu    sync.Mutex
	given map[string]chan struct{}
}

func (s *signals) of(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given = map[string]chan struct{}{}
	}
	if s.given[name] == nil {
		s.given[name] = make(chan struct{})
	}
	return s.given[name]
}

func (s *signals) give(name string) { close(s.of(name)) }

func (s *signals) await(name string) error {
	select {
	case <-s.of(name):
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the signal %q does not come", name)
	}
}

// A playedPort plays a script for each connection.
type playedPort struct {
	name     string
	scripts  []script
	cut      int
	signals  *signals
	listener net.Listener
	// The scripts that have not come to their end.
	running sync.WaitGroup

	mu      sync.Mutex
	begun   int
	errors  []error
	sockets []net.Conn
	// The client has been closed: connections may end.
	over bool
}

// servedPort listens, and has each connection served by a goroutine of its own.
func servedPort(t testing.TB, serve func(net.Conn)) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(socket)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func playPort(t testing.TB, name string, scripts []script, cut int, s *signals) *playedPort {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &playedPort{name: name, scripts: scripts, cut: cut, signals: s, listener: listener}
	p.running.Add(len(scripts))
	go p.accept()
	return p
}

func (p *playedPort) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func (p *playedPort) accept() {
	for {
		socket, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		number := p.begun
		p.begun++
		p.sockets = append(p.sockets, socket)
		p.mu.Unlock()
		if number >= len(p.scripts) {
			p.failed(fmt.Errorf("connection %d to the port for %s has no script", number+1, p.name))
			_ = socket.Close()
			continue
		}
		go p.play(socket, number)
	}
}

func (p *playedPort) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, err)
}

func (p *playedPort) play(socket net.Conn, number int) {
	if slices.ContainsFunc(p.scripts[number], func(s scriptStep) bool { return s.StopReading }) {
		// What is not read fills the system's buffers: they need not be large.
		_ = socket.(*net.TCPConn).SetReadBuffer(4096)
	}
	one := &playedConn{socket: socket.(*net.TCPConn), port: p}
	ended := false
	for i, step := range p.scripts[number] {
		var err error
		if ended, err = one.step(step); err != nil {
			p.failed(fmt.Errorf("%s, script %d, step %d: %w", p.name, number+1, i+1, err))
			p.running.Done()
			_ = socket.Close()
			return
		}
	}
	p.running.Done()
	if ended {
		return
	}
	// Nothing more may come.
	if b, err := one.next(time.Now().Add(2 * patience)); err == nil {
		p.failed(fmt.Errorf("%s: %q comes behind script %d", p.name, b, number+1))
	}
}

// finish waits for the scripts' ends, and says what went wrong.
func (p *playedPort) finish() error {
	done := make(chan struct{})
	go func() { p.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		p.mu.Lock()
		begun := p.begun
		p.mu.Unlock()
		return fmt.Errorf("%s: a script has not come to its end; %d of %d were begun", p.name, begun, len(p.scripts))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errors...)
}

// stop ends everything, and says what came too much.
func (p *playedPort) stop() error {
	_ = p.listener.Close()
	time.Sleep(time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, socket := range p.sockets {
		_ = socket.Close()
	}
	return errors.Join(p.errors...)
}

type playedConn struct {
	socket *net.TCPConn
	port   *playedPort
	read   []byte
}

// step plays one step. It says whether the connection is not looked at any more.
func (c *playedConn) step(s scriptStep) (bool, error) {
	switch {
	case s.Expect != nil:
		return false, c.expect(s.Expect.bytes)
	case s.Send != nil:
		return false, c.send(s)
	case s.QuietMs > 0:
		b, err := c.next(time.Now().Add(time.Duration(s.QuietMs) * time.Millisecond))
		if err == nil {
			return false, fmt.Errorf("%q comes where nothing may come", b)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return false, err
		}
	case s.Close:
		go func() {
			_, _ = io.Copy(io.Discard, c.socket)
			_ = c.socket.Close()
		}()
		return true, c.socket.CloseWrite()
	case s.Reset:
		_ = c.socket.SetLinger(0)
		return true, c.socket.Close()
	case s.ExpectEnd:
		b, err := c.next(time.Now().Add(patience))
		if err == nil {
			return true, fmt.Errorf("%q comes, and not the end", b)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return true, errors.New("the client does not end the connection")
		}
		return true, nil
	case s.StopReading:
		return true, nil
	case s.Signal != "":
		c.port.signals.give(s.Signal)
	case s.Await != "":
		return false, c.port.signals.await(s.Await)
	}
	return false, nil
}

func (c *playedConn) expect(want []byte) error {
	deadline := time.Now().Add(patience)
	for len(c.read) < len(want) {
		if !bytes.HasPrefix(want, c.read) {
			break
		}
		b := make([]byte, len(want)-len(c.read))
		_ = c.socket.SetReadDeadline(deadline)
		n, err := c.socket.Read(b)
		c.read = append(c.read, b[:n]...)
		if err != nil {
			return fmt.Errorf("%q is expected, and behind %q comes %w", want, c.read, err)
		}
	}
	if !bytes.Equal(c.read, want) {
		return fmt.Errorf("%q is expected, and %q comes", want, c.read)
	}
	c.read = nil
	return nil
}

// next waits for bytes that nobody expects.
func (c *playedConn) next(until time.Time) ([]byte, error) {
	b := make([]byte, 4096)
	_ = c.socket.SetReadDeadline(until)
	n, err := c.socket.Read(b)
	if n > 0 {
		return b[:n], nil
	}
	return nil, err
}

func (c *playedConn) send(s scriptStep) error {
	b := s.Send.bytes
	if s.Cut {
		b = b[:c.port.cut]
	}
	size := len(b)
	if s.Pieces > 0 || s.EveryMs > 0 {
		size = 1
	}
	for len(b) > 0 {
		if _, err := c.socket.Write(b[:size]); err != nil {
			return err
		}
		b = b[size:]
		time.Sleep(time.Duration(s.EveryMs) * time.Millisecond)
	}
	return nil
}
