package handlersocket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The part of a connection that reads: for who has the reading role.

var (
	errUnasked  = errors.New("the server answered what nobody had asked")
	errTooLong  = errors.New("the reply is longer than Config.MaxReplyBytes")
	errNoReply  = errors.New("what came is no reply to the request")
	errIsSQL    = errors.New("what came looks like the greeting of an SQL port")
	errIsTLS    = errors.New("what came is an alert of TLS: the port wants it, and Config.TLS is not set")
	errProtocol = []error{errUnasked, errTooLong, errNoReply, errIsSQL, errIsTLS}
)

// read reads once, and gives all complete replies to their calls. It says how many slots that were.
func (c *conn) read() (int, error) {
	if c.have == len(c.in) {
		if c.have > c.options.MaxReplyBytes {
			return 0, errTooLong
		}
		larger := make([]byte, min(2*len(c.in), c.options.MaxReplyBytes+1))
		copy(larger, c.in[:c.have])
		c.in = larger
	}
	n, err := c.socket.Read(c.in[c.have:])
	c.have += n
	if n > 0 {
		c.reads.Add(1)
		c.events.read(n)
		given, replyErr := c.giveOut()
		if replyErr != nil {
			return given, replyErr
		}
		return given, err
	}
	if err == io.EOF {
		err = errEnded
		if looksLikeTLS(c.in[:c.have]) {
			// Such an alert has no end of a line.
			err = c.wrong(c.in[:c.have])
		}
	}
	return 0, err
}

// giveOut takes the complete lines and their slots, under one lock, and gives them out.
func (c *conn) giveOut() (int, error) {
	c.lines += bytes.Count(c.in[c.checked:c.have], []byte{lf})
	c.checked = c.have
	if c.lines == 0 {
		return 0, c.checkRest()
	}
	c.batch = c.batch[:0]
	c.mu.Lock()
	for c.lines > 0 && c.head != c.tail {
		s := &c.slots[c.head&c.mask()]
		if s.more >= c.lines {
			break
		}
		c.lines -= s.more + 1
		c.batch = append(c.batch, *s)
		c.bytes -= s.size
		if s.ends {
			c.unanswered--
		}
		*s = slot{}
		c.head++
	}
	unasked := c.lines > 0 && c.head == c.tail
	c.grantRoom()
	c.mu.Unlock()

	c.events.replies.Add(uint64(len(c.batch)))
	begin := 0
	for i := range c.batch {
		end := begin + bytes.IndexByte(c.in[begin:c.have], lf)
		for range c.batch[i].more {
			end += 1 + bytes.IndexByte(c.in[end+1:c.have], lf)
		}
		line := c.in[begin:end]
		begin = end + 1
		if err := c.giveLine(&c.batch[i], line); err != nil {
			c.loseBatch(c.batch[i+1:], err)
			return i, err
		}
	}
	if unasked {
		return len(c.batch), errUnasked
	}
	clear(c.batch)
	copy(c.in, c.in[begin:c.have])
	c.have -= begin
	c.checked = c.have
	if len(c.in) > 16*keptBuffer && c.have <= keptBuffer {
		c.in = append(make([]byte, 0, keptBuffer), c.in[:c.have]...)[:keptBuffer]
	}
	return len(c.batch), c.checkRest()
}

// checkRest looks at bytes that are no complete line: somebody has to be waiting for them.
func (c *conn) checkRest() error {
	if c.have == 0 {
		return nil
	}
	if c.have > c.options.MaxReplyBytes {
		return errTooLong
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head != c.tail {
		return nil
	}
	if looksLikeSQL(c.in[:c.have]) {
		return c.wrong(c.in[:c.have])
	}
	return errUnasked
}

// giveLine gives a line to the slot that has waited longest.
func (c *conn) giveLine(s *slot, line []byte) error {
	switch {
	case s.opening != nil:
		return c.opens(s.opening, line)
	case s.call == nil:
		c.answered.Store(true)
		c.events.dropped.Add(1)
		first, _, _ := bytes.Cut(line, []byte{lf})
		if _, ok := parseHeader(first); !ok {
			return c.wrong(line)
		}
		return nil
	case !s.call.answer(line):
		err := c.wrong(line)
		s.call.err = s.call.fail(ErrProtocol, true, err)
		c.blamed = true
		s.call.done <- struct{}{}
		return err
	}
	if !c.answered.Load() {
		c.answered.Store(true)
	}
	s.call.done <- struct{}{}
	return nil
}

// opens takes the reply to a P, or to the hello of the connection.
func (c *conn) opens(o *opening, line []byte) error {
	h, ok := parseHeader(line)
	if !ok || o.definition == nil && !isGreeting(h, line) {
		return c.wrong(line)
	}
	if o.definition == nil {
		return nil
	}
	if h.code == 0 {
		c.mu.Lock()
		c.someOpen = true
		c.mu.Unlock()
		return nil
	}
	o.err = readError(h.code, h.values(line), false)
	c.mu.Lock()
	// Without an index on the connection the server has no room for any, and a new connection would not help.
	if c.someOpen && o.err.isNotOpen() {
		o.full = true
		c.fills()
	}
	if index := &c.opened[o.definition.number]; index.opening == o {
		index.opening = nil
	}
	c.mu.Unlock()
	return nil
}

// loseBatch ends calls whose slots were taken, and that got no reply.
func (c *conn) loseBatch(slots []slot, cause error) {
	for i := range slots {
		if k := slots[i].call; k != nil {
			k.err = k.fail(c.blame(ErrProtocol), true, cause)
			k.done <- struct{}{}
		}
	}
}

// blame gives ErrProtocol to the first call behind bytes that are no reply, and ErrLost to the others.
func (c *conn) blame(kind Kind) Kind {
	if kind == ErrProtocol && c.blamed {
		return ErrLost
	}
	c.blamed = true
	return kind
}

func (c *conn) wrong(line []byte) error { return wrongBytes(line, c.name) }

// wrongBytes says what is wrong about bytes that are no reply, and from which address they came.
func wrongBytes(b []byte, address string) error {
	err := errNoReply
	switch {
	case looksLikeSQL(b):
		err = errIsSQL
	case looksLikeTLS(b):
		err = errIsTLS
	}
	return fmt.Errorf("%w (%s)", err, address)
}

// looksLikeTLS recognises the alert with which a port of TLS answers who speaks without: a record of this kind, and the
// first byte of its version.
func looksLikeTLS(b []byte) bool { return len(b) > 4 && b[0] == 21 && b[1] == 3 }

// looksLikeSQL recognises the packet with which a server greets SQL clients: a length of three
// bytes, the number 0, and the version 10, which is an LF here.
func looksLikeSQL(b []byte) bool {
	return len(b) >= 4 && b[1] == 0 && b[2] == 0 && b[3] == 0
}

// isProtocol says whether a connection ends because of what came on it.
func isProtocol(cause error) bool {
	return slices.ContainsFunc(errProtocol, func(wrong error) bool { return errors.Is(cause, wrong) })
}

// fail ends the connection because reading has failed.
func (c *conn) fail(err error) {
	kind := ErrLost
	if isProtocol(err) {
		kind = ErrProtocol
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(kind, err)
}

// blameAndFail ends the connection because a caller has found that its reply was none.
func (c *conn) blameAndFail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(ErrLost, errNoReply)
}

// end ends the connection, once. All calls in the queue get an error: those that were not sent get
// errUnsent. The lock is held.
func (c *conn) end(kind Kind, cause error) {
	if c.err != nil {
		return
	}
	c.err = cause
	lost := kind != ErrClosed && (c.head != c.tail || isProtocol(cause))
	// Before any caller can ask again: the server may be frozen, and take connections all the same.
	if lost && !c.answered.Load() && c.passOver != nil && c.passOver() {
		c.passedOver.Store(true)
	}
	close(c.dead)
	closeSocket(c.socket)
	for ; c.head != c.tail; c.head++ {
		s := c.slots[c.head&c.mask()]
		c.slots[c.head&c.mask()] = slot{}
		k := s.call
		if k == nil {
			continue
		}
		sent := s.start < c.sent
		switch {
		case k.notOpen() != nil:
			// Its index is not open: it was not executed.
			k.err = k.notOpen()
		case sent || kind == ErrClosed:
			k.err = k.fail(c.blame(kind), sent, cause)
		default:
			k.err = errUnsent
		}
		k.done <- struct{}{}
	}
	c.waiters.endAll(func(k *call) error {
		if kind == ErrClosed {
			return k.fail(ErrClosed, false, cause)
		}
		return errUnsent
	})
	if c.onEnd != nil {
		go c.onEnd(c, cause, lost)
	}
}
