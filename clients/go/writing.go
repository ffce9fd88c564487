package handlersocket

import (
	"runtime"
	"strconv"
)

// The part of a connection that puts requests into the buffer and writes it.

// put encodes a request and gives it a slot. The lock is held.
func (c *conn) put(k *call) {
	c.alone.added(c.head == c.tail)
	if c.ungreeted {
		c.greet(k.began)
	}
	for _, line := range k.group {
		line.opening = c.open(line, k.began)
	}
	var open *opening
	if k.group == nil && k.definition != nil {
		open = c.open(k, k.began)
	}
	k.opening = open
	start := c.position
	before := len(c.out)
	if k.group != nil {
		c.out = append(c.out, k.front...)
		c.out = append(strconv.AppendUint(append(c.out, 'G', tab), uint64(len(k.group)), 10), lf)
	} else {
		c.putLine(k)
	}
	for _, line := range k.group {
		c.putLine(line)
	}
	k.slot, k.admitted = c.tail, true
	size := len(c.out) - before
	k.bytesOut = int64(size)
	c.enqueue(slot{call: k, start: start, size: size, began: k.began, more: len(k.group)})
	if k.deadline != 0 && k.deadline < c.nextDeadline {
		c.nextDeadline = k.deadline
	}
	if !c.sweeping {
		c.sweeping = true
		wake(c.wakeSweep)
	}
}

// open has the call's index opened, if it is not yet. An index with all columns keeps those of its opening,
// and is described because somebody wants those of now. The lock is held.
func (c *conn) open(k *call, began int64) *opening {
	index := c.indexOf(k.definition)
	if index.opening == nil || k.kind == kindDescribe && k.definition.hasAllColumns() {
		index.opening = &opening{definition: k.definition}
		start := c.position
		before := len(c.out)
		c.out = append(c.out, 'P', tab)
		c.out = strconv.AppendUint(c.out, index.id, 10)
		c.out = append(c.out, k.definition.open...)
		c.enqueue(slot{opening: index.opening, start: start, size: len(c.out) - before, began: began})
	}
	return index.opening
}

// greet asks for the texts of errors, in front of the connection's first request. The lock is held.
func (c *conn) greet(began int64) {
	c.ungreeted = false
	start := c.position
	c.out = append(c.out, helloTexts+"\n"...)
	c.enqueue(slot{opening: &opening{}, start: start, size: len(helloTexts) + 1, began: began})
}

// putLine encodes a request whose index is open, if it has one. The lock is held.
func (c *conn) putLine(k *call) {
	c.out = append(c.out, k.front...)
	if k.definition != nil {
		c.out = strconv.AppendUint(c.out, c.indexOf(k.definition).id, 10)
	}
	c.out = append(c.out, k.request...)
}

func (c *conn) indexOf(d *definition) *openIndex {
	for len(c.opened) <= d.number {
		c.opened = append(c.opened, openIndex{})
	}
	index := &c.opened[d.number]
	if index.id == 0 {
		c.lastID++
		index.id = c.lastID
	}
	return index
}

func (c *conn) enqueue(s slot) {
	if int(c.tail-c.head) == len(c.slots) {
		larger := make([]slot, 2*len(c.slots))
		for i := c.head; i != c.tail; i++ {
			larger[i&uint64(len(larger)-1)] = c.slots[i&c.mask()]
		}
		c.slots = larger
	}
	c.slots[c.tail&c.mask()] = s
	c.tail++
	c.bytes += s.size
	c.position += uint64(s.size)
}

// send has the buffer written: by this caller if it is the only one, or if much of what is in flight waits
// there; else by writeLoop. The lock is held. Whatever the server does, a caller does not wait for it here.
func (c *conn) send(k *call) {
	if c.writing && !(c.lingering && c.muchWaits()) {
		return
	}
	inline := c.lingering || !c.shared && c.isFirst(k)
	c.writing = true
	if inline && c.bytes <= mostInline && c.unanswered < mostInlineWrites {
		c.lingering = false
		c.writeOut()
		if len(c.out) == 0 || c.err != nil {
			c.writing = false
			return
		}
	}
	c.lingering = true
	wake(c.wakeWriter)
}

// muchWaits says whether so many requests wait in the buffer that the server should begin with them. If all
// callers that were answered together also asked together, the server would rest while they are at work, and
// they while it is. The lock is held.
func (c *conn) muchWaits() bool {
	return (c.tail-c.written)*partsInFlight >= c.tail-c.head
}

// writeOut writes what has piled up. The lock is held, but not while it writes.
func (c *conn) writeOut() {
	b := c.out
	c.out = c.spare[:0]
	c.spare = nil
	c.sent += uint64(len(b))
	c.written = c.tail
	if c.head != c.tail {
		c.slots[(c.tail-1)&c.mask()].ends = true
		c.unanswered++
	}
	c.mu.Unlock()
	n, err := c.socket.Write(b)
	c.events.wrote(n)
	c.mu.Lock()
	if cap(b) <= 16*keptBuffer {
		c.spare = b[:0]
	}
	if err != nil {
		c.sent -= uint64(len(b) - n)
		c.end(ErrLost, err)
	}
}

// writeLoop writes when several callers share the connection. It lets them all put their requests
// into the buffer before it does, unless one of them takes the writing role.
func (c *conn) writeLoop() {
	for {
		select {
		case <-c.wakeWriter:
		case <-c.dead:
			return
		}
		runtime.Gosched()
		c.mu.Lock()
		if c.lingering {
			c.lingering = false
			for len(c.out) > 0 && c.err == nil {
				c.writeOut()
			}
			c.writing = false
		}
		c.mu.Unlock()
	}
}
