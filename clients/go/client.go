package handlersocket

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Client is for one server, or for a list of servers of which one takes the writes. Any number of
// goroutines share it: their requests travel together over few connections. It connects when the
// first call needs it.
type Client struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	lanes  [3][]*lane
	// The addresses to ask: for writes and, by default, for finds; and for finds otherwise.
	current, reading atomic.Int64
	events           counters
	streams          streams
	closing          atomic.Bool
	// Some address has a port for writing.
	writable bool
	calls    atomic.Int64
	order    order

	mu          sync.Mutex
	definitions map[string]*definition
}

// Open makes a Client of a URL, see [ParseURL] and [New]. Nothing is connected yet. An error is ErrUsage: also an empty URL is
// none. Who wants that of the environment says so by [FromEnvironment].
func Open(url string) (*Client, error) {
	config, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	return New(config)
}

// New makes a Client. Nothing is connected yet. A User without a password gets HANDLERSOCKET_PASSWORD of the environment,
// and who has neither a User nor a Secret gets HANDLERSOCKET_SECRET, if they are set. An error is ErrUsage.
func New(config Config) (*Client, error) {
	config.addEnvironment()
	config.setDefaults()
	config.Addresses = slices.Clone(config.Addresses)
	if err := config.check(); err != nil {
		return nil, err
	}
	c := &Client{config: config, definitions: map[string]*definition{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for route, n := range map[Route]int{
		RouteRead: config.ReadConnections, RouteWrite: config.WriteConnections, RouteLong: config.LongConnections,
	} {
		for range n {
			c.lanes[route] = append(c.lanes[route], &lane{client: c, route: route, former: map[*conn]bool{}})
		}
	}
	for _, a := range config.Addresses {
		_, _, ok := a.endpoint(true)
		c.writable = c.writable || ok
	}
	c.reading.Store(int64(rand.IntN(len(config.Addresses))))
	c.streams.free = make(chan struct{}, config.MaxStreams)
	c.streams.tell = c.tell
	return c, nil
}

// Close ends all connections at once. Calls that wait get ErrClosed, and so does every later call.
func (c *Client) Close() error {
	c.closing.Store(true)
	c.cancel()
	for _, one := range c.connections() {
		one.close(errClientClosed)
	}
	c.streams.closeAll()
	return nil
}

// Shutdown takes no new calls, waits for the replies that are owed until the context ends, and closes.
func (c *Client) Shutdown(ctx context.Context) error {
	c.closing.Store(true)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	var err error
	for c.events.requests.Load() < c.events.begun.Load() && err == nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	_ = c.Close()
	return err
}

func (c *Client) connections() []*conn {
	var all []*conn
	for _, lanes := range c.lanes {
		for _, l := range lanes {
			all = append(all, l.all()...)
		}
	}
	return all
}

// define gives the client's definition of an index.
func (c *Client) define(spec IndexSpec) (*definition, error) {
	if spec.Database == "" {
		spec.Database = c.config.Database
	}
	if spec.Database == "" {
		return nil, errNoDatabase
	}
	if spec.Index == "" {
		spec.Index = "PRIMARY"
	}
	if err := spec.check(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.definitions[spec.key()]
	if d == nil {
		spec.Columns, spec.Filters = slices.Clone(spec.Columns), slices.Clone(spec.Filters)
		d = newDefinition(&spec, c.config.Location)
		d.number = len(c.definitions)
		c.definitions[spec.key()] = d
	}
	if spec.types != nil {
		return d.typed(spec.types), nil
	}
	return d, nil
}

// run sends a request and waits for its reply. The call has the reply then.
func (c *Client) run(ctx context.Context, route Route, k *call) error {
	if err := c.enter(ctx, k); err != nil {
		return err
	}
	if route == RouteWrite && !c.writable {
		return usage("none of the addresses has a port for writing")
	}
	turn, route := c.queue(route, k.kind)
	defer turn.end()
	k.route = route
	var t tries
	retries, asked := 0, 1
	for {
		one, err := c.pick(ctx, k, &t)
		if err == nil {
			err = turn.wait(ctx, k)
		}
		if err != nil {
			return err
		}
		k.conn = one
		err = one.exchange(ctx, k, turn)
		if k.leavesFull(err) {
			k.again(true)
			continue
		}
		if err == nil {
			if k.code == 0 {
				return nil
			}
			refusal := k.refusal()
			if !c.moveOn(route, one.address, refusal, &asked) {
				return refusal
			}
			k.again(true)
			continue
		}
		if !c.tryAgain(one, k, err, &t, &retries) {
			return err
		}
		k.again(err != errUnsent)
	}
}

// enter counts a call that begins. A closed client takes none.
func (c *Client) enter(ctx context.Context, k *call) error {
	if c.config.Timeout > 0 {
		if _, own := ctx.Deadline(); !own {
			k.deadline = k.began + min(int64(c.config.Timeout), never-k.began)
		}
	}
	c.events.begun.Add(1)
	if c.closing.Load() {
		return k.fail(ErrClosed, false, nil)
	}
	if ctx.Err() != nil {
		return k.fail(kindOf(ctx), false, ctx.Err())
	}
	return nil
}

// tryAgain says whether a call that failed is sent once more.
func (c *Client) tryAgain(one *conn, k *call, err error, t *tries, retries *int) bool {
	if err == errUnsent {
		// A connection that never answered counts as a failed attempt.
		if !one.answered.Load() && (one.passedOver.Load() || one.address == c.wanted(k.route)) {
			t.attempts++
			t.last = errEnded
		}
		return true
	}
	var e *Error
	if errors.As(err, &e) && e.Kind == ErrLost && !k.modifies() && *retries < c.config.RetryReads {
		*retries++
		return true
	}
	return false
}

// moveOn says whether a call is sent to the current address, because the answer says that another server
// may do it and the call has not asked all of them. If the one that answered still is the current one,
// the next is from now on: an answer that comes later than others moves nobody.
func (c *Client) moveOn(route Route, address int, refusal *Error, asked *int) bool {
	if !refusal.elsewhere() || *asked >= len(c.config.Addresses) {
		return false
	}
	*asked++
	next := (address + 1) % len(c.config.Addresses)
	if c.want(route, address, next) {
		c.tell(ConnectionInfo{Event: FailedOver, Address: c.config.Addresses[next].String(), Route: route, Err: refusal})
	}
	return true
}

// passOver makes the next address the one that a route asks, because this one has taken a connection and answered
// nobody on it. It is false if there is no other, or another one is asked already.
func (c *Client) passOver(route Route, address int) bool {
	n := len(c.config.Addresses)
	return n > 1 && c.want(route, address, (address+1)%n)
}

func (c *Client) tellPassedOver(address int, route Route, cause error) {
	next := c.config.Addresses[(address+1)%len(c.config.Addresses)]
	c.tell(ConnectionInfo{Event: FailedOver, Address: next.String(), Route: route, Err: cause})
}

// pick gives the connection of the call's route with the fewest requests in flight. A call that a full connection has
// refused goes to what takes its place: the others may be full, too.
func (c *Client) pick(ctx context.Context, k *call, t *tries) (*conn, error) {
	if k.leftFull {
		return k.lane.get(ctx, k, t)
	}
	lanes := c.lanes[k.route]
	best := lanes[0]
	if len(lanes) > 1 {
		least := -1
		for _, l := range lanes {
			n := 0
			if one := l.now.Load(); one != nil {
				n = one.inFlight()
			}
			if least < 0 || n < least {
				best, least = l, n
			}
		}
	}
	k.lane = best
	return best.get(ctx, k, t)
}

// wanted is the address that a route asks now.
func (c *Client) wanted(route Route) int {
	if len(c.config.Addresses) == 1 {
		return 0
	}
	if route == RouteWrite || c.config.ReadFrom == ReadFromWriter {
		return int(c.current.Load())
	}
	return int(c.reading.Load())
}

// want makes an address the one that a route asks, in place of the one that it has asked so far. It is
// false if somebody else has found another one meanwhile.
func (c *Client) want(route Route, former, address int) bool {
	if route != RouteWrite && c.config.ReadFrom != ReadFromWriter {
		return c.reading.CompareAndSwap(int64(former), int64(address))
	}
	if !c.current.CompareAndSwap(int64(former), int64(address)) {
		return false
	}
	if former != address && c.config.ReadFrom == ReadFromReplicas {
		// A replica that takes the writes now is no longer one.
		next := (address + 1) % len(c.config.Addresses)
		c.reading.CompareAndSwap(int64(address), int64(next))
	}
	return true
}

// orderOf is the order in which an attempt tries the addresses, beginning with the wanted one.
func (c *Client) orderOf(route Route, first int) []int {
	n := len(c.config.Addresses)
	order := make([]int, n)
	for i := range order {
		order[i] = (first + i) % n
	}
	if route != RouteWrite && c.config.ReadFrom == ReadFromReplicas {
		// The server that takes the writes is the last choice.
		writer := int(c.current.Load())
		order = slices.DeleteFunc(order, func(i int) bool { return i == writer })
		order = append(order, writer)
	}
	if route == RouteWrite {
		order = slices.DeleteFunc(order, func(i int) bool {
			_, _, ok := c.config.Addresses[i].endpoint(true)
			return !ok
		})
	}
	return order
}
