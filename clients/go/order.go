package handlersocket

import (
	"context"
	"sync"
)

// An order keeps finds behind the writes that were called before them, with Config.ReadYourWrites. A write
// may wait for a connection, alone or with others, and when there is one all who wait go on at once. So
// each waits until those before it have their places in the connection's queue.
type order struct {
	mu sync.Mutex
	// Writes whose callers wait for their results.
	writes int
	// The one that came last; nil if nobody has come yet.
	last *turn
}

// A turn is the place of a caller in the order.
type turn struct {
	order  *order
	before *turn
	writes bool
	// Closed when its requests have their places, or it has ended, and those before it.
	taken chan struct{}
	once  sync.Once
}

// join gives a write its turn, and a find if it has to go behind writes: else it gives nil. isBusy says
// whether requests have no reply, among them those whose callers have left.
func (o *order) join(writes bool, isBusy func() bool) *turn {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !writes && o.writes == 0 && !isBusy() {
		return nil
	}
	t := &turn{order: o, before: o.last, writes: writes, taken: make(chan struct{})}
	o.last = t
	if writes {
		o.writes++
	}
	return t
}

// wait waits for those before it, at most until the call's time is over.
func (t *turn) wait(ctx context.Context, k *call) error {
	if t == nil || t.before == nil {
		return nil
	}
	select {
	case <-t.before.taken:
	default:
		if err := waitFor(ctx, k, t.before.taken); err != nil {
			return err
		}
	}
	t.before = nil
	return nil
}

// take says that the requests have their places: who comes behind may go on.
func (t *turn) take() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		before := t.before
		t.before = nil
		if before == nil {
			close(t.taken)
			return
		}
		// It has left while others before it wait.
		go func() {
			<-before.taken
			close(t.taken)
		}()
	})
}

// end says that the caller has its result.
func (t *turn) end() {
	if t == nil {
		return
	}
	t.take()
	if t.writes {
		t.order.mu.Lock()
		t.order.writes--
		t.order.mu.Unlock()
	}
}

// queue gives the turn of calls that begin, and the route by which they go.
func (c *Client) queue(route Route, kind callKind) (*turn, Route) {
	if !c.config.ReadYourWrites || route != RouteWrite && kind > kindCount {
		return nil, route
	}
	t := c.order.join(route == RouteWrite, c.lanes[RouteWrite][0].isBusy)
	if t != nil {
		route = RouteWrite
	}
	return t, route
}
