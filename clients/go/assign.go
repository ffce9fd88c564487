package handlersocket

import (
	"maps"
	"slices"
	"strings"
)

// An Assignment says what becomes of a column, where that is more than a value. It stands in the
// place of a value in the Set of an update, or of the changes of an upsert. A column that is NULL
// stays so, but for Default, Now and Inserted.
type Assignment struct {
	how    string
	values []any
}

// Default gives the column its default.
func Default() Assignment { return Assignment{"default", []any{""}} }

// Now gives the column the server's current time.
func Now() Assignment { return Assignment{"now", []any{""}} }

// Inserted gives the column, in an upsert, what the new row would have had.
func Inserted() Assignment { return Assignment{"new", []any{""}} }

// Add adds to the column.
func Add(amount any) Assignment { return Assignment{"+", []any{amount}} }

// AddWithin adds to the column. A sum below low becomes low, one above high becomes high; nil is no
// such bound.
func AddWithin(amount, low, high any) Assignment { return Assignment{"+[", []any{amount, low, high}} }

// Subtract subtracts from the column. It may cross zero.
func Subtract(amount any) Assignment { return Assignment{"-", []any{amount}} }

// SubtractWithin subtracts from the column, within bounds as AddWithin does.
func SubtractWithin(amount, low, high any) Assignment {
	return Assignment{"-[", []any{amount, low, high}}
}

// Append writes a text behind the column's.
func Append(text any) Assignment { return Assignment{"append", []any{text}} }

// Prepend writes a text in front of the column's.
func Prepend(text any) Assignment { return Assignment{"prepend", []any{text}} }

// Max gives the column the greater value: this one or its own.
func Max(value any) Assignment { return Assignment{"max", []any{value}} }

// Min gives the column the less value: this one or its own.
func Min(value any) Assignment { return Assignment{"min", []any{value}} }

// BitAnd keeps the bits that the value has, too.
func BitAnd(value any) Assignment { return Assignment{"&", []any{value}} }

// BitOr sets the bits of the value.
func BitOr(value any) Assignment { return Assignment{"|", []any{value}} }

// BitXor turns the bits of the value over.
func BitXor(value any) Assignment { return Assignment{"^", []any{value}} }

// hasAssignments says whether one of the values is more than a value.
func (s Set) hasAssignments() bool {
	for _, value := range s {
		if _, is := value.(Assignment); is {
			return true
		}
	}
	return false
}

// An assigned is a column, by its position in an index, and what becomes of it.
type assigned struct {
	column int
	value  any
}

// appendAssignments appends how many there are, and each of them.
func appendAssignments(to []byte, d *definition, all []assigned, ofUpsert bool) ([]byte, error) {
	to = appendNumber(to, uint64(len(all)))
	for _, one := range all {
		assignment, is := one.value.(Assignment)
		switch {
		case !is:
			assignment = Assignment{"=", []any{one.value}}
		case assignment.how == "":
			return nil, usage("an Assignment is made by Default, Now, Add and so on")
		case assignment.how == "new" && !ofUpsert:
			return nil, usage("only an upsert has a new row: Inserted belongs there")
		}
		to = appendNumber(to, uint64(one.column))
		to = append(append(to, tab), assignment.how...)
		var err error
		if to, err = appendValues(to, assignment.values, d.location); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// assign gives the index that has these columns and those of a Set, and where the Set's are. They are
// assigned in the order of their names.
func (x *Index[T]) assign(columns []string, set Set) (*definition, []assigned, error) {
	if x.err != nil {
		return nil, nil, x.err
	}
	if len(set) == 0 {
		return nil, nil, usage("the Set has no column")
	}
	all := columns
	assignments := make([]assigned, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		column := slices.Index(all, name)
		if column < 0 {
			column = len(all)
			all = append(slices.Clip(all), name)
		}
		assignments = append(assignments, assigned{column, set[name]})
	}
	d, err := x.withColumns(all)
	return d, assignments, err
}

// withColumns gives the same index with other columns.
func (x *Index[T]) withColumns(columns []string) (*definition, error) {
	if slices.Equal(columns, x.definition.columns) {
		return x.definition, nil
	}
	key := strings.Join(columns, ",")
	if known, ok := x.known.others.Load(key); ok {
		return known.(*definition), nil
	}
	spec := x.spec
	spec.Columns = columns
	d, err := x.client.define(spec)
	if err == nil {
		x.known.others.Store(key, d)
	}
	return d, err
}
