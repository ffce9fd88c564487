package handlersocket

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// Staying awake: a caller that is alone looks for its reply for a moment before it sleeps. To sleep and to be
// woken takes longer than a server needs for a row.

const (
	// How long it looks.
	awakeFor = 100 * time.Microsecond
	// So many requests in succession were alone, before one is looked for.
	aloneBefore = 8
	// After n looks in vain the next 2^n requests are not looked for, n being at most this.
	mostVain = 10
)

// A wakeful has to be told that the next read is worth a look, and says whether it found something.
type wakeful struct {
	net.Conn
	reader rawReader
	// The next read looks. Anybody may end that: another request is in flight.
	looks atomic.Bool
	// What the last read did, and what it needs. Only who has the reading role looks here.
	looked, found bool
	to            []byte
	n             int
	end           time.Time
	try           func(fd uintptr) bool
}

// wakefulOf gives the socket that can look, also the one below TLS; nil if there is none.
func wakefulOf(socket net.Conn) *wakeful {
	if secured, ok := socket.(*tls.Conn); ok {
		socket = secured.NetConn()
	}
	w, _ := socket.(*wakeful)
	return w
}

// Read is net.Conn's, but for a look before it.
func (w *wakeful) Read(b []byte) (int, error) {
	if w.looks.Load() {
		n, err := w.look(b)
		// A look that another request has ended says nothing.
		w.looked = w.looks.Swap(false) || w.found
		if w.found {
			return n, err
		}
	}
	return w.Conn.Read(b)
}

// An alone is what a connection knows of callers that are alone.
type alone struct {
	socket *wakeful
	// How many requests in succession were added when nothing else was in flight.
	inSuccession int
	// Looks in vain in succession, and the requests that are not looked for because of them.
	vain, skip int
}

// added notes a request that is put into the queue. The connection's lock is held.
func (a *alone) added(isAlone bool) {
	if isAlone {
		a.inSuccession++
		return
	}
	a.inSuccession = 0
	if a.socket != nil {
		a.socket.looks.Store(false)
	}
}

// begins says that the caller of the only request begins to wait. The connection's lock is held.
func (a *alone) begins() {
	switch {
	case a.socket == nil || a.inSuccession <= aloneBefore:
	case a.skip > 0:
		a.skip--
	default:
		a.socket.looks.Store(true)
	}
}

// hasRead learns from a read. It is for who has the reading role.
func (a *alone) hasRead() {
	if a.socket == nil || !a.socket.looked {
		return
	}
	a.socket.looked = false
	if a.socket.found {
		a.vain = 0
		return
	}
	a.vain = min(a.vain+1, mostVain)
	a.skip = 1 << a.vain
}
