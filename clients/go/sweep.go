package handlersocket

import (
	"context"
	"slices"
	"time"
)

// The part of a connection that looks at the clock, for all callers together, and the queue of those
// that wait for room.

// How often deadlines are looked at.
const sweepInterval = 25 * time.Millisecond

// sweepLoop looks at deadlines while something is in flight. A connection that is idle is left to
// readLoop, which notices its end, and sweepLoop sleeps.
func (c *conn) sweepLoop() {
	timer := time.NewTicker(sweepInterval)
	defer timer.Stop()
	var progress progress
	for {
		select {
		case <-timer.C:
		case <-c.dead:
			return
		}
		if c.sweep(&progress) {
			continue
		}
		timer.Stop()
		select {
		case <-c.wakeSweep:
		case <-c.dead:
			return
		}
		progress.at = now()
		timer.Reset(sweepInterval)
	}
}

// progress is when bytes came last, as seen by the sweeps, and where the queue ended then.
type progress struct {
	reads uint64
	at    int64
	tail  uint64
}

// sweep looks once. It is false if there is nothing to look at any more.
func (c *conn) sweep(last *progress) bool {
	time := now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	if time >= c.nextDeadline {
		c.nextDeadline = c.endOverdue(time)
	}
	c.waiters.endOverdue(time)
	c.grantRoom()
	if reads := c.reads.Load(); reads != last.reads || c.head == c.tail {
		last.reads, last.at = reads, time
	}
	if c.head != c.tail && c.options.DeadAfter > 0 {
		oldest := c.slots[c.head&c.mask()].began
		if time-max(last.at, oldest) >= int64(c.options.DeadAfter) {
			c.end(ErrLost, errSilent)
			return false
		}
	}
	idle := c.head == c.tail && c.waiters.isEmpty() && last.tail == c.tail
	last.tail = c.tail
	if !idle {
		return true
	}
	c.haveRead()
	// The queue was empty for a while.
	c.sweeping = false
	select {
	case <-c.wakeSweep:
	default:
	}
	return false
}

// endOverdue frees callers whose time is over, and gives the next deadline. The lock is held.
func (c *conn) endOverdue(time int64) int64 {
	next := int64(never)
	for place := c.head; place != c.tail; place++ {
		k := c.slots[place&c.mask()].call
		if k == nil || k.deadline == 0 {
			continue
		}
		if k.deadline > time {
			next = min(next, k.deadline)
		} else if c.giveUpLocked(k, place, ErrTimeout, nil) {
			c.wakeGivenUp(k)
		}
	}
	return next
}

// waiters are calls that wait for room, in the order in which they came.
type waiters struct {
	list []*waiter
	// Room that is kept for those whose turn it is.
	granted, grantedBytes int
}

type waiter struct {
	call  *call
	size  int
	ready chan error
}

func (w *waiters) isEmpty() bool { return len(w.list) == 0 }

func (w *waiters) remove(one *waiter) bool {
	i := slices.Index(w.list, one)
	if i < 0 {
		return false
	}
	w.list = slices.Delete(w.list, i, i+1)
	return true
}

func (w *waiters) endOverdue(time int64) {
	w.list = slices.DeleteFunc(w.list, func(one *waiter) bool {
		over := one.call.deadline != 0 && one.call.deadline <= time
		if over {
			one.ready <- one.call.fail(ErrTimeout, false, nil)
		}
		return over
	})
}

func (w *waiters) endAll(with func(k *call) error) {
	for _, one := range w.list {
		one.ready <- with(one.call)
	}
	w.list = nil
}

// grantRoom gives turns to those that wait: there is more room, or the first one does not wait any more. The lock is
// held.
func (c *conn) grantRoom() {
	for !c.waiters.isEmpty() && c.hasRoom(c.waiters.list[0].size) {
		first := c.waiters.list[0]
		c.waiters.list = c.waiters.list[1:]
		c.waiters.granted++
		c.waiters.grantedBytes += first.size
		first.ready <- nil
	}
}

// waitForRoom waits for the call's turn. The lock is held at the beginning and at the end.
func (c *conn) waitForRoom(ctx context.Context, k *call, size int) error {
	w := &waiter{call: k, size: size, ready: make(chan error, 1)}
	c.waiters.list = append(c.waiters.list, w)
	if !c.sweeping {
		c.sweeping = true
		wake(c.wakeSweep)
	}
	c.mu.Unlock()
	var err error
	select {
	case err = <-w.ready:
		c.mu.Lock()
	case <-ctx.Done():
		c.mu.Lock()
		if c.waiters.remove(w) {
			c.grantRoom()
			return k.fail(kindOf(ctx), false, ctx.Err())
		}
		if err = <-w.ready; err == nil {
			c.waiters.granted--
			c.waiters.grantedBytes -= size
			c.grantRoom()
			c.closeIfDone()
			return k.fail(kindOf(ctx), false, ctx.Err())
		}
	}
	if err == nil {
		c.waiters.granted--
		c.waiters.grantedBytes -= size
	}
	return err
}
