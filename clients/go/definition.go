package handlersocket

import (
	"strings"
	"time"
)

// An IndexSpec names an index of a table, and what is wanted of its rows.
type IndexSpec struct {
	// Database is Config.Database if it is empty.
	Database string
	Table    string
	// Index is PRIMARY if it is empty.
	Index string
	// Columns are those that rows have. IndexOf takes those of the struct if there are none.
	Columns []string
	// Filters are the columns that Query.Where and Query.While may name.
	Filters []string

	// All columns that the server has, which only Describe may ask for.
	all bool
	// How values are read, by the names of their columns; nil: they are bytes.
	types map[string]valueKind
}

// A definition is an index as connections open it. A client has one for all uses of the same names.
type definition struct {
	database, table, index string
	columns, filters       []string
	location               *time.Location
	// Its place among the definitions of the client.
	number int
	// What a P has behind the index id.
	open []byte
	// How values are read, column by column; nil: they are bytes.
	types []valueKind
}

// where names what a request with this error was about, for people: names alone, and never values. The columns are
// named if one of them is not there.
func (d *definition) where(text string) string {
	if d.table == "" {
		return ""
	}
	where := d.database + "." + d.table
	if d.index != "" {
		where += ", index " + d.index
	}
	if text != TextNoColumn || d.hasAllColumns() {
		return where
	}
	where += ", columns " + strings.Join(d.columns, ", ")
	if len(d.filters) > 0 {
		where += ", filter columns " + strings.Join(d.filters, ", ")
	}
	return where
}

// hasAllColumns says whether it stands for what the server has.
func (d *definition) hasAllColumns() bool { return len(d.columns) == 1 && d.columns[0] == allColumns }

// typed is the same index on a connection, with types for its values.
func (d *definition) typed(types map[string]valueKind) *definition {
	with := *d
	with.types = make([]valueKind, len(d.columns))
	for i, column := range d.columns {
		with.types[i] = types[column]
	}
	return &with
}

// key tells it from all others.
func (s *IndexSpec) key() string {
	return strings.Join([]string{
		s.Database, s.Table, s.Index, strings.Join(s.Columns, ","), strings.Join(s.Filters, ","),
	}, "\t")
}

var errNoDatabase = usage("no database is named, and Config.Database is empty")

// check refuses names that would break the line of a P.
func (s *IndexSpec) check() error {
	for _, name := range []struct{ what, text string }{
		{"database", s.Database}, {"table", s.Table}, {"index", s.Index},
	} {
		if err := checkName(name.what, name.text); err != nil {
			return err
		}
	}
	if s.Table == "" {
		return usage("the table has no name")
	}
	if !s.all && len(s.Columns) == 1 && s.Columns[0] == allColumns {
		return usage("all columns are asked for by Describe, and an index has those of the Description")
	}
	for _, columns := range [][]string{s.Columns, s.Filters} {
		for _, column := range columns {
			if column == "" || strings.ContainsAny(column, "\t\n\r\x00,") {
				return usage("the name of a column cannot be empty, or contain TAB, LF, CR, NUL or a comma: %q", column)
			}
		}
	}
	return nil
}

func newDefinition(s *IndexSpec, location *time.Location) *definition {
	d := &definition{
		database: s.Database, table: s.Table, index: s.Index,
		columns: s.Columns, filters: s.Filters, location: location,
	}
	for _, name := range []string{s.Database, s.Table, s.Index, strings.Join(s.Columns, ",")} {
		d.open = append(append(d.open, tab), name...)
	}
	if len(s.Filters) > 0 {
		d.open = append(append(d.open, tab), strings.Join(s.Filters, ",")...)
	}
	d.open = append(d.open, lf)
	return d
}
