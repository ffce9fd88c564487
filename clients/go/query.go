package handlersocket

import (
	"slices"
	"time"
)

// A Query says which rows are meant: a key, and how it is compared. It is a value: each method
// gives a changed copy.
//
//	handlersocket.Eq(42)
//	handlersocket.Ge("A").Limit(100).While("board", "=", 7)
//	handlersocket.In(1, 5, 9)
//	handlersocket.Range().Ge(40).Lt(50).Down()
type Query struct {
	op  string
	key []any
	// Of a Range: first the lower one. They are behind a slice, because a value that a Query had by itself
	// would take every key to the heap.
	ends  []bound
	limit uint64
	// The limit was given by the caller.
	limited bool
	offset  uint64
	in      []any
	isIn    bool
	inPart  int
	filters []filter
	long    bool
	// Why it cannot be meant. It is no text: a Query that keeps no texts for errors stays on the stack.
	wrong mistake
}

type filter struct {
	kind   byte
	op     string
	column string
	value  any
}

// Eq means the rows with these values of the index's first parts.
func Eq(key ...any) Query { return Query{op: "=", key: key, limit: 1} }

// Gt means the rows behind these values, going up the index.
func Gt(key ...any) Query { return Query{op: ">", key: key, limit: 1} }

// Ge means the rows from these values on, going up the index.
func Ge(key ...any) Query { return Query{op: ">=", key: key, limit: 1} }

// Lt means the rows before these values, going down the index.
func Lt(key ...any) Query { return Query{op: "<", key: key, limit: 1} }

// Le means the rows from these values on, going down the index.
func Le(key ...any) Query { return Query{op: "<=", key: key, limit: 1} }

// In means the rows whose first part of the index is one of the values. Its limit is their number,
// which is enough for a unique index. In without values means no rows, and asks nobody.
func In(values ...any) Query { return Eq("").In(0, values...) }

// In lets one part of the key (counted from 0) take each of the values in turn. What stands in its
// place in the key does not matter. The limit becomes the number of values.
func (q Query) In(part int, values ...any) Query {
	q.isIn, q.inPart, q.in = true, part, values
	q.limit = uint64(len(values))
	return q
}

// Limit is the maximum number of rows, from 1 on; 1 unless it is called, and none for Count.
func (q Query) Limit(n int) Query {
	if n < 1 {
		q.wrong = limitBelowOne
	}
	q.limited = true
	q.limit = uint64(n)
	return q
}

// Offset is the number of rows that are skipped first.
func (q Query) Offset(n int) Query {
	if n < 0 {
		q.wrong = offsetBelowZero
	}
	q.offset = uint64(n)
	return q
}

// Where skips rows for which the condition does not hold. The column is one of the filter columns,
// op is one of = != > >= < <=.
func (q Query) Where(column, op string, value any) Query { return q.filter('F', column, op, value) }

// While ends the find at the first row for which the condition does not hold.
func (q Query) While(column, op string, value any) Query { return q.filter('W', column, op, value) }

func (q Query) filter(kind byte, column, op string, value any) Query {
	q.filters = append(slices.Clip(q.filters), filter{kind, op, column, value})
	return q
}

// Long sends the find over the connection for long finds, so that others do not stand behind it. A
// find with a limit of Config.LongLimit or more goes there by itself.
func (q Query) Long() Query {
	q.long = true
	return q
}

// isEmpty: nothing is IN an empty list.
func (q *Query) isEmpty() bool { return q.isIn && len(q.in) == 0 }

// appendFind appends a find, from the TAB behind the index id on. before is true if a modification
// follows.
func (q *Query) appendFind(to []byte, d *definition, before bool) ([]byte, error) {
	return q.appendSelection(to, d, before, q.limit, 1)
}

// appendSelection appends a find with a limit; usual is that which the server takes if there is none.
func (q *Query) appendSelection(to []byte, d *definition, before bool, limit, usual uint64) ([]byte, error) {
	if q.op == "" {
		return nil, usage("a Query begins with Eq, Gt, Ge, Lt, Le, In or Range")
	}
	isRange, err := q.isRange()
	if err != nil {
		return nil, err
	}
	if len(q.key) == 0 && !isRange {
		return nil, usage("a key has one value at least")
	}
	to = append(append(to, tab), q.op...)
	to = appendNumber(to, uint64(len(q.key)))
	if to, err = appendValues(to, q.key, d.location); err != nil {
		return nil, err
	}
	if isRange {
		if to, err = q.appendEnds(to, d); err != nil {
			return nil, err
		}
	}
	clause := before || q.isIn || len(q.filters) > 0
	if clause || limit != usual || q.offset != 0 {
		to = appendNumber(to, limit)
	}
	if clause || q.offset != 0 {
		to = appendNumber(to, q.offset)
	}
	if q.isIn {
		if q.inPart < 0 || q.inPart >= len(q.key) {
			return nil, usage("In is for part %d of a key that has %d", q.inPart, len(q.key))
		}
		to = append(to, tab, '@')
		to = appendNumber(to, uint64(q.inPart))
		to = appendNumber(to, uint64(len(q.in)))
		if to, err = appendValues(to, q.in, d.location); err != nil {
			return nil, err
		}
	}
	return appendFilters(to, d, q.filters)
}

func appendFilters(to []byte, d *definition, filters []filter) ([]byte, error) {
	var err error
	for _, f := range filters {
		switch f.op {
		case "=", "!=", ">", ">=", "<", "<=":
		default:
			return nil, usage("%q is no operator of a filter", f.op)
		}
		column := slices.Index(d.filters, f.column)
		if column < 0 {
			return nil, usage("%s is none of the filter columns of this index", f.column)
		}
		to = append(to, tab, f.kind, tab)
		to = append(to, f.op...)
		to = appendNumber(to, uint64(column))
		if to, err = appendValue(to, f.value, d.location); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func appendValues(to []byte, values []any, place *time.Location) ([]byte, error) {
	var err error
	for _, value := range values {
		if to, err = appendValue(to, value, place); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// An Op is a modification of the rows that a Query means.
type Op string

// The modifications of Index.Modify.
const (
	OpUpdate    Op = "U"
	OpDelete    Op = "D"
	OpIncrement Op = "+"
	OpDecrement Op = "-"

	// opLocking changes nothing: Grouped.Lock has it.
	opLocking Op = "lock"
)

// rowsAnswered says which rows a modification answers: the mark behind its letter.
type rowsAnswered string

const (
	noRows     rowsAnswered = ""
	rowsBefore rowsAnswered = "?"
	rowsAfter  rowsAnswered = "!"
)

// appendModify appends a find and what is done with its rows.
func (q *Query) appendModify(to []byte, d *definition, op Op, rows rowsAnswered, values []any) ([]byte, error) {
	switch op {
	case OpUpdate, OpIncrement, OpDecrement:
	case opLocking:
	case OpDelete:
		if len(values) > 0 {
			return nil, usage("a deletion takes no values")
		}
		if rows == rowsAfter {
			return nil, usage("a row that is deleted is not there afterwards")
		}
	default:
		return nil, usage("%q is no modification", op)
	}
	if len(values) > len(d.columns) {
		return nil, usage("%d values for an index that was opened with %d columns", len(values), len(d.columns))
	}
	to, err := q.appendFind(to, d, true)
	if err != nil {
		return nil, err
	}
	to = append(append(append(to, tab), op...), rows...)
	return appendValues(to, values, d.location)
}

// appendSet appends a find and what its rows are assigned.
func (q *Query) appendSet(to []byte, d *definition, rows rowsAnswered, all []assigned) ([]byte, error) {
	to, err := q.appendFind(to, d, true)
	if err != nil {
		return nil, err
	}
	to = append(append(to, "\tset"...), rows...)
	return appendAssignments(to, d, all, false)
}

// appendCount appends a find and that only the number of its rows is wanted.
func (q *Query) appendCount(to []byte, d *definition) ([]byte, error) {
	limit := uint64(0)
	if q.limited {
		limit = q.limit
	}
	to, err := q.appendSelection(to, d, false, limit, 0)
	return append(to, "\tC"...), err
}

// appendExists appends a find and that it is only asked whether there is a row.
func (q *Query) appendExists(to []byte, d *definition) ([]byte, error) {
	if q.limited {
		return nil, usage("whether there is a row does not depend on a limit")
	}
	to, err := q.appendSelection(to, d, false, 1, 1)
	return append(to, "\tE"...), err
}

// appendInsert appends an insert.
func appendInsert(to []byte, d *definition, values []any) ([]byte, error) {
	if len(values) == 0 {
		return nil, usage("an insert has one value at least")
	}
	if len(values) > len(d.columns) {
		return nil, usage("%d values for an index that was opened with %d columns", len(values), len(d.columns))
	}
	to = append(to, tab, '+')
	to = appendNumber(to, uint64(len(values)))
	return appendValues(to, values, d.location)
}
