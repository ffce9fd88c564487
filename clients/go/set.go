package handlersocket

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Values by the names of their columns, and the index that they need.

// A Set says which columns get which values.
type Set map[string]any

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
	if known, ok := x.known.derived.Load(key); ok {
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
	x.known.derived.Store(key, found{d, p})
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
