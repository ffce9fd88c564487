package handlersocket

import (
	"context"
	"math"
	"slices"
)

// Descriptions: what a server says of the columns of an index.

// A Description is what the server has said of an index, at one moment.
type Description struct {
	// What was described.
	Database, Table, Index string
	// Columns are those that rows have, Filters the filter columns, and Key are the parts of the index.
	Columns, Filters, Key []Column
}

// A Column is what the server says of a column, or of a part of an index.
type Column struct {
	// Name is empty if it is a part of an index that is an expression.
	Name string
	// Type is as SQL writes it, such as varchar(50) or int(10) unsigned. It is empty if the server says no
	// more than the name, of a column that the account may not see or that the table has no more.
	Type string
	// Charset is the character set. It is empty if the values are bytes or no text.
	Charset string

	nullable, unsigned told[bool]
	decimals           told[int]
}

// told is what the server may leave out.
type told[T any] struct {
	value T
	ok    bool
}

// Nullable says whether the column may be NULL, if the server has told it.
func (c Column) Nullable() (nullable, ok bool) { return c.nullable.value, c.nullable.ok }

// Unsigned says whether the column has no negative values, if the server has told it.
func (c Column) Unsigned() (unsigned, ok bool) { return c.unsigned.value, c.unsigned.ok }

// Decimals is the number of digits behind the point or in a second, if the server has told it.
func (c Column) Decimals() (decimals int, ok bool) { return c.decimals.value, c.decimals.ok }

const (
	// What stands in the place of the columns' names.
	allColumns = "*"
	// How many values the description of a column has.
	describedWidth = 7
)

// Describe asks the server for the columns of an index and their types. Without Columns it asks for all
// that the table has now. The original answers an error with [TextCmd]: then the program has to know the
// types.
func (c *Client) Describe(ctx context.Context, spec IndexSpec) (*Description, error) {
	if len(spec.Columns) == 0 || len(spec.Columns) == 1 && spec.Columns[0] == allColumns {
		spec.all, spec.Columns = true, []string{allColumns}
	}
	spec.types = nil
	d, err := c.define(spec)
	if err != nil {
		return nil, err
	}
	k := newCall(d, kindDescribe, opDescribe)
	k.front, k.request = "D\t", append(k.request, lf)
	read := func(k *call) (*Description, error) { return readDescription(k, spec.all) }
	return do(ctx, c, request[*Description]{call: k, route: c.routeToAsk(), read: read})
}

// Spec is the index with its columns, by their names, and their types. [Row.Value] of its rows gives values
// of these types. A struct is read as ever.
//
//	users := client.Index(description.Spec())
func (d *Description) Spec() IndexSpec {
	spec := IndexSpec{Database: d.Database, Table: d.Table, Index: d.Index, types: map[string]valueKind{}}
	for i := range d.Columns {
		spec.Columns = append(spec.Columns, d.Columns[i].Name)
		spec.types[d.Columns[i].Name] = d.Columns[i].kind()
	}
	for i := range d.Filters {
		spec.Filters = append(spec.Filters, d.Filters[i].Name)
	}
	return spec
}

func readDescription(k *call, all bool) (*Description, error) {
	// If it was open already, and could not be opened again, what is described is what it was.
	if k.opening != nil && k.opening.err != nil {
		return nil, k.opening.refusal()
	}
	d := &Description{Database: k.definition.database, Table: k.definition.table, Index: k.definition.index}
	kinds := [...]struct {
		word string
		to   *[]Column
	}{{"column", &d.Columns}, {"filter", &d.Filters}, {"key", &d.Key}}
	at := 0
	for values := k.values(); values.more; k.rows++ {
		word := textOf(values.next())
		for at < len(kinds) && kinds[at].word != word {
			at++
		}
		column, ok := readColumn(&values)
		if at == len(kinds) || !ok || column.Name == "" && word != "key" {
			return nil, wrongReply("a description was expected")
		}
		*kinds[at].to = append(*kinds[at].to, column)
	}
	if !all && !isNamed(d.Columns, k.definition.columns) || !isNamed(d.Filters, k.definition.filters) || len(d.Key) == 0 {
		return nil, wrongReply("the description is not that of the index")
	}
	return d, nil
}

func isNamed(columns []Column, names []string) bool {
	return slices.EqualFunc(columns, names, func(c Column, name string) bool { return c.Name == name })
}

// readColumn reads what stands behind the kind.
func readColumn(values *tokens) (Column, bool) {
	var said [describedWidth - 1][]byte
	for i := range said {
		if !values.more {
			return Column{}, false
		}
		var err error
		if said[i], err = unescape(values.next()); err != nil {
			return Column{}, false
		}
	}
	c := Column{Name: string(said[0]), Type: string(said[1]), Charset: string(said[5])}
	var ok [3]bool
	c.nullable, ok[0] = toldBool(said[2])
	c.unsigned, ok[1] = toldBool(said[3])
	c.decimals, ok[2] = toldInt(said[4])
	return c, ok == [3]bool{true, true, true}
}

func toldBool(value []byte) (told[bool], bool) {
	n, ok := toldInt(value)
	return told[bool]{n.value == 1, n.ok}, ok && n.value <= 1
}

func toldInt(value []byte) (told[int], bool) {
	if value == nil {
		return told[int]{}, true
	}
	n, ok := number(value)
	return told[int]{int(n), true}, ok && n <= math.MaxInt32
}
