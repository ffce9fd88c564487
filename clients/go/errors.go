package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Kind is a class of errors. An error of this package is an [*Error] that has one, or two if it is the
// server's answer: errors.Is(err, ErrReply) and errors.Is(err, ErrDuplicate) are both true for a duplicate
// key. Only [ErrNoRows] is an error by itself: it says that all went well, and that there is no row.
type Kind string

// What can go wrong in the client, or between it and the server.
const (
	// ErrUsage: the call cannot be meant. Nothing was sent.
	ErrUsage Kind = "usage"
	// ErrReply: the server answered an error. It also has one of the kinds below.
	ErrReply Kind = "reply"
	// ErrLost: the connection ended while the call waited for its reply.
	ErrLost Kind = "lost"
	// ErrConnect: no connection could be had. Nothing was sent.
	ErrConnect Kind = "connect"
	// ErrTimeout: the call's time was over. context.DeadlineExceeded is this error, too.
	ErrTimeout Kind = "timeout"
	// ErrCanceled: the call's context was cancelled. context.Canceled is this error, too.
	ErrCanceled Kind = "cancelled"
	// ErrBusy: as much is in flight as may be, and Config.FailWhenFull is set. Nothing was sent.
	ErrBusy Kind = "busy"
	// ErrProtocol: what came is no reply to the request. The connection was closed.
	ErrProtocol Kind = "protocol"
	// ErrClosed: the client was closed.
	ErrClosed Kind = "closed"
	// ErrDecode: a value does not fit the type that the program wants. What modifies was executed.
	ErrDecode Kind = "decode"
	// ErrNoRows: Get found no row. It is no [*Error].
	ErrNoRows Kind = "no rows"
	// ErrUnmet: a line of a Group has met no row behind Some, or one behind None. It is an ErrReply, too.
	ErrUnmet Kind = "unmet"
)

// What the server's answers mean.
const (
	ErrDuplicate   Kind = "duplicate"   // a row with the same unique key exists
	ErrForeignKey  Kind = "foreign_key" // a foreign key refuses it
	ErrLock        Kind = "lock"        // a lock was not to be had, or a deadlock: try again
	ErrReadOnly    Kind = "read_only"   // the port, the table or the server can only be read
	ErrElsewhere   Kind = "elsewhere"   // the server does not serve now: use another one
	ErrLogIn       Kind = "log_in"      // not logged in, or the log-in was refused
	ErrPrivilege   Kind = "privilege"   // the account may not do this
	ErrValue       Kind = "value"       // a column cannot hold a value, or a rule of the table refuses it
	ErrSchema      Kind = "schema"      // no such table, index or column
	ErrLimit       Kind = "limit"       // too much, or too long, for the server
	ErrInterrupted Kind = "interrupted" // by KILL or a shutdown
	ErrRequest     Kind = "request"     // the request is wrong
	ErrServer      Kind = "server"      // anything else
)

func (k Kind) Error() string { return "handlersocket: " + string(k) }

// An Error says what went wrong with a call.
type Error struct {
	// Kind is what happened.
	Kind Kind
	// Sent: the server can have seen the request.
	Sent bool
	// MaybeExecuted: the request modifies, and it is not known whether it was executed; or it was, and its
	// result cannot be read (ErrDecode).
	MaybeExecuted bool
	// Code and Text are the server's answer, if there is one.
	Code int
	Text string
	// Message is the server's own, if Config.Texts is set and the server tells it. It may have values of
	// a row: so it is not part of what Error gives.
	Message string
	// Line is the request of a Group that has failed, from 1 on; 0 if it is none, or the group as a whole.
	Line int
	// Class is what the answer means, one of the kinds from ErrDuplicate on.
	Class Kind
	// Err is the cause, if there is another one.
	Err error

	words string
	// The names of the table and the index that an answer was about.
	where string
	// What the server tells with texts.
	number   int
	sqlState string
}

// Error tells it in words.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("handlersocket: ")
	if e.Text != "" || e.Code != 0 {
		if e.Kind != ErrReply {
			b.WriteString(string(e.Kind) + ": ")
		}
		if e.Line > 0 {
			fmt.Fprintf(&b, "request %d of the group: ", e.Line)
		}
		fmt.Fprintf(&b, "the server answered %d %s", e.Code, e.Text)
		if entry, known := errorTable[e.Text]; known {
			b.WriteString(": " + entry.words)
		}
		if e.where != "" {
			b.WriteString(": " + e.where)
		}
	} else if e.words != "" {
		b.WriteString(e.words)
	} else {
		b.WriteString(string(e.Kind))
	}
	// The cause of an ErrDecode comes from the program's own type, and may show a value.
	if e.Err != nil && e.Kind != ErrDecode {
		b.WriteString(": " + e.Err.Error())
	}
	switch {
	case e.MaybeExecuted && e.Kind == ErrDecode:
		b.WriteString(" (the request was executed)")
	case e.MaybeExecuted:
		b.WriteString(" (the request may have been executed)")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is says whether target is the error's Kind or Class.
func (e *Error) Is(target error) bool {
	switch target {
	case e.Kind:
		return true
	case ErrUnmet:
		return e.Kind == ErrReply && e.Text == TextUnmet
	case context.DeadlineExceeded:
		return e.Kind == ErrTimeout
	case context.Canceled:
		return e.Kind == ErrCanceled
	}
	return e.Class != "" && target == e.Class
}

// Timeout says whether the call's time was over, as net.Error does.
func (e *Error) Timeout() bool { return e.Kind == ErrTimeout }

// Temporary says whether the same call may succeed after a moment.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case ErrLost, ErrConnect, ErrTimeout, ErrBusy:
		return true
	}
	return errorTable[e.Text].retry == "later"
}

// Number is SQL's number of the error, if Config.Texts is set and the server tells it. Otherwise it is
// the number that the server answered: the storage engine's below 1000, SQL's from there on, and 0 if
// the answer is a word.
func (e *Error) Number() int {
	if e.number != 0 {
		return e.number
	}
	n, err := strconv.Atoi(e.Text)
	if err != nil {
		return 0
	}
	return n
}

// SQLState gives SQL's five characters for the server's answer, or an empty string.
func (e *Error) SQLState() string {
	if e.sqlState != "" {
		return e.sqlState
	}
	return errorTable[e.Text].sqlState
}

// SafeToRetry says whether the same call can be made again without doing anything twice, because it was not
// executed or modifies nothing. Whether that is useful is another question: see [Error.Temporary]. It is
// false for nil and for [ErrNoRows], which are no failures.
func SafeToRetry(err error) bool {
	var e *Error
	return errors.As(err, &e) && !e.MaybeExecuted
}

// MaybeExecuted says whether a call that failed may have changed something.
func MaybeExecuted(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.MaybeExecuted
}

// elsewhere says whether another server may execute what this one refused.
func (e *Error) elsewhere() bool {
	return e.Kind == ErrReply && errorTable[e.Text].retry == "elsewhere"
}

type errorEntry struct {
	code     int
	class    Kind
	retry    string
	words    string
	sqlState string
	// A modification that is answered so may have been executed.
	maybe bool
}

// replyError makes the error of a reply to a request that modifies, or not.
func replyError(code uint64, text string, modifies bool) *Error {
	e := &Error{Kind: ErrReply, Sent: true, Code: int(min(code, 1<<31-1)), Text: text}
	entry, known := errorTable[text]
	switch {
	case known:
		e.Class = entry.class
		e.MaybeExecuted = entry.maybe && modifies
	case code == 2:
		e.Class = ErrRequest
	case code == 3:
		e.Class = ErrLogIn
	default:
		e.Class = ErrServer
	}
	return e
}

// readError makes the error of a reply's values: the text, and with texts three more.
func readError(code uint64, values tokens, modifies bool) *Error {
	text := ""
	if values.more {
		text = copyOf(values.next())
	}
	e := replyError(code, text, modifies)
	var told [3][]byte
	for i := range told {
		if !values.more {
			return e
		}
		told[i] = values.next()
	}
	if n, ok := number(told[0]); ok && n <= math.MaxInt32 {
		e.number = int(n)
	}
	e.sqlState, e.Message = copyOf(told[1]), copyOf(told[2])
	return e
}

// copyOf gives a token's text. The token stays as it is: an error may be read more than once.
func copyOf(token []byte) string {
	value, err := unescape(bytes.Clone(token))
	if err != nil {
		return ""
	}
	return string(value)
}

// isNotOpen says whether the server knows no index of this number.
func (e *Error) isNotOpen() bool { return e.Code == 2 && e.Text == TextStmtnum }

// withoutMessage is an error as hooks get it: they never get values.
func withoutMessage(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Message == "" {
		return err
	}
	silent := *e
	silent.Message = ""
	return &silent
}

func usage(format string, arguments ...any) *Error {
	err := fmt.Errorf(format, arguments...)
	return &Error{Kind: ErrUsage, Err: errors.Unwrap(err), words: strings.TrimSuffix(err.Error(), causeOf(err))}
}

// causeOf is what a wrapped error adds to the end of the text.
func causeOf(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return ": " + inner.Error()
	}
	return ""
}
