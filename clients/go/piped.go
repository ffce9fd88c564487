package handlersocket

// Piped has the calls of an Index. Each adds its request to a Pipeline.
type Piped[T any] struct {
	index    *Index[T]
	pipeline *Pipeline
}

// In gives the calls of this index for a Pipeline of its client.
func (x *Index[T]) In(p *Pipeline) Piped[T] { return Piped[T]{x, p} }

func addTo[T, R any](p Piped[T], r request[R]) *Pending[R] {
	if p.index.client != p.pipeline.client && r.err == nil {
		r = failed[R](r.call, usage("the index belongs to another client than the pipeline"))
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
	return addTo(p, p.index.fetchChange(q, OpUpdate, set))
}

// FetchIncrement is [Index.FetchIncrement].
func (p Piped[T]) FetchIncrement(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpIncrement, amounts))
}

// FetchDecrement is [Index.FetchDecrement].
func (p Piped[T]) FetchDecrement(q Query, amounts Set) *Pending[[]T] {
	return addTo(p, p.index.fetchChange(q, OpDecrement, amounts))
}

// FetchDelete is [Index.FetchDelete].
func (p Piped[T]) FetchDelete(q Query) *Pending[[]T] {
	return addTo(p, p.index.fetchModify(q, OpDelete, nil))
}

// Modify is [Index.Modify].
func (p Piped[T]) Modify(q Query, op Op, values ...any) *Pending[int64] {
	return addTo(p, p.index.modify(q, op, values))
}

// FetchModify is [Index.FetchModify].
func (p Piped[T]) FetchModify(q Query, op Op, values ...any) *Pending[[]T] {
	return addTo(p, p.index.fetchModify(q, op, values))
}
