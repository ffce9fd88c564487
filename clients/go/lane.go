package handlersocket

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A lane is the place of one connection of a route. When the connection has ended, the next call
// that needs it has it made again.
type lane struct {
	client *Client
	route  Route
	now    atomic.Pointer[conn]

	mu      sync.Mutex
	attempt *attempt
	// Failures in succession, and when the next attempt may begin, on the clock of `now`.
	failures  int
	notBefore int64
	// Connections that still answer what was sent before another address became the current one.
	former map[*conn]bool
}

// An attempt is an attempt to connect, for which any number of calls wait.
type attempt struct {
	done chan struct{}
	conn *conn
	err  error
}

// tries is what a call has left of its attempts to get a connection.
type tries struct {
	attempts int
	last     error
}

// get gives a connection that can be used now. It waits for one if need be.
func (l *lane) get(ctx context.Context, k *call, t *tries) (*conn, error) {
	for {
		if one := l.now.Load(); one != nil && l.canUse(one) {
			return one, nil
		}
		if t.attempts >= l.client.config.ConnectAttempts {
			e := k.fail(ErrConnect, false, t.last)
			e.words = "no connection"
			return nil, e
		}
		a, err := l.connect()
		if err != nil {
			return nil, k.fail(ErrClosed, false, nil)
		}
		if err := waitFor(ctx, k, a.done); err != nil {
			return nil, err
		}
		if a.err == nil {
			return a.conn, nil
		}
		var permanent permanentError
		if errors.As(a.err, &permanent) {
			e := *permanent.cause
			return nil, &e
		}
		if errors.Is(a.err, errClientClosed) {
			return nil, k.fail(ErrClosed, false, nil)
		}
		t.attempts++
		t.last = a.err
	}
}

// canUse says whether a connection takes new requests.
func (l *lane) canUse(one *conn) bool {
	return one.alive() && !one.full.Load() && one.address == l.client.wanted(l.route)
}

// waitFor waits until something is done, at most until the call's time is over.
func waitFor(ctx context.Context, k *call, done <-chan struct{}) error {
	var over <-chan time.Time
	if k.deadline != 0 {
		timer := time.NewTimer(time.Duration(k.deadline - now()))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-done:
		return nil
	case <-over:
		return k.fail(ErrTimeout, false, nil)
	case <-ctx.Done():
		return k.fail(kindOf(ctx), false, ctx.Err())
	}
}

// connect begins an attempt, or joins the one that is under way.
func (l *lane) connect() (*attempt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempt != nil {
		return l.attempt, nil
	}
	if l.client.ctx.Err() != nil {
		return nil, errClientClosed
	}
	if one := l.now.Load(); one != nil && one.alive() {
		if l.canUse(one) {
			return &attempt{done: closedChannel, conn: one}, nil
		}
		l.former[one] = true
		l.now.Store(nil)
		defer one.retire()
	}
	l.attempt = &attempt{done: make(chan struct{})}
	go l.try(l.attempt, time.Duration(l.notBefore-now()))
	return l.attempt, nil
}

// failed notes a failure, and gives the time until the next attempt. The lock is held.
func (l *lane) failed() time.Duration {
	l.failures++
	wait := l.client.backoff(l.failures)
	at := now()
	l.notBefore = at + min(int64(wait), never-at)
	return wait
}

// try makes one attempt: each address once.
func (l *lane) try(a *attempt, wait time.Duration) {
	defer close(a.done)
	client := l.client
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-client.ctx.Done():
	}
	a.conn, a.err = client.connectAny(l.route, func() time.Duration {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.failed()
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempt = nil
	if a.err != nil {
		return
	}
	// From now on its end is told.
	a.conn.onEnd = l.ended
	address := a.conn.address
	a.conn.passOver = func() bool { return client.passOver(l.route, address) }
	if client.ctx.Err() != nil {
		a.conn.close(errClientClosed)
		a.conn, a.err = nil, errClientClosed
		return
	}
	a.conn.start()
	l.now.Store(a.conn)
}

// ended notes that a connection of this lane has ended.
func (l *lane) ended(one *conn, cause error, lost bool) {
	l.now.CompareAndSwap(one, nil)
	l.mu.Lock()
	delete(l.former, one)
	if one.answered.Load() {
		l.failures, l.notBefore = 0, 0
	} else if !errors.Is(cause, errRetired) {
		l.failed()
	}
	l.mu.Unlock()
	l.client.tell(ConnectionInfo{Event: Disconnected, Address: one.name, Route: l.route, Lost: lost, Err: cause})
	if one.passedOver.Load() {
		l.client.tellPassedOver(one.address, l.route, cause)
	}
}

// isBusy says whether a connection of the lane has requests without a reply.
func (l *lane) isBusy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.now.Load(); one != nil && one.inFlight() > 0 {
		return true
	}
	for one := range l.former {
		if one.inFlight() > 0 {
			return true
		}
	}
	return false
}

// all gives the connections of the lane.
func (l *lane) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*conn
	if one := l.now.Load(); one != nil {
		all = append(all, one)
	}
	for one := range l.former {
		all = append(all, one)
	}
	return all
}

// connectAny connects to one of the addresses, beginning with the wanted one. If another one is wanted
// when it has succeeded, it begins again, but for as long only as an address can have been new. If all have
// failed, failed says how long the next attempt waits.
func (c *Client) connectAny(route Route, failed func() time.Duration) (*conn, error) {
	err := errMoved
	for range len(c.config.Addresses) + 1 {
		var one *conn
		if one, err = c.connectOnce(route, failed); !errors.Is(err, errMoved) {
			return one, err
		}
	}
	failed()
	return nil, err
}

// connectOnce tries each address once. The error is errMoved if another one is wanted meanwhile.
func (c *Client) connectOnce(route Route, failed func() time.Duration) (*conn, error) {
	var err error
	var permanent permanentError
	first := c.wanted(route)
	order := c.orderOf(route, first)
	for i, address := range order {
		if c.ctx.Err() != nil {
			return nil, errClientClosed
		}
		name := c.config.Addresses[address].String()
		socket, failure := c.dial(c.ctx, c.config.Addresses[address], route == RouteWrite)
		if failure == nil {
			moved := c.want(route, first, address)
			if !moved && c.wanted(route) != address {
				closeSocket(socket)
				return nil, errMoved
			}
			c.tell(ConnectionInfo{Event: Connected, Address: name, Route: route})
			if moved && err != nil {
				c.tell(ConnectionInfo{Event: FailedOver, Address: name, Route: route, Err: err})
			}
			one := newConn(socket, &c.config, address, name)
			one.events = &c.events
			return one, nil
		}
		// Of several reasons the one that says most is the call's: the first that a second attempt would meet
		// again, and not that nobody listens elsewhere.
		if err == nil || !errors.As(err, &permanent) && errors.As(failure, &permanent) {
			err = failure
		}
		info := ConnectionInfo{Event: ConnectFailed, Address: name, Route: route, Err: failure}
		if i == len(order)-1 {
			info.Wait = failed()
		}
		c.tell(info)
	}
	return nil, err
}

// backoff is a random time before the next attempt.
func (c *Client) backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	most := c.config.BackoffMax
	if shift := failures - 1; c.config.BackoffMin <= most>>shift {
		most = c.config.BackoffMin << shift
	}
	return time.Duration(rand.Uint64N(uint64(most) + 1))
}

var (
	errClientClosed = errors.New("the client is closed")
	errMoved        = errors.New("requests go to another address now")
	closedChannel   = func() chan struct{} {
		done := make(chan struct{})
		close(done)
		return done
	}()
)
