package handlersocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// Descriptions, and the values of an index that was made of one.

type columnVector struct {
	Name, Type, Charset *byteText
	Nullable, Unsigned  *bool
	Decimals            *int
}

type describedVector struct {
	Columns       []columnVector
	FilterColumns []columnVector `json:"filter_columns"`
	Key           []columnVector
}

func (v *columnVector) column() Column {
	text := func(b *byteText) string {
		if b == nil {
			return ""
		}
		return b.String()
	}
	c := Column{Name: text(v.Name), Type: text(v.Type), Charset: text(v.Charset)}
	if v.Nullable != nil {
		c.nullable = told[bool]{*v.Nullable, true}
	}
	if v.Unsigned != nil {
		c.unsigned = told[bool]{*v.Unsigned, true}
	}
	if v.Decimals != nil {
		c.decimals = told[int]{*v.Decimals, true}
	}
	return c
}

func (v *describedVector) check(got *Description) error {
	for _, one := range []struct {
		got  []Column
		want []columnVector
	}{{got.Columns, v.Columns}, {got.Filters, v.FilterColumns}, {got.Key, v.Key}} {
		var want []Column
		for i := range one.want {
			want = append(want, one.want[i].column())
		}
		if !reflect.DeepEqual(one.got, want) {
			return fmt.Errorf("%+v, and not %+v", one.got, want)
		}
	}
	return nil
}

type descriptionVector struct {
	Why           string
	Line          byteText
	Columns       []byteText
	FilterColumns []byteText `json:"filter_columns"`
	Described     *describedVector
	NoReply       bool `json:"no_reply"`
	Error         *struct {
		Code int
		Text string
	}
}

// read reads the line as the reply to a call that has asked for these columns.
func (v *descriptionVector) read() (*Description, error) {
	names := func(texts []byteText) []string {
		var all []string
		for _, text := range texts {
			all = append(all, text.String())
		}
		return all
	}
	d := &definition{columns: names(v.Columns), filters: names(v.FilterColumns), location: time.UTC}
	k := newCall(d, kindDescribe, opDescribe)
	if !k.answer(bytes.Clone(bytes.TrimSuffix(v.Line.bytes, []byte{lf}))) {
		return nil, wrongReply("header")
	}
	if k.code != 0 {
		return nil, k.refusal()
	}
	return readDescription(k, v.Columns == nil)
}

func TestDescriptions(t *testing.T) {
	vectors := loadVectors[json.RawMessage](t, "descriptions")
	for _, data := range vectors {
		var v descriptionVector
		decodeWhole(t, data, &v)
		got, err := v.read()
		var e *Error
		switch {
		case v.NoReply:
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%s: %+v, %v", v.Why, got, err)
			}
		case v.Error != nil:
			if !errors.As(err, &e) || !errors.Is(err, ErrReply) || e.Code != v.Error.Code || e.Text != v.Error.Text {
				t.Errorf("%s: %v", v.Why, err)
			}
		case err != nil || v.Described == nil:
			t.Errorf("%s: %v", v.Why, err)
		default:
			if err := v.Described.check(got); err != nil {
				t.Errorf("%s: %v", v.Why, err)
			}
		}
	}
}

// The rows of a description have seven values, and the reply says so.
func TestAnotherWidth(t *testing.T) {
	for _, width := range []string{"0", "1", "6", "8", "14"} {
		v := descriptionVector{Line: *textOfBytes("0\t" + width + "\tkey\ta\tint\t0\t0\t0\t\x00\n")}
		if got, err := v.read(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %+v, %v", width, got, err)
		}
	}
}

// Only a part of an index may have no name, also where nobody knows the names before.
func TestColumnsWithoutAName(t *testing.T) {
	for line, fine := range map[string]bool{
		"column\ta\tint\t0\t0\t0\t\x00\tkey\t\x00\tint\t0\t0\t0\t\x00":    true,
		"column\t\x00\tint\t0\t0\t0\t\x00\tkey\t\x00\tint\t0\t0\t0\t\x00": false,
		"filter\t\x00\tint\t0\t0\t0\t\x00\tkey\t\x00\tint\t0\t0\t0\t\x00": false,
	} {
		v := descriptionVector{Line: *textOfBytes("0\t7\t" + line + "\n")}
		if got, err := v.read(); fine != (err == nil) || !fine && !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

func TestTypes(t *testing.T) {
	is := map[valueKind]string{
		asInteger: "integer", asUnsigned: "integer", asDecimal: "decimal", asFloat: "float", asText: "text", asBytes: "bytes",
		asDate: "date", asMoment: "moment", asTime: "time", asUUID: "uuid",
	}
	for _, v := range loadVectors[struct {
		Type, Charset *byteText
		Is            string
	}](t, "types") {
		c := (&columnVector{Type: v.Type, Charset: v.Charset}).column()
		if got := is[c.kind()]; got != v.Is {
			t.Errorf("%s is %s, and not %s", c.Type, got, v.Is)
		}
	}
}

func describedBy(one string) *definition {
	d := &Description{Columns: []Column{{Name: "c0", Type: one}}}
	// A server says of more types than the integers that they have no sign.
	if one == "year(4)" || one == "bit(9)" || one == "bigint unsigned" {
		d.Columns[0].unsigned = told[bool]{true, true}
	}
	spec := d.Spec()
	return newDefinition(&spec, time.FixedZone("east", 3600)).typed(spec.types)
}

func TestWhatDescribedValuesBecome(t *testing.T) {
	east := time.FixedZone("east", 3600)
	for _, v := range []struct {
		kind, text string
		want       any
	}{
		{"int(11)", "-5", int64(-5)},
		{"bigint", "-9223372036854775808", int64(-9223372036854775808)},
		{"bigint unsigned", "18446744073709551615", uint64(18446744073709551615)},
		{"int(40) unsigned zerofill", "0000000000000000000000000000000000000007", uint64(7)},
		{"year(4)", "0000", int64(0)},
		{"decimal(65,30)", "-12345678901234567890123456789012345.000000000000000000000000000001", "-12345678901234567890123456789012345.000000000000000000000000000001"},
		{"float", "0.1", 0.1},
		{"double", "-1.5e300", -1.5e300},
		{"varchar(9)", "é\x00", "é\x00"},
		{"varchar(9)", "", ""},
		{"blob", "\xff\x00", []byte("\xff\x00")},
		{"bit(9)", "\x01\xff", []byte("\x01\xff")},
		{"date", "2024-02-29", Date{2024, 2, 29}},
		{"datetime(6)", "2024-02-29 23:59:59.123456", time.Date(2024, 2, 29, 23, 59, 59, 123456000, east)},
		{"timestamp", "2024-02-29 00:00:00", time.Date(2024, 2, 29, 0, 0, 0, 0, east)},
		{"time(3)", "-838:59:58.500", -(838*time.Hour + 59*time.Minute + 58*time.Second + 500*time.Millisecond)},
		{"uuid", "01234567-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"},
		{"", "x", []byte("x")},
	} {
		r := Row{describedBy(v.kind), [][]byte{[]byte(v.text)}}
		if got, err := r.Value(0); err != nil || !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s %q is %v (%T), %v", v.kind, v.text, got, got, err)
		}
		if got, err := (Row{describedBy(v.kind), [][]byte{nil}}).Value(0); got != nil || err != nil {
			t.Errorf("NULL of %s is %v, %v", v.kind, got, err)
		}
	}
}

// A value that a column of this type cannot have is an error, and none of another type.
func TestDescribedValuesThatDoNotFit(t *testing.T) {
	for kind, texts := range map[string][]string{
		"int":             {"", "x", "1.5", "9223372036854775808", "-", "1 "},
		"bigint unsigned": {"", "-1", "18446744073709551616", "00000000000000000000x"},
		"decimal(5,2)":    {"", "-", ".", "1e5", "1.2.3", "x", "--1"},
		"double":          {"", "nan", "inf", "-Infinity", "0x1p4", "1e999", "x", "1_0"},
		"date":            {"", "0000-00-00", "2024-02-30", "2024-02-29 00:00:00", "x"},
		"datetime":        {"", "0000-00-00 00:00:00", "2024-02-29", "12:00:00", "2024-00-01 00:00:00"},
		"time":            {"", "1", "12:00", "x:00:00", "2024-02-29 12:00:00"},
		"uuid":            {"", "x", "01234567-89ab-cdef-0123-456789abcdeg", "0123456789ab-cdef-0123-456789abcdef-"},
	} {
		for _, text := range texts {
			r := Row{describedBy(kind), [][]byte{[]byte(text)}}
			got, err := r.Value(0)
			if !errors.Is(err, ErrDecode) || got != nil || !bytes.Contains([]byte(err.Error()), []byte("column c0: ")) {
				t.Errorf("%s %q is %v, %v", kind, text, got, err)
			}
			if all, err := r.Values(); !errors.Is(err, ErrDecode) || all != nil {
				t.Errorf("%s %q is %v, %v", kind, text, all, err)
			}
			if all, err := r.Map(); !errors.Is(err, ErrDecode) || all != nil {
				t.Errorf("%s %q is %v, %v", kind, text, all, err)
			}
			if r.String(0) != text {
				t.Errorf("%q is %q as text", text, r.String(0))
			}
		}
	}
}

// All columns of a table are asked for by Describe alone, and an index with types has them by their names.
func TestAnIndexOfADescription(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1,2/d")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for what, err := range map[string]error{
		"an index":  second(c.Index(IndexSpec{Table: "t", Columns: []string{"*"}}).Get(t.Context(), 1)),
		"an update": second(c.Index(IndexSpec{Table: "t", Columns: []string{"a"}}).Update(t.Context(), Eq(1), Set{"*": 1})),
		"no table":  second(c.Describe(t.Context(), IndexSpec{})),
	} {
		if !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	description := &Description{
		Database: "d", Table: "t", Index: "by_b", Columns: []Column{{Name: "a", Type: "int"}, {Name: "b", Type: "date"}},
		Filters: []Column{{Name: "c", Type: "text"}}, Key: []Column{{Name: "b"}},
	}
	x := c.Index(description.Spec())
	if x.err != nil || string(x.definition.open) != "\td\tt\tby_b\ta,b\tc\n" {
		t.Errorf("%q, %v", x.definition.open, x.err)
	}
	plain := c.Index(IndexSpec{Table: "t", Index: "by_b", Columns: []string{"a", "b"}, Filters: []string{"c"}})
	if x.definition.number != plain.definition.number || plain.definition.types != nil {
		t.Error("one index of a connection serves both, and only one has types")
	}
	// The rows that a Set turns round keep the types of their columns.
	r := x.fetchChange(Eq(1), OpIncrement, rowsAfter, Set{"b": 1})
	if !r.call.answer([]byte("0\t2\t2024-02-29\t7")) {
		t.Fatal("no reply")
	}
	rows, err := r.read(r.call)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := rows[0].Map(); err != nil || !reflect.DeepEqual(all, map[string]any{"a": int64(7), "b": Date{2024, 2, 29}}) {
		t.Error(all, err)
	}
	if set := Set(must1(rows[0].Map())); lineOf(x.insertSets([]Set{set}, "")) != "a,b\tinsert\t1\t2\t7\t2024-02-29\n" {
		t.Error(lineOf(x.insertSets([]Set{set}, "")))
	}
	// Structs are read as ever.
	people := IndexOf[struct {
		A int8 `hs:"a"`
		B Date `hs:"b"`
	}](c, description.Spec())
	if people.err != nil {
		t.Error(people.err)
	}
	wrong := &Description{Table: "t", Columns: []Column{{Name: "a,b"}}}
	if _, err := c.Index(wrong.Spec()).Get(t.Context(), 1); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
}

func must1[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
