package handlersocket

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"
)

// Rows that are read while they arrive. Each iteration has a connection of its own, so that a slow
// one holds up nobody else.

// stream does an iteration.
func stream[T any](ctx context.Context, x *Index[T], q Query, yield func(T, error) bool) {
	var none T
	r := x.find(q)
	if r.err != nil {
		yield(none, r.err)
		return
	}
	if r.nothing {
		return
	}
	k, c := r.call, x.client
	k.began, k.route = now(), RouteStream
	var err error
	// It is told and counted, too, if the loop's body panics.
	defer func() {
		c.ended(k, err)
		k.free()
	}()
	err = c.enter(ctx, k)
	for asked := 1; err == nil; {
		var address int
		address, err = iterate(ctx, x, k, yield)
		var e *Error
		if !errors.As(err, &e) || !k.leavesFull(err) && !c.moveOn(RouteStream, address, e, &asked) {
			break
		}
		k.again(true)
		err = nil
	}
	switch e := (*Error)(nil); {
	case err == errLeft:
		err = nil
	case errors.As(err, &e) && (e.Kind == ErrTimeout || e.Kind == ErrCanceled) && e.Sent:
		c.events.givenUp.Add(1)
	}
	if err != nil {
		yield(none, err)
	}
}

var (
	// errLeft: the loop has ended before the rows.
	errLeft = errors.New("the loop was left")
	// errUnread is why the client closes a connection whose rows nobody wants any more.
	errUnread = errors.New("the iteration ended before its reply")
)

// iterate does an iteration with one connection, and says which address that was to.
func iterate[T any](ctx context.Context, x *Index[T], k *call, yield func(T, error) bool) (address int, err error) {
	c := x.client
	if err := c.takeStream(ctx, k); err != nil {
		return 0, err
	}
	defer func() { <-c.streams.free }()
	one, err := c.connectStream(ctx, k)
	if err != nil {
		return 0, err
	}
	k.address = one.name
	ending, lost, passedOver := errUnread, false, false
	defer func() {
		c.streams.release(one, ending, lost)
		if passedOver {
			c.tellPassedOver(one.address, RouteStream, ending)
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = one.socket.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && ending == nil {
			ending = errUnread
		}
	}()
	s := &rowStream[T]{ctx: ctx, client: c, call: k, one: one, plan: x.plan}
	err = s.begin()
	for more := err == nil; more; {
		var row T
		if more, err = s.next(&row); err != nil || !more {
			break
		}
		k.rows++
		if !yield(row, nil) {
			return one.address, errLeft
		}
	}
	ending, lost = endingOf(err)
	passedOver = lost && !one.answered && c.passOver(RouteStream, one.address)
	if ending == nil {
		c.events.replies.Add(1)
	}
	if o := k.opening; o != nil && o.full {
		ending = errRetired
	}
	return one.address, err
}

// endingOf says why a connection ends with its iteration, and whether it is lost. It is nil if the reply was
// read to its end.
func endingOf(err error) (cause error, lost bool) {
	var e *Error
	switch {
	case err == nil || errors.As(err, &e) && e.Kind == ErrReply:
		return nil, false
	case e != nil && (e.Kind == ErrLost || e.Kind == ErrProtocol):
		return e.Err, true
	}
	return errUnread, false
}

// A rowStream reads the reply of one find.
type rowStream[T any] struct {
	ctx    context.Context
	client *Client
	call   *call
	one    *streamConn
	plan   *plan
	values []byte
	value  []byte
	// The row's values are complete, and the line has ended.
	ended bool
}

// begin sends the find and reads the reply up to its values.
func (s *rowStream[T]) begin() error {
	d := s.call.definition
	var line []byte
	greets := s.one.ungreeted
	if greets {
		s.one.ungreeted = false
		line = append(line, helloTexts+"\n"...)
	}
	id, open := s.one.opened[d.number]
	if !open {
		id = uint64(len(s.one.opened)) + 1
		s.one.opened[d.number] = id
		line = append(line, 'P', tab)
		line = strconv.AppendUint(line, id, 10)
		line = append(line, d.open...)
	}
	line = append(line, s.call.front...)
	line = strconv.AppendUint(line, id, 10)
	line = append(line, s.call.request...)
	s.call.bytesOut += int64(len(line))
	s.await()
	n, err := s.one.socket.Write(line)
	s.client.events.wrote(n)
	if err != nil {
		return s.lost(err)
	}
	if greets {
		if err := s.greeted(); err != nil {
			return err
		}
	}
	var refused *Error
	if !open {
		if refused, err = s.opens(); err != nil {
			return err
		}
		if refused != nil {
			delete(s.one.opened, d.number)
			s.call.opening = &opening{definition: d, err: refused, full: refused.isNotOpen() && len(s.one.opened) > 0}
		}
	}
	return s.header(refused)
}

// patience is how long the next bytes may take, 0 for ever: until the call's time is over, or the server is dead.
func (s *rowStream[T]) patience() (most time.Duration, isDead bool) {
	timeout, dead := s.client.config.Timeout, s.client.config.DeadAfter
	if dead > 0 && (timeout <= 0 || dead < timeout) {
		return dead, true
	}
	return timeout, false
}

// await lets the server keep this side waiting for as long as it may.
func (s *rowStream[T]) await() {
	if most, _ := s.patience(); most > 0 {
		_ = s.one.socket.SetDeadline(time.Now().Add(most))
	}
	if s.ctx.Err() != nil {
		// Its end may have set a deadline just before.
		_ = s.one.socket.SetDeadline(time.Unix(1, 0))
	}
}

func (s *rowStream[T]) opens() (*Error, error) {
	h, line, err := s.line()
	if err != nil || h.code == 0 {
		return nil, err
	}
	return readError(h.code, h.values(line), false), nil
}

// greeted takes the reply to the hello of the connection.
func (s *rowStream[T]) greeted() error {
	h, line, err := s.line()
	if err == nil && !isGreeting(h, line) {
		err = s.wrong(errNoReply)
	}
	return err
}

// line reads a reply that is not the one with rows.
func (s *rowStream[T]) line() (header, []byte, error) {
	line, err := s.token(lf)
	if err != nil {
		return header{}, nil, err
	}
	h, ok := parseHeader(line)
	switch {
	case !ok:
		return h, nil, s.wrong(wrongBytes(line, s.one.name))
	}
	return h, line, nil
}

// header reads the code and the number of columns, with what stands behind them.
func (s *rowStream[T]) header(refused *Error) error {
	code, err := s.token(tab)
	if err != nil {
		return err
	}
	_, isReply := number(code)
	s.one.answered = s.one.answered || isReply
	if string(code) != "0" {
		number, ok := number(code)
		if !ok || s.ended {
			return s.wrong(errNoReply)
		}
		rest, err := s.token(lf)
		if err != nil {
			return err
		}
		_, values, more := cut(rest, tab)
		e := readError(number, valuesOf(values, more), false)
		if refused != nil && e.isNotOpen() {
			e = refused
		}
		e.where = s.call.definition.where(e.Text)
		return e
	}
	if s.ended {
		return s.wrong(errNoReply)
	}
	columns, err := s.token(tab)
	if err != nil {
		return err
	}
	n, ok := number(columns)
	if !ok || n != uint64(len(s.call.definition.columns)) || n == 0 && !s.ended {
		return s.wrong(errNoReply)
	}
	return nil
}

// next reads a row. It is false at the end of the reply.
func (s *rowStream[T]) next(row *T) (bool, error) {
	if s.ended {
		return false, nil
	}
	d := s.call.definition
	s.values = s.values[:0]
	for i := range d.columns {
		if s.ended {
			return false, s.wrong(errNoReply)
		}
		value, err := s.token(tab)
		if err != nil {
			return false, err
		}
		if i > 0 {
			s.values = append(s.values, tab)
		}
		s.values = append(s.values, value...)
	}
	values := s.values
	if len(s.plan.fields) == 0 {
		values = append([]byte{}, values...)
	}
	all := valuesOf(values, true)
	if err := readRow(d, s.plan, &all, row); err != nil {
		var e *Error
		if errors.As(err, &e) && e.Kind == ErrProtocol {
			return false, s.wrong(errNoReply)
		}
		return false, err
	}
	return true, nil
}

// token reads up to a delimiter or the end of the line, which it notes. The bytes are good until the
// next token.
func (s *rowStream[T]) token(delimiter byte) ([]byte, error) {
	s.value = s.value[:0]
	for {
		if s.one.in.Buffered() == 0 {
			s.await()
			if _, err := s.one.in.Peek(1); err != nil {
				if err == io.EOF && looksLikeTLS(s.value) {
					return nil, s.wrong(wrongBytes(s.value, s.one.name))
				}
				return nil, s.lost(err)
			}
			s.client.events.read(s.one.in.Buffered())
		}
		come, _ := s.one.in.Peek(s.one.in.Buffered())
		end := 0
		for end < len(come) && come[end] != delimiter && come[end] != lf {
			end++
		}
		if len(s.values)+len(s.value)+end > s.client.config.MaxReplyBytes {
			return nil, s.wrong(errTooLong)
		}
		s.value = append(s.value, come[:end]...)
		found := end < len(come)
		if found {
			s.ended = come[end] == lf && delimiter != lf
			end++
		}
		_, _ = s.one.in.Discard(end)
		s.call.bytesIn += int64(end)
		if found {
			return s.value, nil
		}
	}
}

func (s *rowStream[T]) wrong(cause error) error { return s.call.fail(ErrProtocol, true, cause) }

func (s *rowStream[T]) lost(err error) error {
	var timeout net.Error
	switch {
	case s.ctx.Err() != nil:
		return s.call.fail(kindOf(s.ctx), true, s.ctx.Err())
	case s.client.ctx.Err() != nil:
		return s.call.fail(ErrClosed, true, nil)
	case errors.As(err, &timeout) && timeout.Timeout():
		if _, isDead := s.patience(); isDead {
			return s.call.fail(ErrLost, true, errSilent)
		}
		return s.call.fail(ErrTimeout, true, nil)
	case err == io.EOF:
		err = errEnded
	}
	return s.call.fail(ErrLost, true, err)
}
