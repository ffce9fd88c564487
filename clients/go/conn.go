package handlersocket

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A conn is one connection that has logged in. Callers share it: each puts its request into one
// buffer, takes a slot in the queue behind those before it, and waits for its own reply.
//
// Whoever has the reading role reads for all. A caller that is alone has the role itself, so that it
// is not handed from goroutine to goroutine; else the goroutine readLoop has it. The same holds for
// writing. While nobody asks anything, readLoop waits for the server to end the connection.
type conn struct {
	socket  net.Conn
	options *Config
	address int
	name    string
	onEnd   func(one *conn, cause error, lost bool)
	// Makes another address the one that is asked, and says whether there is one. It is called with the lock held.
	passOver func() bool
	events   *counters

	mu sync.Mutex
	// Bytes that nobody has begun to write, and a buffer that is free.
	out, spare []byte
	// Where the next byte stands in all that was ever put into `out`, and the first byte that the
	// system has not got.
	position, sent uint64
	// The queue: a ring. head and tail count all slots that there ever were.
	slots      []slot
	head, tail uint64
	bytes      int
	opened     []openIndex
	lastID     uint64
	// The texts of errors have not been asked for yet.
	ungreeted bool
	waiters   waiters
	alone     alone
	reading   bool
	writing   bool
	// writeLoop has the writing role and has not begun to write: a caller may take it.
	lingering bool
	// The slots before this one are not in `out` any more. How many writes have requests without a reply.
	written    uint64
	unanswered int
	// The last read gave replies to several callers: then it pays to wait for more requests.
	shared bool
	// The caller that has the reading role, if it is one, and whether its read was interrupted.
	readingFor  *call
	interrupted bool
	sweeping    bool
	retired     bool
	// The server has opened an index.
	someOpen bool
	err      error
	// The earliest deadline of the queue, at most.
	nextDeadline int64

	answered atomic.Bool
	// The server can open no more indexes here.
	full atomic.Bool
	// Another address is asked because this one has answered nobody.
	passedOver atomic.Bool
	dead       chan struct{}
	wakeWriter chan struct{}
	wakeReader chan struct{}
	wakeSweep  chan struct{}

	// What only who has the reading role uses.
	in      []byte
	have    int
	checked int
	// Complete lines that are not given out: the reply to a group is, when all of them are there.
	lines int
	batch []slot
	// A call was told that what came is no reply to it.
	blamed bool
	reads  atomic.Uint64
}

// A slot is the place of a request that has no reply yet.
type slot struct {
	// Nil: the caller has given up, and the reply is dropped.
	call *call
	// It is a P, or the hello of the connection.
	opening *opening
	start   uint64
	size    int
	began   int64
	// How many lines its reply has beside the first one.
	more int
	// It is the last one of a write.
	ends bool
}

// An openIndex is an index on this connection. Without an opening it is not open.
type openIndex struct {
	id      uint64
	opening *opening
}

var (
	errEnded   = errors.New("the server closed the connection")
	errRetired = errors.New("the connection is no longer used")
	errSilent  = errors.New("the server was silent for too long")
)

// errUnsent means that nothing of the request was sent: another connection may have it.
var errUnsent = errors.New("nothing was sent")

const (
	firstInput = 16 << 10
	// A caller writes itself only while no more bytes than these have no reply, from no more writes. They fit into
	// the buffers between client and server, so that a write does not block if the server does not read. A Unix
	// socket has room for fewer than 300 writes, however small they are.
	mostInline       = 32 << 10
	mostInlineWrites = 100
	// Callers that share a connection write when one of so many parts of what is in flight waits.
	partsInFlight = 6
)

func newConn(socket net.Conn, options *Config, address int, name string) *conn {
	return &conn{
		socket: socket, options: options, address: address, name: name,
		slots: make([]slot, 64), in: make([]byte, firstInput),
		dead: make(chan struct{}), wakeWriter: make(chan struct{}, 1),
		wakeReader: make(chan struct{}, 1), wakeSweep: make(chan struct{}, 1),
		nextDeadline: never, ungreeted: options.Texts, alone: alone{socket: wakefulOf(socket)},
	}
}

func (c *conn) start() {
	go c.writeLoop()
	go c.readLoop()
	go c.sweepLoop()
}

// exchange sends one request and waits for its reply. An error is errUnsent, or the call's. Its turn is taken
// when it has its slot.
func (c *conn) exchange(ctx context.Context, k *call, t *turn) error {
	c.mu.Lock()
	if err := c.admit(ctx, k); err != nil {
		c.mu.Unlock()
		return err
	}
	c.put(k)
	t.take()
	alone := !c.reading && !c.writing && c.isFirst(k) && len(c.out) <= mostInline
	if alone {
		c.reading, c.readingFor = true, k
		c.alone.begins()
	} else {
		c.haveRead()
	}
	c.send(k)
	c.mu.Unlock()
	if alone {
		return c.readAlone(ctx, k)
	}
	return c.wait(ctx, k)
}

// exchangeAll sends requests as neighbours, and waits for all replies. Each call has its own error. Their turn
// is taken when all have their slots.
func (c *conn) exchangeAll(ctx context.Context, ks []*call, t *turn) {
	c.mu.Lock()
	for _, k := range ks {
		size := k.size()
		if !c.hasRoom(size) || !c.waiters.isEmpty() {
			// Room comes only when what stands in the buffer was sent, also to those that wait in front of it.
			c.flush()
		}
		if k.err = c.admit(ctx, k); k.err != nil {
			k.done <- struct{}{}
			continue
		}
		c.put(k)
		c.haveRead()
	}
	c.flush()
	t.take()
	c.mu.Unlock()
	for _, k := range ks {
		_ = c.wait(ctx, k)
	}
}

// haveRead makes sure that somebody reads. The lock is held.
func (c *conn) haveRead() {
	if !c.reading {
		c.reading = true
		wake(c.wakeReader)
	}
}

// flush has writeLoop write the buffer. The lock is held.
func (c *conn) flush() {
	if !c.writing && len(c.out) > 0 {
		c.writing, c.lingering = true, true
		wake(c.wakeWriter)
	}
}

// isFirst says whether nothing stands before this call but what the connection needs for it: the
// hello and the P. The lock is held.
func (c *conn) isFirst(k *call) bool {
	for place := c.head; place != k.slot; place++ {
		if c.slots[place&c.mask()].opening == nil {
			return false
		}
	}
	return true
}

func (c *conn) mask() uint64 { return uint64(len(c.slots) - 1) }

// admit waits until there is room for the call. The lock is held at the beginning and at the end.
func (c *conn) admit(ctx context.Context, k *call) error {
	size := k.size()
	for {
		if c.err != nil || c.retired {
			c.grantRoom()
			c.closeIfDone()
			return errUnsent
		}
		if c.hasRoom(size) && c.waiters.isEmpty() {
			return nil
		}
		if c.options.FailWhenFull && !k.admitted {
			return k.fail(ErrBusy, false, nil)
		}
		if err := c.waitForRoom(ctx, k, size); err != nil {
			return err
		}
		// It was this call's turn, and room was kept for it.
		if c.err == nil && !c.retired {
			return nil
		}
	}
}

// hasRoom says whether a request of this size may be in flight, too. What is larger than all may be
// is sent when nothing else is in flight.
func (c *conn) hasRoom(size int) bool {
	count := int(c.tail-c.head) + c.waiters.granted
	bytes := c.bytes + c.waiters.grantedBytes
	return count == 0 || count < c.options.MaxInFlight && bytes+size <= c.options.MaxInFlightBytes
}

// wait waits for the reply while others read.
func (c *conn) wait(ctx context.Context, k *call) error {
	given := ctx.Done()
	if given == nil {
		<-k.done
		return k.err
	}
	select {
	case <-k.done:
	case <-given:
		if !c.giveUp(k, kindOf(ctx), ctx.Err()) {
			// The reply is being given out.
			<-k.done
		}
	}
	return k.err
}

// kindOf says how a context ended.
func kindOf(ctx context.Context) Kind {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return ErrCanceled
}

// giveUp leaves the call's slot without a caller. It is false if the reply has been taken already.
func (c *conn) giveUp(k *call, kind Kind, cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.giveUpLocked(k, k.slot, kind, cause)
}

func (c *conn) giveUpLocked(k *call, place uint64, kind Kind, cause error) bool {
	if place < c.head || place >= c.tail || c.err != nil {
		return false
	}
	s := &c.slots[place&c.mask()]
	if s.call != k {
		return false
	}
	s.call = nil
	// Bytes that are still in the buffer will be sent: nobody takes them out.
	k.err = k.fail(kind, true, cause)
	c.events.givenUp.Add(1)
	return true
}

// readAlone reads until the call has its reply. It has the reading role.
func (c *conn) readAlone(ctx context.Context, k *call) error {
	if ctx.Done() != nil {
		place := k.slot
		stop := context.AfterFunc(ctx, func() { c.interrupt(k, place, kindOf(ctx), ctx.Err()) })
		defer func() {
			if !stop() {
				// The function may still compare the call with a slot's: it must not become another.
				k.pinned = true
			}
		}()
	}
	for {
		select {
		case <-k.done:
			c.leaveReading()
			return k.err
		default:
		}
		_, err := c.read()
		c.alone.hasRead()
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.fail(err)
			<-k.done
			return k.err
		}
	}
}

// interrupt frees the caller that has the reading role.
func (c *conn) interrupt(k *call, place uint64, kind Kind, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.giveUpLocked(k, place, kind, cause) {
		c.wakeGivenUp(k)
	}
}

// wakeGivenUp tells a caller that it has given up. The lock is held.
func (c *conn) wakeGivenUp(k *call) {
	k.done <- struct{}{}
	if c.readingFor == k {
		c.interrupted = true
		_ = c.socket.SetReadDeadline(time.Unix(1, 0))
	}
}

// leaveReading gives the reading role on, or back.
func (c *conn) leaveReading() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readingFor = nil
	if c.interrupted {
		c.interrupted = false
		_ = c.socket.SetReadDeadline(time.Time{})
	}
	if c.head != c.tail {
		wake(c.wakeReader)
		return
	}
	c.reading = false
	c.closeIfDone()
}

// readLoop has the reading role while several callers share the connection, and when it is idle.
func (c *conn) readLoop() {
	for {
		select {
		case <-c.wakeReader:
		case <-c.dead:
			return
		}
		for {
			given, err := c.read()
			if err != nil {
				c.fail(err)
				return
			}
			c.mu.Lock()
			c.shared = given > 1
			if c.head == c.tail && (given <= 1 || c.retired) {
				c.reading = false
				c.closeIfDone()
				c.mu.Unlock()
				break
			}
			c.mu.Unlock()
		}
	}
}

// retire lets the connection end when nothing is in flight. New requests get errUnsent.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	c.waiters.endAll(func(*call) error { return errUnsent })
	c.closeIfDone()
}

// close ends the connection and its calls at once.
func (c *conn) close(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(ErrClosed, cause)
}

// alive says whether the connection has not ended.
func (c *conn) alive() bool {
	select {
	case <-c.dead:
		return false
	default:
		return true
	}
}

// fills says that the server can open no more indexes here. New requests get errUnsent, and it ends when nothing
// is in flight: replies that have been read with this one are still to be given out. The lock is held.
func (c *conn) fills() {
	c.full.Store(true)
	c.retired = true
	c.waiters.endAll(func(*call) error { return errUnsent })
}

// inFlight is the number of requests that have no reply.
func (c *conn) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.tail-c.head) + len(c.waiters.list)
}

// closeIfDone closes a connection that gets no new requests, when nothing is in flight. The lock is
// held.
func (c *conn) closeIfDone() {
	if c.retired && c.head == c.tail && c.waiters.granted == 0 {
		c.end(ErrLost, errRetired)
	}
}

func wake(who chan struct{}) {
	select {
	case who <- struct{}{}:
	default:
	}
}
