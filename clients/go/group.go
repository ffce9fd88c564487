package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// Groups: requests that are done all, or not at all.

// A Group collects requests that the server does as a whole or not at all, by any indexes of the client.
// Nobody sees one of them without the others. It goes over the connection for writes, in one piece, and
// counts as one request. One goroutine uses it at a time.
//
//	g := client.Group()
//	accounts.InGroup(g).Some().Decrement(Eq(1), Set{"balance": 5})
//	accounts.InGroup(g).Some().Increment(Eq(2), Set{"balance": 5})
//	err := g.Run(ctx)
type Group struct {
	pipeline Pipeline
	// What stands in front of it on the wire, or why that cannot be.
	within    string
	withinErr error
}

// MaxGroup is how many requests a Group may have.
const MaxGroup = 4096

const (
	meetsSome = "some\t"
	meetsNone = "none\t"
)

// Group begins a Group.
func (c *Client) Group() *Group { return &Group{pipeline: Pipeline{client: c}} }

// Len is the number of requests that Run will send.
func (g *Group) Len() int { return g.pipeline.Len() }

// Grouped has the calls of an Index. Each adds its request to a Group.
type Grouped[T any] struct{ Piped[T] }

// Within gives the server a time for the whole group, as [Index.Within] does for one request. It is for
// every Run from now on.
func (g *Group) Within(d time.Duration) *Group {
	g.within, g.withinErr = withinOf(d)
	return g
}

// InGroup gives the calls of this index for a Group of its client.
func (x *Index[T]) InGroup(g *Group) Grouped[T] {
	if x.within != "" && x.err == nil {
		refusing := *x
		refusing.err = usage("a request of a group has no time of its own: Group.Within is for all of it")
		x = &refusing
	}
	return Grouped[T]{x.In(&g.pipeline)}
}

// Some is for modifications that must meet a row, or the whole group is undone, with ErrUnmet.
func (g Grouped[T]) Some() Grouped[T] {
	g.meets = meetsSome
	return g
}

// None is for modifications that must meet no row, or the whole group is undone, with ErrUnmet.
func (g Grouped[T]) None() Grouped[T] {
	g.meets = meetsNone
	return g
}

// Lock keeps the rows as they are until the group has ended. It says how many rows there are.
func (g Grouped[T]) Lock(q Query) *Pending[int64] {
	return addTo(g.Piped, g.index.modify(q, opLocking, nil))
}

// FetchLock is Lock, and gives the rows. What decides about a change is read so: a find takes no lock.
func (g Grouped[T]) FetchLock(q Query) *Pending[[]T] {
	return addTo(g.Piped, g.index.fetchModify(q, opLocking, rowsBefore, nil))
}

// meeting gives a modification a condition.
func meeting[R any](r request[R], meets string) request[R] {
	switch {
	case r.nothing:
		return failed[R](r.call, usage("Some and None are not for an In without values"))
	case r.call.kind != kindModify && r.call.kind != kindModifyRows:
		return failed[R](r.call, usage("Some and None are for modifications of rows that are there"))
	}
	r.call.front = meets
	return r
}

// Run sends the group and waits for its replies. Without an error all of it was done, and each Pending
// has its result, which may be [ErrNoRows]. If a request fails, nothing was done: the error is that of this
// request, which [Error.Line] names, and the others have [TextUndone]. With an [ErrDecode] all of it was done,
// but what one request has read does not fit its type. If the group was done, or may have been, without each
// result being known, [MaybeExecuted] says so, and it is never sent again by itself. The Group is empty then
// and may be used again.
func (g *Group) Run(ctx context.Context) error {
	all := g.pipeline.queued
	g.pipeline.queued = nil
	k, err := newGroup(all)
	if err == nil {
		err = g.withinErr
	}
	if err == nil && k != nil {
		k.front = g.within
		err = doGroup(ctx, g.pipeline.client, k)
	}
	whole := err
	for _, q := range all {
		settled := q.settle(q.groupError(whole))
		if err == nil && settled != nil && !errors.Is(settled, ErrNoRows) {
			// All of it was done, and this result cannot be read. Those behind it can, unless what came is no reply.
			err = settled
			if errors.Is(settled, ErrProtocol) {
				whole = settled
			}
		}
	}
	if k != nil {
		g.pipeline.client.ended(k, err)
		k.group = nil
		k.free()
	}
	for _, q := range all {
		if q.call != nil {
			q.call.free()
		}
	}
	return err
}

// newGroup makes one call of the requests; none if there is nothing to send.
func newGroup(all []queued) (*call, error) {
	if len(all) > MaxGroup {
		return nil, usage("a group has at most %d requests", MaxGroup)
	}
	var lines []*call
	changes := false
	for i, q := range all {
		if q.err != nil {
			return nil, q.err
		}
		if !q.nothing {
			q.call.line = i + 1
			lines = append(lines, q.call)
			changes = changes || q.call.modifies()
		}
	}
	for _, line := range lines {
		line.amongChanges = changes
	}
	if len(lines) == 0 {
		return nil, nil
	}
	k := newCall(lines[0].definition, kindGroup, opGroup)
	k.group = lines
	k.began = now()
	return k, nil
}

func doGroup(ctx context.Context, c *Client, k *call) error {
	err := c.run(ctx, RouteWrite, k)
	for _, line := range k.group {
		line.conn = k.conn
	}
	return err
}

// groupError is the error of one request of a group that has this one.
func (q *queued) groupError(whole error) error {
	if q.err != nil {
		return q.err
	}
	var e *Error
	if q.nothing || q.call == nil || !errors.As(whole, &e) || e.Kind != ErrReply || e.Line == 0 || e.Line == q.call.line {
		return whole
	}
	undone := q.call.ownRefusal()
	if undone.Text != TextUndone {
		undone = replyError(1, TextUndone, false)
	}
	undone.Line = e.Line
	return undone
}

// size is what the call counts for in flight.
func (k *call) size() int {
	size := len(k.request) + len(k.front) + 21
	for _, line := range k.group {
		size += len(line.request) + len(line.front) + 21
	}
	return size
}

// notOpen is the error of the P because of which the call cannot have been executed, or nil.
func (k *call) notOpen() error {
	line, o := k.refusedOpening()
	if o == nil {
		return nil
	}
	e := o.refusal()
	e.Line = line
	return e
}

// refusedOpening is the P because of which the call cannot have been executed, and the line of a group that needs it.
func (k *call) refusedOpening() (line int, o *opening) {
	if k.opening != nil && k.opening.err != nil {
		return 0, k.opening
	}
	for _, one := range k.group {
		if one.opening != nil && one.opening.err != nil {
			return one.line, one.opening
		}
	}
	return 0, nil
}

// answerGroup takes the lines of a group. It is false if they are no reply to it, or contradict each
// other: a server that does not know groups does the lines one by one.
func (k *call) answerGroup(lines []byte) bool {
	first, rest, _ := bytes.Cut(lines, []byte{lf})
	if !k.answerLine(first) || k.code == 0 && k.hasValues {
		return false
	}
	k.bytesIn = int64(len(lines) + 1)
	for _, line := range k.group {
		var next []byte
		next, rest, _ = bytes.Cut(rest, []byte{lf})
		if !line.answerLine(next) || (line.code == 0) != (k.code == 0) {
			return false
		}
	}
	return k.code == 0 || k.failedLine() >= 0
}

// failedLine is the place of the line that has failed, len(k.group) if the group has failed as a whole,
// or -1 if the reply names a line that there is not.
func (k *call) failedLine() int {
	values := k.values()
	if textOf(values.next()) != TextUndone {
		return len(k.group)
	}
	// The place is the second value, or with texts the fifth.
	var last []byte
	n := 1
	for ; values.more; n++ {
		last = values.next()
	}
	place, ok := number(last)
	if !ok || n != 2 && n != 5 || place == 0 || place > uint64(len(k.group)) {
		return -1
	}
	return int(place - 1)
}

// groupRefusal is the error of the line that has failed, or of the group as a whole.
func (k *call) groupRefusal() *Error {
	place := k.failedLine()
	if place == len(k.group) {
		return k.ownRefusal()
	}
	e := k.group[place].ownRefusal()
	e.Line = k.group[place].line
	e.MaybeExecuted = errorTable[e.Text].maybe
	return e
}
