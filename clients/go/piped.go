package handlersocket

// Piped has the calls of an Index. Each adds its request to a Pipeline.
type Piped[T any] struct {
	index    *Index[T]
	pipeline *Pipeline
	// What a modification must meet, in a Group.
	meets string
}

// In gives the calls of this index for a Pipeline of its client.
func (x *Index[T]) In(p *Pipeline) Piped[T] { return Piped[T]{index: x, pipeline: p} }

func addTo[T, R any](p Piped[T], r request[R]) *Pending[R] {
	if p.index.client != p.pipeline.client && r.err == nil {
		r = failed[R](r.call, usage("the index belongs to another client than the pipeline"))
	}
	if p.meets != "" && r.err == nil {
		r = meeting(r, p.meets)
	}
	return add(p.pipeline, r)
}

// Get is [Index.Get].
func (p Piped[T]) Get(key ...any) *Pending[T] { return addTo(p, p.index.get(key)) }

// Find is [Index.Find].
func (p Piped[T]) Find(q Query) *Pending[[]T] { return addTo(p, p.index.find(q)) }

// Insert is [Index.Insert].
func (p Piped[T]) Insert(row T) *Pending[uint64] { return addTo(p, p.index.insert(row)) }

// InsertValues is [Index.InsertValues].
func (p Piped[T]) InsertValues(values ...any) *Pending[uint64] {
	return addTo(p, p.index.insertValues(values))
}

// Update is [Index.Update].
func (p Piped[T]) Update(q Query, set Set) *Pending[int64] {
	return addTo(p, p.index.change(q, OpUpdate, set))
}

// UpdateRow is [Index.UpdateRow].
func (p Piped[T]) UpdateRow(q Query, row T) *Pending[int64] {
	return addTo(p, p.index.updateRow(q, row))
}

// Increment is [Index.Increment].
func (p Piped[T]) Increment(q Query, amounts Set) *Pending[int64] {
	return addTo(p, p.index.change(q, OpIncrement, amounts))
}

// Decrement is [Index.Decrement].
func (p Piped[T]) Decrement(q Query, amounts Set) *Pending[int64] {
	return addTo(p, p.index.change(q, OpDecrement, amounts))
}

// Delete is [Index.Delete].
func (p Piped[T]) Delete(q Query) *Pending[int64] {
	return addTo(p, p.index.modify(q, OpDelete, nil))
}

// FetchUpdate is [Index.FetchUpdate].
func (p Piped[T]) FetchUpdate(q Query, set Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpUpdate, rowsBefore, set))
}

// FetchIncrement is [Index.FetchIncrement].
func (p Piped[T]) FetchIncrement(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpIncrement, rowsBefore, amounts))
}

// FetchDecrement is [Index.FetchDecrement].
func (p Piped[T]) FetchDecrement(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpDecrement, rowsBefore, amounts))
}

// FetchDelete is [Index.FetchDelete].
func (p Piped[T]) FetchDelete(q Query) *Pending[[]T] {
	return addTo(p, p.index.fetchModify(q, OpDelete, rowsBefore, nil))
}

// Modify is [Index.Modify].
func (p Piped[T]) Modify(q Query, op Op, values ...any) *Pending[int64] {
	return addTo(p, p.index.modify(q, op, values))
}

// FetchModify is [Index.FetchModify].
func (p Piped[T]) FetchModify(q Query, op Op, values ...any) *Pending[[]T] {
	return addTo(p, p.index.fetchModify(q, op, rowsBefore, values))
}

// UpdateFetch is [Index.UpdateFetch].
func (p Piped[T]) UpdateFetch(q Query, set Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpUpdate, rowsAfter, set))
}

// IncrementFetch is [Index.IncrementFetch].
func (p Piped[T]) IncrementFetch(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpIncrement, rowsAfter, amounts))
}

// DecrementFetch is [Index.DecrementFetch].
func (p Piped[T]) DecrementFetch(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpDecrement, rowsAfter, amounts))
}

// ModifyFetch is [Index.ModifyFetch].
func (p Piped[T]) ModifyFetch(q Query, op Op, values ...any) *Pending[[]T] {
	return addTo(p, p.index.fetchModify(q, op, rowsAfter, values))
}

// Count is [Index.Count].
func (p Piped[T]) Count(q Query) *Pending[int64] { return addTo(p, p.index.count(q)) }

// Exists is [Index.Exists].
func (p Piped[T]) Exists(q Query) *Pending[bool] { return addTo(p, p.index.exists(q)) }

// InsertMany is [Index.InsertMany].
func (p Piped[T]) InsertMany(rows []T, about Duplicate) *Pending[[]Outcome] {
	return addTo(p, p.index.insertMany(rows, about))
}

// InsertSets is [Index.InsertSets].
func (p Piped[T]) InsertSets(rows []Set, about Duplicate) *Pending[[]Outcome] {
	return addTo(p, p.index.insertSets(rows, about))
}

// Upsert is [Index.Upsert].
func (p Piped[T]) Upsert(row T, changes Set, conditions ...Condition) *Pending[Outcome] {
	return addTo(p, p.index.upsert(row, changes, conditions))
}

// UpsertSet is [Index.UpsertSet].
func (p Piped[T]) UpsertSet(row, changes Set, conditions ...Condition) *Pending[Outcome] {
	return addTo(p, p.index.upsertSet(row, changes, conditions))
}

// UpsertMany is [Index.UpsertMany].
func (p Piped[T]) UpsertMany(rows []T, changes Set, conditions ...Condition) *Pending[[]Outcome] {
	return addTo(p, p.index.upsertMany(rows, changes, conditions))
}

// UpsertSets is [Index.UpsertSets].
func (p Piped[T]) UpsertSets(rows []Set, changes Set, conditions ...Condition) *Pending[[]Outcome] {
	return addTo(p, p.index.upsertSets(rows, changes, conditions))
}
