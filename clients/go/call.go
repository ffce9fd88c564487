package handlersocket

import (
	"cmp"
	"errors"
	"math"
	"sync"
	"time"
)

// callKind says what a reply has to look like.
type callKind uint8

const (
	kindFind callKind = iota
	kindCount
	kindDescribe
	kindHello
	kindNames
	kindIndexes
	kindPing
	kindModify
	kindModifyRows
	kindInsert
	kindInsertRows
	kindGroup
)

// A call is a request on its way and its reply. It belongs to the caller, except between the moment
// at which it gets its slot in a connection's queue and the one at which `done` has a token or the
// caller has given up. What belongs together stands together: two cores have it in turn.
type call struct {
	done chan struct{}
	// The reply without its header.
	reply []byte
	// What happened instead of a reply.
	err error
	// The P that the request depends on.
	opening *opening
	// What the header says.
	code      uint32
	hasValues bool
	kind      callKind
	operation operation
	route     Route

	// Nil if it is about no index.
	definition *definition
	// The request behind the index id, with its LF.
	request []byte
	// When the call is over, on the clock of `now`; 0: never. When it began.
	deadline, began int64
	// The connection that had it last, and the place in that connection's queue.
	conn *conn
	slot uint64
	// For who observes.
	bytesOut, bytesIn, rows int64
	// The words in front of the index id, or of a group; which line of a group it is, from 1 on; and of a
	// group its lines.
	front string
	line  int
	group []*call
	// It is not used for another request.
	pinned bool
	// It is a line of a group that modifies: the group was executed if this line was answered.
	amongChanges bool
	// It was sent before, and is sent once more: a find, or what another server refused.
	seen bool
	// It has had a slot, here or on another connection. If it needs one again, it waits for it.
	admitted bool
	// It was sent once more because its connection was full, which happens once; and where that was.
	leftFull bool
	lane     *lane
	// The address of an iteration, which has no conn.
	address string
	// The database and the table of a list. No connection opens them.
	listed *definition
}

// An operation is what a call does, in the words of OpenTelemetry.
type operation uint8

const (
	opFind operation = iota
	opCount
	opExists
	opInsert
	opUpsert
	opUpdate
	opDelete
	opIncrement
	opDecrement
	opPing
	opLock
	opGroup
	opDescribe
	opHello
	opList
)

func (o operation) String() string {
	return [...]string{
		"find", "count", "exists", "insert", "upsert", "update", "delete", "increment", "decrement", "ping", "lock", "group",
		"describe", "hello", "list",
	}[o]
}

// An opening is one P that was sent. err is written before the replies behind it are given out.
// Without a definition it is the hello with which a connection asks for texts.
type opening struct {
	definition *definition
	err        *Error
	// It was refused because the connection can open no more indexes.
	full bool
}

// refusal is the error of a P, for a call behind it.
func (o *opening) refusal() *Error {
	e := *o.err
	e.where = o.definition.where(e.Text)
	return &e
}

// Replies and requests larger than this are not kept for the next call.
const keptBuffer = 64 << 10

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

func newCall(d *definition, kind callKind, operation operation) *call {
	k := calls.Get().(*call)
	k.definition, k.kind, k.operation = d, kind, operation
	return k
}

// free gives the call back. Nothing of its buffers is used any more.
func (k *call) free() {
	if k.pinned || cap(k.request) > keptBuffer || cap(k.reply) > keptBuffer {
		return
	}
	*k = call{request: k.request[:0], reply: k.reply[:0], done: k.done}
	calls.Put(k)
}

func (k *call) modifies() bool { return k.kind >= kindModify }

// again makes it ready to be sent once more. seen: the server can have seen it this time.
func (k *call) again(seen bool) {
	k.seen = k.seen || seen
	k.err, k.opening, k.code, k.hasValues = nil, nil, 0, false
	k.reply = k.reply[:0]
	for _, line := range k.group {
		line.again(seen)
	}
}

// leavesFull says whether a call is sent once more, on a new connection, because its connection could open no more
// indexes: it was not executed. The error is that of its exchange.
func (k *call) leavesFull(err error) bool {
	if k.leftFull || err == nil && k.code == 0 {
		return false
	}
	// Of a call that has given up, what became of its P may still be written.
	var e *Error
	if err != nil && !(errors.As(err, &e) && e.Kind == ErrReply) {
		return false
	}
	_, o := k.refusedOpening()
	k.leftFull = o != nil && o.full
	return k.leftFull
}

// answer takes a line, without its LF, or all lines of a group. It is false if that is no reply to this
// request.
func (k *call) answer(line []byte) bool {
	if k.group != nil {
		return k.answerGroup(line)
	}
	return k.answerLine(line)
}

func (k *call) answerLine(line []byte) bool {
	h, ok := parseHeader(line)
	if !ok {
		return false
	}
	k.code, k.hasValues = uint32(min(h.code, math.MaxUint32)), h.body > 0
	k.reply = append(k.reply[:0], line[h.body:]...)
	if h.body == 0 {
		k.reply = k.reply[:0]
	}
	k.bytesIn = int64(len(line) + 1)
	if h.code != 0 {
		return true
	}
	switch k.kind {
	case kindFind, kindModifyRows:
		return h.columns == uint64(len(k.definition.columns))
	case kindModify, kindCount:
		return h.columns == 1 && k.hasValues
	case kindInsertRows, kindHello:
		return h.columns == 2
	case kindDescribe:
		return h.columns == describedWidth
	case kindIndexes:
		return h.columns == listedWidth
	default:
		return h.columns == 1
	}
}

// values are those of the reply, once.
func (k *call) values() tokens { return valuesOf(k.reply, k.hasValues) }

// refusal is the error that the server answered.
func (k *call) refusal() *Error {
	if k.group != nil {
		return k.groupRefusal()
	}
	return k.ownRefusal()
}

func (k *call) ownRefusal() *Error {
	e := readError(uint64(k.code), k.values(), k.modifies())
	// A group that has failed as a whole is about no table of its own.
	if d := cmp.Or(k.definition, k.listed); d != nil && k.group == nil {
		e.where = d.where(e.Text)
	}
	// Behind a P that failed the index is not open: why is what counts.
	if e.isNotOpen() && k.opening != nil && k.opening.err != nil {
		return k.opening.refusal()
	}
	return e
}

// fail makes the error of a call that has no reply.
func (k *call) fail(kind Kind, sent bool, cause error) *Error {
	return &Error{Kind: kind, Sent: sent || k.seen, MaybeExecuted: sent && k.modifies(), Err: cause}
}

var epoch = time.Now()

// now is a clock that never goes back, in nanoseconds.
func now() int64 { return int64(time.Since(epoch)) }

const never = 1<<63 - 1
