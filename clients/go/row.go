package handlersocket

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// A Row is one row as the server sent it: the text that a SQL client would see, value by value. If its
// index was made of a [Description], [Row.Value] gives values with types.
type Row struct {
	def    *definition
	values [][]byte
}

// Len is the number of values.
func (r Row) Len() int { return len(r.values) }

// Columns gives the names of the columns.
func (r Row) Columns() []string { return slices.Clone(r.def.columns) }

// Bytes gives the value at a position, nil for NULL. It belongs to the row.
func (r Row) Bytes(i int) []byte { return r.values[i] }

// IsNull says whether the value at a position is NULL.
func (r Row) IsNull(i int) bool { return r.values[i] == nil }

// String gives the value at a position as text, and an empty text for NULL.
func (r Row) String(i int) string { return string(r.values[i]) }

// Named gives the value of a column, nil for NULL, and whether there is such a column.
func (r Row) Named(column string) ([]byte, bool) {
	i := slices.Index(r.def.columns, column)
	if i < 0 {
		return nil, false
	}
	return r.values[i], true
}

// Int64 reads the value at a position.
func (r Row) Int64(i int) (int64, error) { return readAs[int64](r, i) }

// Uint64 reads the value at a position.
func (r Row) Uint64(i int) (uint64, error) { return readAs[uint64](r, i) }

// Float64 reads the value at a position.
func (r Row) Float64(i int) (float64, error) { return readAs[float64](r, i) }

// Time reads the value at a position, as a time of Config.Location.
func (r Row) Time(i int) (time.Time, error) { return readAs[time.Time](r, i) }

// Duration reads the value at a position, which a TIME column has.
func (r Row) Duration(i int) (time.Duration, error) { return readAs[time.Duration](r, i) }

// Scan reads the values into what the pointers point to, from the first column on.
func (r Row) Scan(to ...any) error {
	if len(to) > len(r.values) {
		return usage("%d values are wanted, and the row has %d", len(to), len(r.values))
	}
	for i, target := range to {
		pointer := reflect.ValueOf(target)
		if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
			return usage("value %d is to be read into a %T, which is no pointer", i, target)
		}
		set, err := setterFor(pointer.Type().Elem())
		if err != nil {
			return err
		}
		if err := set(pointer.Elem(), r.values[i], r.def.location); err != nil {
			return inColumn(err, r.def.columns[i])
		}
	}
	return nil
}

func readAs[T any](r Row, i int) (T, error) {
	var value T
	set, err := setterFor(reflect.TypeFor[T]())
	if err == nil {
		err = set(reflect.ValueOf(&value).Elem(), r.values[i], r.def.location)
	}
	if err != nil {
		return value, inColumn(err, r.def.columns[i])
	}
	return value, nil
}

func inColumn(err error, column string) error {
	if e, ok := err.(*Error); ok {
		e.words = "column " + column + ": " + e.words
	}
	return err
}

// A plan says how rows with these columns become values of one type.
type plan struct {
	// The fields in the order of the columns. Nil for Row.
	fields []plannedField
	// How many of them are texts.
	texts int
}

type plannedField struct {
	path []int
	// The field itself, if it is not in a struct within the struct.
	direct int
	set    setter
	// It is a text and nothing else.
	text bool
}

// A structField is a field of a program's struct that stands for a column.
type structField struct {
	column string
	path   []int
	// The server gives the value if the field has its zero value.
	auto bool
	kind reflect.Type
}

type structInfo struct {
	fields []structField
	err    error
}

var structInfos sync.Map // reflect.Type to *structInfo

func infoOf(t reflect.Type) *structInfo {
	if known, ok := structInfos.Load(t); ok {
		return known.(*structInfo)
	}
	info := &structInfo{}
	if t.Kind() != reflect.Struct {
		info.err = usage("a row cannot be a %s: it is a struct or a Row", t)
	} else {
		info.collect(t, nil)
	}
	if info.err == nil && len(info.fields) == 0 {
		info.err = usage("the struct %s has no field for a column", t)
	}
	known, _ := structInfos.LoadOrStore(t, info)
	return known.(*structInfo)
}

func (s *structInfo) collect(t reflect.Type, path []int) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("hs")
		here := append(slices.Clone(path), i)
		if field.Anonymous && !tagged && field.Type.Kind() == reflect.Struct {
			s.collect(field.Type, here)
			continue
		}
		if !field.IsExported() || tag == "-" {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if name == "" {
			name = columnName(field.Name)
		}
		if option != "" && option != "auto" {
			s.err = usage("the tag of %s.%s has an unknown option %q", t, field.Name, option)
			return
		}
		if slices.ContainsFunc(s.fields, func(other structField) bool { return other.column == name }) {
			s.err = usage("two fields of %s stand for the column %s", t, name)
			return
		}
		s.fields = append(s.fields, structField{name, here, option == "auto", field.Type})
	}
}

// columnName makes user_id of UserID.
func columnName(field string) string {
	var b strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		if unicode.IsUpper(r) {
			afterLower := i > 0 && !unicode.IsUpper(runes[i-1])
			beforeLower := i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// planFor makes the plan for rows with these columns.
func planFor(t reflect.Type, columns []string) (*plan, error) {
	if t == reflect.TypeFor[Row]() {
		return &plan{}, nil
	}
	info := infoOf(t)
	if info.err != nil {
		return nil, info.err
	}
	p := &plan{}
	for _, column := range columns {
		at := slices.IndexFunc(info.fields, func(f structField) bool { return f.column == column })
		if at < 0 {
			return nil, usage("no field of %s stands for the column %s", t, column)
		}
		field := info.fields[at]
		set, err := setterFor(field.kind)
		if err != nil {
			return nil, inColumn(err, column)
		}
		direct := -1
		if len(field.path) == 1 {
			direct = field.path[0]
		}
		text := isText(field.kind)
		if text {
			p.texts++
		}
		p.fields = append(p.fields, plannedField{field.path, direct, set, text})
	}
	return p, nil
}

// rowsOf reads all rows of a reply's values. The values become part of Rows: they are not used again.
func rowsOf[T any](d *definition, p *plan, values tokens) ([]T, error) {
	if !values.more {
		return nil, nil
	}
	if len(d.columns) == 0 {
		return nil, wrongReply("there are values, and the index was opened without columns")
	}
	var rows []T
	for values.more {
		rows = append(rows, *new(T))
		if err := readRow(d, p, &values, &rows[len(rows)-1]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// readRow reads one row; there is at least one value.
func readRow[T any](d *definition, p *plan, values *tokens, to *T) error {
	if row, ok := any(to).(*Row); ok {
		return readRaw(d, values, row)
	}
	var few [16][]byte
	found := few[:0]
	all := values.rest
	for range p.fields {
		if !values.more {
			return wrongReply("the values do not fill rows of %d columns", len(p.fields))
		}
		value, err := unescape(values.next())
		if err != nil {
			return wrongReply("%s", err)
		}
		found = append(found, value)
	}
	// The texts of a row share one string, unless it is so long that one of them should not keep all.
	shared := ""
	if size := len(all) - len(values.rest); p.texts > 1 && size <= mostShared {
		shared = string(all[:size])
	}
	target := reflect.ValueOf(to).Elem()
	for i := range p.fields {
		f := &p.fields[i]
		field := target
		if f.direct >= 0 {
			field = target.Field(f.direct)
		} else {
			field = target.FieldByIndex(f.path)
		}
		if f.text && shared != "" && found[i] != nil {
			from := cap(all) - cap(found[i])
			field.SetString(shared[from : from+len(found[i])])
		} else if err := f.set(field, found[i], d.location); err != nil {
			return inColumn(err, d.columns[i])
		}
	}
	return nil
}

// Rows up to this size have one string for all their texts.
const mostShared = 512

func readRaw(d *definition, values *tokens, row *Row) error {
	row.def = d
	row.values = make([][]byte, len(d.columns))
	for i := range row.values {
		if !values.more {
			return wrongReply("the values do not fill rows of %d columns", len(d.columns))
		}
		value, err := unescape(values.next())
		if err != nil {
			return wrongReply("%s", err)
		}
		row.values[i] = value
	}
	return nil
}

func wrongReply(format string, arguments ...any) *Error {
	e := usage(format, arguments...)
	e.Kind = ErrProtocol
	e.Sent = true
	e.words = "no reply to the request: " + strconv.Quote(e.words)
	return e
}
