package handlersocket

import (
	"context"
	"errors"
)

// A request is a call that has been encoded, and how its reply is read. Index makes them; they are
// done alone, or together in a Pipeline.
type request[R any] struct {
	call  *call
	route Route
	read  func(*call) (R, error)
	err   error
	// Nothing has to be sent: the result is empty.
	nothing bool
}

// failed is a request that cannot be meant.
func failed[R any](k *call, err error) request[R] {
	if k != nil {
		k.free()
	}
	return request[R]{err: err}
}

// do sends a request and waits for its result.
func do[R any](ctx context.Context, c *Client, r request[R]) (R, error) {
	var result R
	if r.err != nil || r.nothing {
		return result, r.err
	}
	r.call.began = now()
	err := c.run(ctx, r.route, r.call)
	if err == nil {
		result, err = r.result()
	}
	c.ended(r.call, err)
	r.call.free()
	return result, err
}

// result reads the reply. If it is none, the connection is of no further use.
func (r *request[R]) result() (R, error) {
	result, err := r.read(r.call)
	if err == nil {
		return result, nil
	}
	var e *Error
	if errors.As(err, &e) {
		// The answer is there, and so what modifies was executed: the same call would do it twice.
		e.MaybeExecuted = r.call.modifies() || r.call.amongChanges
		if e.Kind == ErrProtocol {
			r.call.conn.blameAndFail()
		}
	}
	var none R
	return none, err
}

// A Pipeline collects requests that are sent together, as neighbours on one connection. Each has
// its own result. It is no transaction: each request succeeds or fails alone. If it has a
// modification, all of it goes over the connection for writes. One goroutine uses it at a time.
type Pipeline struct {
	client *Client
	queued []queued
}

// queued is a request whose Pending waits.
type queued struct {
	call    *call
	writes  bool
	err     error
	nothing bool
	settle  func(error) error
}

// Pipeline begins a Pipeline.
func (c *Client) Pipeline() *Pipeline { return &Pipeline{client: c} }

// Len is the number of requests that Run will send.
func (p *Pipeline) Len() int { return len(p.queued) }

// A Pending is the result of a request in a Pipeline.
type Pending[R any] struct {
	value R
	err   error
}

var errNotRun = usage("the pipeline has not been run")

// Result gives the request's result, once the Pipeline has been run.
func (p *Pending[R]) Result() (R, error) { return p.value, p.err }

func add[R any](p *Pipeline, r request[R]) *Pending[R] {
	pending := &Pending[R]{err: errNotRun}
	p.queued = append(p.queued, queued{r.call, r.route == RouteWrite, r.err, r.nothing, func(err error) error {
		pending.err = err
		if err == nil && !r.nothing {
			pending.value, pending.err = r.result()
		}
		return pending.err
	}})
	return pending
}

// Run sends what was added and waits for all replies. It gives the first error among the results, but not
// [ErrNoRows], which is the result of a Get like any other. The Pipeline is empty then and may be used again.
func (p *Pipeline) Run(ctx context.Context) error {
	all := p.queued
	p.queued = nil
	route := RouteRead
	var sent []*call
	for _, q := range all {
		if q.writes {
			route = RouteWrite
		}
		if q.err == nil && !q.nothing {
			q.call.began = now()
			sent = append(sent, q.call)
		}
	}
	p.client.runAll(ctx, route, sent)
	var first error
	for _, q := range all {
		err := q.err
		if q.call != nil {
			err = q.call.err
			if err == nil && q.call.code != 0 {
				err = q.call.refusal()
			}
		}
		err = q.settle(err)
		if first == nil && !errors.Is(err, ErrNoRows) {
			first = err
		}
		if q.call != nil {
			p.client.ended(q.call, err)
			q.call.free()
		}
	}
	return first
}

// runAll sends calls as neighbours, and waits for all of them. What another connection or another
// server may do is sent there, in the same order.
func (c *Client) runAll(ctx context.Context, route Route, all []*call) {
	calls := all
	for i, k := range calls {
		if k.err = c.enter(ctx, k); k.err != nil {
			for _, rest := range calls[i:] {
				rest.err = k.err
			}
			c.events.begun.Add(uint64(len(calls) - i - 1))
			calls = calls[:i]
			break
		}
	}
	if route == RouteWrite && !c.writable {
		for _, k := range calls {
			k.err = usage("none of the addresses has a port for writing")
		}
		return
	}
	if len(calls) == 0 {
		return
	}
	turn, route := c.queue(route, calls[0].kind)
	defer turn.end()
	for _, k := range calls {
		k.route = route
	}
	var t tries
	retries, asked := 0, 1
	for len(calls) > 0 {
		one, err := c.pick(ctx, calls[0], &t)
		if err == nil {
			err = turn.wait(ctx, calls[0])
		}
		if err != nil {
			for _, k := range calls {
				k.err = err
			}
			return
		}
		for _, k := range calls {
			k.conn = one
		}
		one.exchangeAll(ctx, calls, turn)
		calls = c.repeat(one, calls, &t, &retries, &asked)
	}
}

// repeat gives the calls of a pipeline that are to be sent once more.
func (c *Client) repeat(one *conn, calls []*call, t *tries, retries, asked *int) []*call {
	var again []*call
	moved, tried, retried := false, *t, *retries
	for _, k := range calls {
		// All of them share one attempt.
		attempt, retry := tried, retried
		switch {
		case k.leavesFull(k.err):
			again = append(again, k)
		case k.err == nil && k.code != 0:
			if refusal := k.refusal(); moved && refusal.elsewhere() || c.moveOn(k.route, one.address, refusal, asked) {
				moved = true
				again = append(again, k)
			}
		case k.err != nil && c.tryAgain(one, k, k.err, &attempt, &retry):
			again = append(again, k)
			*t, *retries = attempt, max(*retries, retry)
		}
	}
	for _, k := range again {
		k.again(k.err != errUnsent)
	}
	return again
}
