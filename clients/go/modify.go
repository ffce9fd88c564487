package handlersocket

import "context"

// Changes of rows that are there.

// Update gives columns of each row of the Query new values, or what an [Assignment] makes of them. It
// says how many rows were found.
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
	return do(ctx, x.client, x.fetchChange(q, OpUpdate, rowsBefore, set))
}

// FetchIncrement is Increment, and gives the rows as they were before.
func (x *Index[T]) FetchIncrement(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpIncrement, rowsBefore, amounts))
}

// FetchDecrement is Decrement, and gives the rows as they were before.
func (x *Index[T]) FetchDecrement(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpDecrement, rowsBefore, amounts))
}

// FetchDelete is Delete, and gives the rows as they were before.
func (x *Index[T]) FetchDelete(ctx context.Context, q Query) ([]T, error) {
	return do(ctx, x.client, x.fetchModify(q, OpDelete, rowsBefore, nil))
}

// Modify does any modification, with values for the first columns of the index.
func (x *Index[T]) Modify(ctx context.Context, q Query, op Op, values ...any) (int64, error) {
	return do(ctx, x.client, x.modify(q, op, values))
}

// FetchModify is Modify, and gives the rows as they were before.
func (x *Index[T]) FetchModify(ctx context.Context, q Query, op Op, values ...any) ([]T, error) {
	return do(ctx, x.client, x.fetchModify(q, op, rowsBefore, values))
}

// UpdateFetch is Update, and gives the rows as they are afterwards.
func (x *Index[T]) UpdateFetch(ctx context.Context, q Query, set Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpUpdate, rowsAfter, set))
}

// IncrementFetch is Increment, and gives the rows as they are afterwards.
func (x *Index[T]) IncrementFetch(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpIncrement, rowsAfter, amounts))
}

// DecrementFetch is Decrement, and gives the rows as they are afterwards.
func (x *Index[T]) DecrementFetch(ctx context.Context, q Query, amounts Set) ([]T, error) {
	return do(ctx, x.client, x.fetchChange(q, OpDecrement, rowsAfter, amounts))
}

// ModifyFetch is Modify, and gives the rows as they are afterwards. It is not for deletions.
func (x *Index[T]) ModifyFetch(ctx context.Context, q Query, op Op, values ...any) ([]T, error) {
	return do(ctx, x.client, x.fetchModify(q, op, rowsAfter, values))
}

var operations = map[Op]operation{
	OpUpdate: opUpdate, OpDelete: opDelete, OpIncrement: opIncrement, OpDecrement: opDecrement, opLocking: opLock,
}

// modification encodes a modification by an index that may be another one than this.
func (x *Index[T]) modification(d *definition, q Query, op Op, rows rowsAnswered, values []any) (*call, error) {
	kind := kindModify
	if rows != noRows {
		kind = kindModifyRows
	}
	k := x.newCall(d, kind, operations[op])
	var err error
	if k.request, err = q.appendModify(k.request, d, op, rows, values); err != nil {
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
	k, err := x.modification(d, q, op, noRows, values)
	if err != nil {
		return failed[int64](nil, err)
	}
	if q.isEmpty() {
		k.free()
		return request[int64]{nothing: true}
	}
	return request[int64]{call: k, route: RouteWrite, read: readCount}
}

func (x *Index[T]) fetchModify(q Query, op Op, rows rowsAnswered, values []any) request[[]T] {
	return x.fetchModifyBy(x.definition, x.err, q, op, rows, values, x.many)
}

func (x *Index[T]) fetchModifyBy(
	d *definition, err error, q Query, op Op, rows rowsAnswered, values []any, read func(*call) ([]T, error),
) request[[]T] {
	if err != nil {
		return failed[[]T](nil, err)
	}
	k, err := x.modification(d, q, op, rows, values)
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
	if op == OpUpdate && set.hasAssignments() {
		return x.assignTo(q, set)
	}
	d, _, values, err := x.forSet(set, false)
	return x.modifyBy(d, err, q, op, values)
}

func (x *Index[T]) fetchChange(q Query, op Op, rows rowsAnswered, set Set) request[[]T] {
	if op == OpUpdate && set.hasAssignments() {
		return x.fetchAssignTo(q, rows, set)
	}
	d, p, values, err := x.forSet(set, true)
	return x.fetchModifyBy(d, err, q, op, rows, values, func(k *call) ([]T, error) { return readMany[T](k, p) })
}

func (x *Index[T]) assignTo(q Query, set Set) request[int64] {
	_, k, err := x.setting(q, noRows, set)
	if err != nil {
		return failed[int64](k, err)
	}
	if q.isEmpty() {
		k.free()
		return request[int64]{nothing: true}
	}
	return request[int64]{call: k, route: RouteWrite, read: readCount}
}

func (x *Index[T]) fetchAssignTo(q Query, rows rowsAnswered, set Set) request[[]T] {
	d, k, err := x.setting(q, rows, set)
	if err == nil && d != x.definition {
		err = usage("a column of the Set is none of this index: its rows have no place for it")
	}
	if err != nil {
		return failed[[]T](k, err)
	}
	if q.isEmpty() {
		k.free()
		return request[[]T]{nothing: true}
	}
	return request[[]T]{call: k, route: RouteWrite, read: x.many}
}

// setting encodes an update with assignments.
func (x *Index[T]) setting(q Query, rows rowsAnswered, set Set) (*definition, *call, error) {
	if x.err != nil {
		return nil, nil, x.err
	}
	d, all, err := x.assign(x.definition.columns, set)
	if err != nil {
		return nil, nil, err
	}
	kind := kindModify
	if rows != noRows {
		kind = kindModifyRows
	}
	k := x.newCall(d, kind, opUpdate)
	line, err := q.appendSet(k.request, d, rows, all)
	if err != nil {
		return nil, k, err
	}
	k.request = append(line, lf)
	return d, k, nil
}
