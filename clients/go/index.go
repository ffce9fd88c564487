package handlersocket

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
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
	derived    sync.Map
}

// A Set says which columns get which values.
type Set map[string]any

// Index gives an index whose rows are Rows. If the spec cannot be meant, each call says so.
func (c *Client) Index(spec IndexSpec) *Index[Row] { return IndexOf[Row](c, spec) }

// IndexOf gives an index whose rows are structs, or Rows. Without Columns it has the columns for which
// the struct has fields.
func IndexOf[T any](c *Client, spec IndexSpec) *Index[T] {
	x := &Index[T]{client: c, spec: spec}
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
	k.rows = int32(len(rows))
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
	k.rows = int32(min(n, math.MaxInt32))
	return int64(n), nil
}

func readID(k *call) (uint64, error) {
	values := k.values()
	if !values.more {
		return 0, nil
	}
	token := values.next()
	negative := len(token) > 0 && token[0] == '-'
	if negative {
		token = token[1:]
	}
	n, ok := number(token)
	if !ok || values.more || negative && n > 1<<63 {
		return 0, wrongReply("the number of the new row was expected")
	}
	if negative {
		return -n, nil
	}
	return n, nil
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

// Update gives columns of each row of the Query new values. It says how many rows were found.
func (x *Index[T]) Update(ctx context.Context, q Query, set Set) (int64, error) {
	return do(ctx, x.client, x.change(q, OpUpdate, set))
}

// UpdateRow gives all columns of the index new values in each row of the Query.
func (x *Index[T]) UpdateRow(ctx context.Context, q Query, row T) (int64, error) {
	return do(ctx, x.client, x.updateRow(q, row))
}

// Increment adds to columns of each row of the Query. NULL stays NULL.
func (x *Index[T]) Increment(ctx context.Context, q Query, amounts Set) (int64, error) {
	return do(ctx, x.client, x.change(q, OpIncrement, amounts))
}

// Decrement subtracts from columns of each row of the Query. A row of which a value would cross zero
// stays as it is, and is not counted.
func (x *Index[T]) Decrement(ctx context.Context, q Query, amounts Set) (int64, error) {
	return do(ctx, x.client, x.change(q, OpDecrement, amounts))
}

// Delete deletes each row of the Query, and says how many.
func (x *Index[T]) Delete(ctx context.Context, q Query) (int64, error) {
	return do(ctx, x.client, x.modify(q, OpDelete, nil))
}

// FetchUpdate is Update, and gives the rows as they were before.
func (x *Index[T]) FetchUpdate(ctx context.Context, q Query, set Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpUpdate, set))
}

// FetchIncrement is Increment, and gives the rows as they were before.
func (x *Index[T]) FetchIncrement(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpIncrement, amounts))
}

// FetchDecrement is Decrement, and gives the rows as they were before.
func (x *Index[T]) FetchDecrement(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpDecrement, amounts))
}

// FetchDelete is Delete, and gives the rows as they were before.
func (x *Index[T]) FetchDelete(ctx context.Context, q Query) ([]T, error) {
	return do(ctx, x.client, x.fetchModify(q, OpDelete, nil))
}

// Modify does any modification, with values for the first columns of the index.
func (x *Index[T]) Modify(ctx context.Context, q Query, op Op, values ...any) (int64, error) {
	return do(ctx, x.client, x.modify(q, op, values))
}

// FetchModify is Modify, and gives the rows as they were before.
func (x *Index[T]) FetchModify(ctx context.Context, q Query, op Op, values ...any) ([]T, error) {
	return do(ctx, x.client, x.fetchModify(q, op, values))
}

func (x *Index[T]) get(key []any) request[T] {
	if x.err != nil {
		return failed[T](nil, x.err)
	}
	k := newCall(x.definition, kindFind, opFind)
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
	k := newCall(x.definition, kindFind, opFind)
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
	k := newCall(x.definition, kindInsert, opInsert)
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

var operations = map[Op]operation{
	OpUpdate: opUpdate, OpDelete: opDelete, OpIncrement: opIncrement, OpDecrement: opDecrement,
}

// modification encodes a modification by an index that may be another one than this.
func (x *Index[T]) modification(d *definition, q Query, op Op, fetch bool, values []any) (*call, error) {
	kind := kindModify
	if fetch {
		kind = kindModifyRows
	}
	k := newCall(d, kind, operations[op])
	var err error
	if k.request, err = q.appendModify(k.request, d, op, fetch, values); err != nil {
		k.free()
		return nil, err
	}
	k.request = append(k.request, lf)
	return k, nil
}

func (x *Index[T]) modify(q Query, op Op, values []any) request[int64] {
	return x.modifyBy(x.definition, x.err, q, op, values)
}

func (x *Index[T]) modifyBy(d *definition, err error, q Query, op Op, values []any) request[int64] {
	if err != nil {
		return failed[int64](nil, err)
	}
	k, err := x.modification(d, q, op, false, values)
	if err != nil {
		return failed[int64](nil, err)
	}
	if q.isEmpty() {
		k.free()
		return request[int64]{nothing: true}
	}
	return request[int64]{call: k, route: RouteWrite, read: readCount}
}

func (x *Index[T]) fetchModify(q Query, op Op, values []any) request[[]T] {
	return x.fetchModifyBy(x.definition, x.err, q, op, values, x.many)
}

func (x *Index[T]) fetchModifyBy(
	d *definition, err error, q Query, op Op, values []any, read func(*call) ([]T, error),
) request[[]T] {
	if err != nil {
		return failed[[]T](nil, err)
	}
	k, err := x.modification(d, q, op, true, values)
	if err != nil {
		return failed[[]T](nil, err)
	}
	if q.isEmpty() {
		k.free()
		return request[[]T]{nothing: true}
	}
	return request[[]T]{call: k, route: RouteWrite, read: read}
}

func (x *Index[T]) updateRow(q Query, row T) request[int64] {
	if x.err != nil {
		return failed[int64](nil, x.err)
	}
	values, err := valuesOfRow(row, x.definition.columns)
	if err != nil {
		return failed[int64](nil, err)
	}
	return x.modify(q, OpUpdate, values)
}

func (x *Index[T]) change(q Query, op Op, set Set) request[int64] {
	d, _, values, err := x.forSet(set, false)
	return x.modifyBy(d, err, q, op, values)
}

func (x *Index[T]) fetchChange(q Query, op Op, set Set) request[[]T] {
	d, p, values, err := x.forSet(set, true)
	return x.fetchModifyBy(d, err, q, op, values, func(k *call) ([]T, error) { return readMany[T](k, p) })
}

// forSet gives the index that has the columns of a Set in front, because a modification is of the first
// columns. With rows, the other columns stand behind them.
func (x *Index[T]) forSet(set Set, rows bool) (*definition, *plan, []any, error) {
	if x.err != nil {
		return nil, nil, nil, x.err
	}
	if len(set) == 0 {
		return nil, nil, nil, usage("the Set has no column")
	}
	names := slices.SortedFunc(maps.Keys(set), func(a, b string) int {
		// Those of the index in its order: then it may be this index itself.
		return cmp.Or(cmp.Compare(x.place(a), x.place(b)), cmp.Compare(a, b))
	})
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = set[name]
	}
	if slices.Equal(names, x.definition.columns) {
		return x.definition, x.plan, values, nil
	}
	type found struct {
		definition *definition
		plan       *plan
	}
	key := strings.Join(names, ",")
	if rows {
		key += "\t"
	}
	if known, ok := x.derived.Load(key); ok {
		f := known.(found)
		return f.definition, f.plan, values, nil
	}
	spec := x.spec
	spec.Columns = slices.Clone(names)
	p := x.plan
	if rows {
		for _, name := range names {
			if x.place(name) == len(x.definition.columns) {
				return nil, nil, nil, usage("the column %s is none of this index: its rows have no place for it", name)
			}
		}
		for _, column := range x.definition.columns {
			if _, there := set[column]; !there {
				spec.Columns = append(spec.Columns, column)
			}
		}
	}
	d, err := x.client.define(spec)
	if err == nil && rows {
		p, err = planFor(reflect.TypeFor[T](), d.columns)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	x.derived.Store(key, found{d, p})
	return d, p, values, nil
}

// place is the position of a column, or the number of columns if it is none.
func (x *Index[T]) place(column string) int {
	if i := slices.Index(x.definition.columns, column); i >= 0 {
		return i
	}
	return len(x.definition.columns)
}

// valuesOfRow gives the values of a row in the order of the columns.
func valuesOfRow[T any](row T, columns []string) ([]any, error) {
	values := make([]any, len(columns))
	if raw, ok := any(row).(Row); ok {
		if len(raw.values) != len(columns) {
			return nil, usage("a Row with %d values for %d columns", len(raw.values), len(columns))
		}
		for i, value := range raw.values {
			values[i] = value
		}
		return values, nil
	}
	info := infoOf(reflect.TypeFor[T]())
	if info.err != nil {
		return nil, info.err
	}
	reflected := reflect.ValueOf(row)
	for i, column := range columns {
		for _, field := range info.fields {
			if field.column != column {
				continue
			}
			value := reflected.FieldByIndex(field.path)
			if !field.auto || !value.IsZero() {
				values[i] = value.Interface()
			}
		}
	}
	return values, nil
}
