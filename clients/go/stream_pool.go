package handlersocket

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// The connections of iterations: making, keeping and ending them.

// streams are the connections of iterations: how many there may be, and one that is kept.
type streams struct {
	free chan struct{}
	tell func(ConnectionInfo)

	mu     sync.Mutex
	kept   *streamConn
	active map[*streamConn]bool
	closed bool
}

// A streamConn is a connection that serves one iteration at a time.
type streamConn struct {
	socket net.Conn
	in     *bufio.Reader
	opened map[int]uint64
	// The texts of errors have not been asked for yet.
	ungreeted bool
	// The server has answered a find.
	answered bool
	address  int
	name     string
	// Its end was told.
	told bool
	// While it is kept: closed when its end is no longer watched, and whether it ended.
	watched chan struct{}
	ended   bool
}

// watch waits for the server to end a connection that is kept.
func (s *streams) watch(one *streamConn) {
	defer close(one.watched)
	_, err := one.in.Peek(1)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return
	}
	one.ended = true
	s.mu.Lock()
	if s.kept == one {
		s.kept = nil
	}
	s.mu.Unlock()
	switch err {
	case nil:
		s.end(one, errUnasked, true)
	case io.EOF:
		s.end(one, errEnded, false)
	default:
		s.end(one, err, false)
	}
}

// wakeUp ends the watch, and says whether the connection can be used.
func (s *streamConn) wakeUp() bool {
	_ = s.socket.SetReadDeadline(time.Unix(1, 0))
	<-s.watched
	_ = s.socket.SetReadDeadline(time.Time{})
	return !s.ended
}

// take gives the connection that is kept, if it can be used.
func (s *streams) take(address int) *streamConn {
	s.mu.Lock()
	one := s.kept
	s.kept = nil
	s.mu.Unlock()
	if one == nil || !one.wakeUp() {
		return nil
	}
	if one.address != address {
		s.end(one, errRetired, false)
		return nil
	}
	return one
}

// use notes a connection that iterates. It is false if the client is closed.
func (s *streams) use(one *streamConn) bool {
	s.mu.Lock()
	open := !s.closed
	if open {
		if s.active == nil {
			s.active = map[*streamConn]bool{}
		}
		s.active[one] = true
	}
	s.mu.Unlock()
	if !open {
		s.end(one, errClientClosed, false)
	}
	return open
}

// release ends a connection for this cause. Without one its iteration came to its end, and it may be kept.
func (s *streams) release(one *streamConn, cause error, lost bool) {
	s.mu.Lock()
	delete(s.active, one)
	switch {
	case cause != nil:
	case one.in.Buffered() > 0:
		cause, lost = errUnasked, true
	case s.closed || s.kept != nil:
		cause = errRetired
	default:
		s.kept = one
		one.watched = make(chan struct{})
		_ = one.socket.SetReadDeadline(time.Time{})
		go s.watch(one)
	}
	s.mu.Unlock()
	if cause != nil {
		s.end(one, cause, lost)
	}
}

// end closes a connection, and tells of it once.
func (s *streams) end(one *streamConn, cause error, lost bool) {
	closeSocket(one.socket)
	s.mu.Lock()
	told := one.told
	one.told = true
	if s.closed {
		cause, lost = errClientClosed, false
	}
	s.mu.Unlock()
	if !told {
		s.tell(ConnectionInfo{Event: Disconnected, Address: one.name, Route: RouteStream, Lost: lost, Err: cause})
	}
}

func (s *streams) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for one := range s.active {
		closeSocket(one.socket)
		go s.end(one, errClientClosed, false)
	}
	if s.kept != nil {
		closeSocket(s.kept.socket)
		go s.end(s.kept, errClientClosed, false)
		s.kept = nil
	}
}

// takeStream waits until another iteration may begin.
func (c *Client) takeStream(ctx context.Context, k *call) error {
	select {
	case c.streams.free <- struct{}{}:
		return nil
	default:
	}
	if c.config.FailWhenFull {
		return k.fail(ErrBusy, false, nil)
	}
	var over <-chan time.Time
	if k.deadline != 0 {
		timer := time.NewTimer(time.Duration(k.deadline - now()))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case c.streams.free <- struct{}{}:
		return nil
	case <-over:
		return k.fail(ErrTimeout, false, nil)
	case <-c.ctx.Done():
		return k.fail(ErrClosed, false, nil)
	case <-ctx.Done():
		return k.fail(kindOf(ctx), false, ctx.Err())
	}
}

// connectStream gives a connection for an iteration.
func (c *Client) connectStream(ctx context.Context, k *call) (*streamConn, error) {
	if one := c.streams.take(c.wanted(RouteStream)); one != nil && c.streams.use(one) {
		return one, nil
	}
	var err error
	var next time.Duration
	for attempt := range c.config.ConnectAttempts {
		left := make(chan struct{})
		a := c.tryStream(next, left, func() time.Duration {
			next = 0
			if attempt+1 < c.config.ConnectAttempts {
				next = c.backoff(attempt + 1)
			}
			return next
		})
		if failure := waitFor(ctx, k, a.done); failure != nil {
			close(left)
			go c.keepStream(a)
			return nil, failure
		}
		if err = a.err; err == nil {
			s := c.newStream(a.conn)
			if !c.streams.use(s) {
				return nil, k.fail(ErrClosed, false, nil)
			}
			return s, nil
		}
		var permanent permanentError
		if errors.As(err, &permanent) {
			e := *permanent.cause
			return nil, &e
		}
		if c.ctx.Err() != nil {
			return nil, k.fail(ErrClosed, false, nil)
		}
	}
	e := k.fail(ErrConnect, false, err)
	e.words = "no connection"
	return nil, e
}

// tryStream begins an attempt after this wait, unless its caller has left before that. If it fails, failed
// says how long the next one waits.
func (c *Client) tryStream(wait time.Duration, left <-chan struct{}, failed func() time.Duration) *attempt {
	a := &attempt{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
		case <-left:
			a.err = errUnread
			return
		}
		a.conn, a.err = c.connectAny(RouteStream, failed)
	}()
	return a
}

// keepStream keeps the connection of an attempt whose caller has given up, for the next iteration.
func (c *Client) keepStream(a *attempt) {
	<-a.done
	if a.err != nil {
		return
	}
	if s := c.newStream(a.conn); c.streams.use(s) {
		c.streams.release(s, nil, false)
	}
}

func (c *Client) newStream(one *conn) *streamConn {
	return &streamConn{
		socket: one.socket, in: bufio.NewReaderSize(one.socket, keptBuffer),
		opened: map[int]uint64{}, ungreeted: c.config.Texts, address: one.address, name: one.name,
	}
}
