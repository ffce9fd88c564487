package handlersocket

import (
	"context"
	"maps"
	"slices"
)

// Duplicate says what is done about a row that is there already, because it has the value of a new
// one in a primary or unique key.
type Duplicate string

// What can be done about it.
const (
	// DuplicateFail fails the request: none of its rows is inserted.
	DuplicateFail Duplicate = "fail"
	// DuplicateIgnore leaves the new row out.
	DuplicateIgnore Duplicate = "ignore"
	// DuplicateReplace deletes the row that is there.
	DuplicateReplace Duplicate = "replace"
)

// Done is what was done of a row.
type Done string

// What can have been done.
const (
	DoneInserted  Done = "inserted"
	DoneUpdated   Done = "updated"
	DoneUnchanged Done = "unchanged"
	DoneIgnored   Done = "ignored"
	DoneReplaced  Done = "replaced"
	DoneUnmet     Done = "unmet"
)

// An Outcome says what was done of a row. ID is the AUTO_INCREMENT value of the row that is in the
// table now, as [Index.Insert] gives it; 0 if there is none.
type Outcome struct {
	Done Done
	ID   uint64
}

// A Condition has to hold for a row that is there, or an upsert leaves it as it is.
type Condition struct{ filter filter }

// If is a Condition on one of the index's filter columns; op is one of = != > >= < <=.
func If(column, op string, value any) Condition { return Condition{filter{'F', op, column, value}} }

// InsertMany adds rows: all of them or none. It says what was done of each.
func (x *Index[T]) InsertMany(ctx context.Context, rows []T, about Duplicate) ([]Outcome, error) {
	return do(ctx, x.client, x.insertMany(rows, about))
}

// InsertSets is InsertMany with the values of columns by their names, the same ones in each row.
func (x *Index[T]) InsertSets(ctx context.Context, rows []Set, about Duplicate) ([]Outcome, error) {
	return do(ctx, x.client, x.insertSets(rows, about))
}

// Upsert adds a row, or makes the changes to the one that is there, if that meets the conditions.
func (x *Index[T]) Upsert(ctx context.Context, row T, changes Set, conditions ...Condition) (Outcome, error) {
	return do(ctx, x.client, x.upsert(row, changes, conditions))
}

// UpsertSet is Upsert with the values of columns by their names.
func (x *Index[T]) UpsertSet(ctx context.Context, row, changes Set, conditions ...Condition) (Outcome, error) {
	return do(ctx, x.client, x.upsertSet(row, changes, conditions))
}

// UpsertMany is Upsert with several rows: all of it is done or nothing.
func (x *Index[T]) UpsertMany(ctx context.Context, rows []T, changes Set, conditions ...Condition) ([]Outcome, error) {
	return do(ctx, x.client, x.upsertMany(rows, changes, conditions))
}

// UpsertSets is UpsertMany with the values of columns by their names, the same ones in each row.
func (x *Index[T]) UpsertSets(ctx context.Context, rows []Set, changes Set, conditions ...Condition) ([]Outcome, error) {
	return do(ctx, x.client, x.upsertSets(rows, changes, conditions))
}

// newRows are rows that are to be inserted.
type newRows struct {
	columns []string
	rows    [][]any
	about   Duplicate
	// Of an upsert; otherwise there are none.
	changes    Set
	conditions []Condition
}

func (x *Index[T]) insertMany(rows []T, about Duplicate) request[[]Outcome] {
	n, err := x.newRows(rows)
	n.about = about
	return x.insertRows(n, err, opInsert)
}

func (x *Index[T]) insertSets(rows []Set, about Duplicate) request[[]Outcome] {
	n, err := newRowsOf(rows)
	n.about = about
	return x.insertRows(n, err, opInsert)
}

func (x *Index[T]) upsertMany(rows []T, changes Set, conditions []Condition) request[[]Outcome] {
	n, err := x.newRows(rows)
	return x.insertOrChange(n, err, changes, conditions)
}

func (x *Index[T]) upsertSets(rows []Set, changes Set, conditions []Condition) request[[]Outcome] {
	n, err := newRowsOf(rows)
	return x.insertOrChange(n, err, changes, conditions)
}

func (x *Index[T]) upsert(row T, changes Set, conditions []Condition) request[Outcome] {
	return onlyOne(x.upsertMany([]T{row}, changes, conditions))
}

func (x *Index[T]) upsertSet(row, changes Set, conditions []Condition) request[Outcome] {
	return onlyOne(x.upsertSets([]Set{row}, changes, conditions))
}

func onlyOne(many request[[]Outcome]) request[Outcome] {
	return request[Outcome]{call: many.call, route: many.route, err: many.err, read: func(k *call) (Outcome, error) {
		all, err := many.read(k)
		if err != nil {
			return Outcome{}, err
		}
		return all[0], nil
	}}
}

func (x *Index[T]) newRows(rows []T) (newRows, error) {
	if x.err != nil {
		return newRows{}, x.err
	}
	n := newRows{columns: x.definition.columns}
	for _, row := range rows {
		values, err := valuesOfRow(row, n.columns)
		if err != nil {
			return n, err
		}
		n.rows = append(n.rows, values)
	}
	return n, nil
}

// newRowsOf gives rows with the columns that all of them name.
func newRowsOf(rows []Set) (newRows, error) {
	var n newRows
	for _, row := range rows {
		names := slices.Sorted(maps.Keys(row))
		if n.rows == nil {
			n.columns = names
		} else if !slices.Equal(n.columns, names) {
			return n, usage("the rows of an insert name the same columns")
		}
		values := make([]any, len(names))
		for i, name := range names {
			values[i] = row[name]
		}
		n.rows = append(n.rows, values)
	}
	return n, nil
}

func (x *Index[T]) insertOrChange(
	n newRows, err error, changes Set, conditions []Condition,
) request[[]Outcome] {
	if err == nil && len(changes) == 0 {
		err = usage("an upsert has one change at least")
	}
	n.changes, n.conditions = changes, conditions
	return x.insertRows(n, err, opUpsert)
}

func (x *Index[T]) insertRows(n newRows, err error, op operation) request[[]Outcome] {
	if x.err != nil {
		err = x.err
	}
	if err != nil {
		return failed[[]Outcome](nil, err)
	}
	var d *definition
	var changes []assigned
	if len(n.changes) > 0 {
		d, changes, err = x.assign(n.columns, n.changes)
	} else {
		d, err = x.withColumns(n.columns)
	}
	if err != nil {
		return failed[[]Outcome](nil, err)
	}
	k := x.newCall(d, kindInsertRows, op)
	line, err := n.appendTo(k.request, d, changes)
	if err != nil {
		return failed[[]Outcome](k, err)
	}
	k.request = append(line, lf)
	count := len(n.rows)
	read := func(k *call) ([]Outcome, error) { return readOutcomes(k, count) }
	return request[[]Outcome]{call: k, route: RouteWrite, read: read}
}

// appendTo appends the request behind the index id.
func (n *newRows) appendTo(to []byte, d *definition, changes []assigned) ([]byte, error) {
	if len(n.rows) == 0 || len(n.rows[0]) == 0 {
		return nil, usage("an insert has one row with one value at least")
	}
	to = append(to, "\tinsert"...)
	to = appendNumber(to, uint64(len(n.rows)))
	to = appendNumber(to, uint64(len(n.rows[0])))
	var err error
	for _, row := range n.rows {
		if len(row) != len(n.rows[0]) {
			return nil, usage("the rows of an insert have as many values each")
		}
		if to, err = appendValues(to, row, d.location); err != nil {
			return nil, err
		}
	}
	if len(changes) == 0 {
		switch n.about {
		case DuplicateFail, "":
			return to, nil
		case DuplicateIgnore, DuplicateReplace:
			return append(append(to, "\telse\t"...), n.about...), nil
		}
		return nil, usage("%q is nothing that can be done about a row that is there", string(n.about))
	}
	to = append(to, "\telse\tupdate"...)
	if to, err = appendAssignments(to, d, changes, true); err != nil {
		return nil, err
	}
	filters := make([]filter, len(n.conditions))
	for i, condition := range n.conditions {
		filters[i] = condition.filter
	}
	return appendFilters(to, d, filters)
}

func readOutcomes(k *call, count int) ([]Outcome, error) {
	wrong := wrongReply("what was done of each row was expected")
	values := k.values()
	outcomes := make([]Outcome, count)
	for i := range outcomes {
		if !values.more {
			return nil, wrong
		}
		done := Done(values.next())
		switch done {
		case DoneInserted, DoneUpdated, DoneUnchanged, DoneIgnored, DoneReplaced, DoneUnmet:
		default:
			return nil, wrong
		}
		if !values.more {
			return nil, wrong
		}
		id, ok := idOf(values.next(), true)
		if !ok {
			return nil, wrong
		}
		outcomes[i] = Outcome{done, id}
	}
	if values.more {
		return nil, wrong
	}
	k.rows = int64(count)
	return outcomes, nil
}
