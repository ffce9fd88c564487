package handlersocket

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// A Route is what a connection is for.
type Route uint8

// The routes.
const (
	RouteRead Route = iota
	RouteWrite
	RouteLong
	RouteStream
)

// String gives the name of the route.
func (r Route) String() string { return [...]string{"read", "write", "long", "stream"}[r] }

// A RequestInfo tells of a request that has ended. The names in README.md say which attribute of
// OpenTelemetry each belongs to. It never has values of keys or rows.
type RequestInfo struct {
	// Operation is find, count, exists, insert, upsert, update, delete, increment, decrement, group, lock,
	// describe, hello, list or ping.
	Operation              string
	Database, Table, Index string
	// Address is the server's, empty if there was no connection.
	Address           string
	Route             Route
	Duration          time.Duration
	BytesOut, BytesIn int
	Rows              int
	// Err is the call's error, without the server's message.
	Err error
}

// ErrorType is what OpenTelemetry calls error.type: the text of the server's answer, or the kind of
// the error; empty if there is none.
func (r RequestInfo) ErrorType() string {
	var e *Error
	switch {
	case r.Err == nil || errors.Is(r.Err, ErrNoRows):
		return ""
	case !errors.As(r.Err, &e):
		return "_OTHER"
	case e.Text != "":
		return e.Text
	}
	return string(e.Kind)
}

// A ConnectionEvent is what can happen to a connection.
type ConnectionEvent string

// The events.
const (
	Connected     ConnectionEvent = "connected"
	ConnectFailed ConnectionEvent = "connect failed"
	Disconnected  ConnectionEvent = "disconnected"
	FailedOver    ConnectionEvent = "failed over"
)

// A ConnectionInfo tells what has happened to a connection.
type ConnectionInfo struct {
	Event   ConnectionEvent
	Address string
	Route   Route
	// Lost says of one that is Disconnected that it was lost: requests were in flight, or what came was no
	// reply. Others were idle, or the client has closed them.
	Lost bool
	// Err is without the server's message.
	Err error
	// Wait says of one that is ConnectFailed how long the client waits before the next attempt. It is 0 if
	// another address is tried at once, and if an iteration makes no further attempt.
	Wait time.Duration
}

// Stats are counts since the client was made.
type Stats struct {
	Requests, Replies uint64
	// Errors are calls that failed, GivenUp those whose caller did not wait for the reply, and
	// RepliesDropped the replies that came for them.
	Errors, GivenUp, RepliesDropped uint64
	BytesOut, BytesIn               uint64
	// Writes and Reads are of sockets: Requests/Writes says how well callers share them.
	Writes, Reads                    uint64
	ConnectionsMade, ConnectionsLost uint64
	InFlight                         int
}

type counters struct {
	// Requests that have begun; `requests` are those that have ended.
	begun atomic.Uint64

	requests, replies, errors, givenUp, dropped atomic.Uint64
	bytesOut, bytesIn, writes, reads            atomic.Uint64
	made, lost                                  atomic.Uint64
}

func (s *counters) wrote(n int) {
	s.writes.Add(1)
	s.bytesOut.Add(uint64(n))
}

func (s *counters) read(n int) {
	s.reads.Add(1)
	s.bytesIn.Add(uint64(n))
}

// Stats gives the counts.
func (c *Client) Stats() Stats {
	s := Stats{
		Requests: c.events.requests.Load(), Replies: c.events.replies.Load(),
		Errors: c.events.errors.Load(), GivenUp: c.events.givenUp.Load(),
		RepliesDropped: c.events.dropped.Load(),
		BytesOut:       c.events.bytesOut.Load(), BytesIn: c.events.bytesIn.Load(),
		Writes: c.events.writes.Load(), Reads: c.events.reads.Load(),
		ConnectionsMade: c.events.made.Load(), ConnectionsLost: c.events.lost.Load(),
	}
	for _, one := range c.connections() {
		s.InFlight += one.inFlight()
	}
	return s
}

// tell calls the hook for connections, and the logger.
func (c *Client) tell(info ConnectionInfo) {
	switch {
	case info.Event == Connected:
		c.events.made.Add(1)
	case info.Lost:
		c.events.lost.Add(1)
	}
	info.Err = withoutMessage(info.Err)
	if c.config.OnConnection != nil {
		harmless(func() { c.config.OnConnection(info) })
	}
	if c.config.Logger == nil {
		return
	}
	level := slog.LevelInfo
	attributes := []slog.Attr{
		slog.String("server.address", info.Address), slog.String("route", info.Route.String()),
	}
	if info.Err != nil {
		attributes = append(attributes, slog.String("error", info.Err.Error()))
	}
	if info.Event == ConnectFailed {
		level = slog.LevelWarn
		attributes = append(attributes, slog.Duration("wait", info.Wait))
	}
	harmless(func() {
		c.config.Logger.LogAttrs(context.Background(), level, "handlersocket: "+string(info.Event), attributes...)
	})
}

// harmless calls what the application has given to be told of something. If it panics, the client goes on.
func harmless(told func()) {
	defer func() { _ = recover() }()
	told()
}

// ended counts a call, and tells of it if somebody listens.
func (c *Client) ended(k *call, err error) {
	c.events.requests.Add(1)
	if err != nil && !errors.Is(err, ErrNoRows) {
		c.events.errors.Add(1)
	}
	if c.config.OnRequest == nil {
		return
	}
	info := RequestInfo{
		Operation: k.operation.String(), Address: k.address, Route: k.route, Duration: time.Duration(now() - k.began),
		BytesOut: int(k.bytesOut), BytesIn: int(k.bytesIn), Rows: int(k.rows), Err: withoutMessage(err),
	}
	if k.conn != nil {
		info.Address = k.conn.name
	}
	if d := cmp.Or(k.definition, k.listed); d != nil {
		info.Database, info.Table, info.Index = d.database, d.table, d.index
	}
	harmless(func() { c.config.OnRequest(info) })
}
