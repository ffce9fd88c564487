package handlersocket

import (
	"context"
	"iter"
	"math"
	"reflect"
	"sync"
)

// An Index finds and changes the rows of a table by one of its indexes. T is what a row becomes: a
// struct whose fields stand for columns, or [Row] for the bytes as the server sent them. Making one
// asks nobody: connections open the index when they first need it. Goroutines may share it.
//
// A field stands for the column that its tag names, as in `hs:"user_id"`, or else for the one that
// is called like the field, user_id for UserID. `hs:"-"` leaves a field out, and with
// `hs:"user_id,auto"` an insert leaves a field that is zero to AUTO_INCREMENT.
type Index[T any] struct {
	client     *Client
	spec       IndexSpec
	definition *definition
	plan       *plan
	err        error
	one        func(*call) (T, error)
	many       func(*call) ([]T, error)
	known      *knownIndexes
	// What stands in front of its requests.
	within string
}

// knownIndexes are those that an Index has needed for other columns, so that the client's lock is not
// taken for each request.
type knownIndexes struct {
	// With their plans by the names of a Set, and definitions by their columns.
	derived, others sync.Map
}

// Index gives an index whose rows are Rows. If the spec cannot be meant, each call says so.
func (c *Client) Index(spec IndexSpec) *Index[Row] { return IndexOf[Row](c, spec) }

// IndexOf gives an index whose rows are structs, or Rows. Without Columns it has the columns for which
// the struct has fields.
func IndexOf[T any](c *Client, spec IndexSpec) *Index[T] {
	x := &Index[T]{client: c, spec: spec, known: &knownIndexes{}}
	t := reflect.TypeFor[T]()
	if t != reflect.TypeFor[Row]() && len(spec.Columns) == 0 {
		info := infoOf(t)
		for _, field := range info.fields {
			x.spec.Columns = append(x.spec.Columns, field.column)
		}
		x.err = info.err
	}
	if x.err == nil {
		x.definition, x.err = c.define(x.spec)
	}
	if x.err == nil {
		x.plan, x.err = planFor(t, x.definition.columns)
	}
	x.one = func(k *call) (T, error) { return readOne[T](k, x.plan) }
	x.many = func(k *call) ([]T, error) { return readMany[T](k, x.plan) }
	return x
}

func readMany[T any](k *call, p *plan) ([]T, error) {
	rows, err := rowsOf[T](k.definition, p, k.values())
	k.rows = int64(len(rows))
	if len(p.fields) == 0 {
		// The rows keep the bytes.
		k.reply = nil
	}
	return rows, err
}

func readOne[T any](k *call, p *plan) (T, error) {
	var row T
	values := k.values()
	if !values.more {
		return row, ErrNoRows
	}
	err := readRow(k.definition, p, &values, &row)
	if err == nil && values.more {
		err = wrongReply("one row was asked for, and there are more")
	}
	k.rows = 1
	if len(p.fields) == 0 {
		k.reply = nil
	}
	return row, err
}

func readCount(k *call) (int64, error) {
	values := k.values()
	n, ok := number(values.next())
	if !ok || values.more || n > math.MaxInt64 {
		return 0, wrongReply("a number of rows was expected")
	}
	k.rows = int64(n)
	return int64(n), nil
}

func readID(k *call) (uint64, error) {
	values := k.values()
	if !values.more {
		return 0, nil
	}
	id, ok := idOf(values.next(), false)
	if !ok || values.more {
		return 0, wrongReply("the number of the new row was expected")
	}
	return id, nil
}

// idOf reads an AUTO_INCREMENT value. A signed column may have been given a negative one.
func idOf(token []byte, mayBeNull bool) (uint64, bool) {
	if mayBeNull && len(token) == 1 && token[0] == 0 {
		return 0, true
	}
	negative := len(token) > 0 && token[0] == '-'
	if negative {
		token = token[1:]
	}
	n, ok := number(token)
	if negative {
		return -n, ok && n <= 1<<63
	}
	return n, ok
}

// Get gives the first row with this key: the values of the index's first parts. If there is none, the
// error is ErrNoRows.
func (x *Index[T]) Get(ctx context.Context, key ...any) (T, error) {
	return do(ctx, x.client, x.get(key))
}

// Find gives the rows of a Query, at most as many as its limit says.
func (x *Index[T]) Find(ctx context.Context, q Query) ([]T, error) {
	return do(ctx, x.client, x.find(q))
}

// Rows gives the rows of a Query one by one, while they arrive. It is for large results: the
// connection belongs to it, and if the loop is slow, the server waits. After an error nothing more
// comes. The time-out is for the next bytes, and not for the whole.
func (x *Index[T]) Rows(ctx context.Context, q Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { stream(ctx, x, q, yield) }
}

// Insert adds a row. It gives the AUTO_INCREMENT value, or 0 if the table has none. A negative one,
// which a signed column may have been given, is int64 of it.
func (x *Index[T]) Insert(ctx context.Context, row T) (uint64, error) {
	return do(ctx, x.client, x.insert(row))
}

// InsertValues adds a row with these values of the index's first columns.
func (x *Index[T]) InsertValues(ctx context.Context, values ...any) (uint64, error) {
	return do(ctx, x.client, x.insertValues(values))
}

func (x *Index[T]) newCall(d *definition, kind callKind, operation operation) *call {
	k := newCall(d, kind, operation)
	k.front = x.within
	return k
}

func (x *Index[T]) get(key []any) request[T] {
	if x.err != nil {
		return failed[T](nil, x.err)
	}
	k := x.newCall(x.definition, kindFind, opFind)
	q := Eq(key...)
	var err error
	if k.request, err = q.appendFind(k.request, x.definition, false); err != nil {
		return failed[T](k, err)
	}
	k.request = append(k.request, lf)
	return request[T]{call: k, route: RouteRead, read: x.one}
}

func (x *Index[T]) find(q Query) request[[]T] {
	if x.err != nil {
		return failed[[]T](nil, x.err)
	}
	k := x.newCall(x.definition, kindFind, opFind)
	var err error
	if k.request, err = q.appendFind(k.request, x.definition, false); err != nil {
		return failed[[]T](k, err)
	}
	if q.isEmpty() {
		k.free()
		return request[[]T]{nothing: true}
	}
	k.request = append(k.request, lf)
	route := RouteRead
	if q.long || q.limit >= uint64(x.client.config.LongLimit) {
		route = RouteLong
	}
	return request[[]T]{call: k, route: route, read: x.many}
}

func (x *Index[T]) insertValues(values []any) request[uint64] {
	if x.err != nil {
		return failed[uint64](nil, x.err)
	}
	k := x.newCall(x.definition, kindInsert, opInsert)
	var err error
	if k.request, err = appendInsert(k.request, x.definition, values); err != nil {
		return failed[uint64](k, err)
	}
	k.request = append(k.request, lf)
	return request[uint64]{call: k, route: RouteWrite, read: readID}
}

func (x *Index[T]) insert(row T) request[uint64] {
	if x.err != nil {
		return failed[uint64](nil, x.err)
	}
	values, err := valuesOfRow(row, x.definition.columns)
	if err != nil {
		return failed[uint64](nil, err)
	}
	return x.insertValues(values)
}
