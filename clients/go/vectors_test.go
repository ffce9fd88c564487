package handlersocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

// The project's vectors: tests/vectors/README.md explains them.

func loadVectors[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "tests", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// A byteText is a string of a vector: each of its characters is one byte. Null is NULL.
type byteText struct{ bytes []byte }

func (b *byteText) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == nil {
		b.bytes = nil
		return nil
	}
	b.bytes = []byte{}
	for _, r := range *text {
		if r > 0xFF {
			return fmt.Errorf("%q is no byte", r)
		}
		b.bytes = append(b.bytes, byte(r))
	}
	return nil
}

func (b byteText) String() string { return string(b.bytes) }

func (b byteText) raw() []byte  { return b.bytes }
func (v valueText) raw() []byte { return v.bytes }

func anyOf[T interface{ raw() []byte }](texts []T) []any {
	values := []any{}
	for _, text := range texts {
		values = append(values, text.raw())
	}
	return values
}

func TestValues(t *testing.T) {
	type vector struct {
		Why     string
		Value   *byteText
		Token   byteText
		Accepts []byteText
		Error   string
	}
	data := loadVectors[map[string]json.RawMessage](t, "values")
	for i, v := range loadVectors[vector](t, "values") {
		_, hasValue := data[i]["value"]
		if v.Error != "" {
			if _, err := unescape(bytes.Clone(v.Token.bytes)); err == nil {
				t.Errorf("%s: %q is wrong", v.Why, v.Token)
			}
			continue
		}
		if !hasValue {
			t.Fatalf("%s: no value", v.Why)
		}
		var value []byte
		if v.Value != nil {
			value = v.Value.bytes
		}
		token, err := appendValue(nil, value, time.UTC)
		if err != nil || string(token[1:]) != v.Token.String() {
			t.Errorf("%s: %q is written as %q, %v", v.Why, value, token, err)
		}
		for _, accepted := range append(v.Accepts, v.Token) {
			got, err := unescape(bytes.Clone(accepted.bytes))
			if err != nil || !bytes.Equal(got, value) || (got == nil) != (value == nil) {
				t.Errorf("%s: %q is read as %q, %v", v.Why, accepted, got, err)
			}
		}
	}
}

type requestVector struct {
	OpenIndex *struct {
		ID                     json.Number
		Database, Table, Index byteText
		Columns                []byteText
		FilterColumns          []byteText `json:"filter_columns"`
	} `json:"open_index"`
	Auth *struct {
		Secret byteText
		User   *byteText
	}
	Find *struct {
		ID            json.Number
		Index         string
		Op            string
		Key           []valueText
		Limit, Offset *json.Number
		In            *struct {
			KeyPart int `json:"key_part"`
			Values  []valueText
		}
		Filters []struct {
			Kind, Op string
			Column   int
			Value    byteText
		}
		Modify *struct {
			Op         string
			RowsBefore bool `json:"rows_before"`
			Values     []byteText
		}
	}
	Insert *struct {
		ID     json.Number
		Index  string
		Values []valueText
	}
}

// shrink divides the number of times that a text is repeated: the played server here takes little
// of what it does not read.
const shrink = 2

// A valueText is a value of a request: bytes, or a repeated text.
type valueText struct{ bytes []byte }

func (v *valueText) UnmarshalJSON(data []byte) error {
	var repeated struct {
		Repeat string
		Times  int
	}
	if len(data) > 0 && data[0] == '{' {
		err := json.Unmarshal(data, &repeated)
		v.bytes = bytes.Repeat([]byte(repeated.Repeat), repeated.Times/shrink)
		return err
	}
	var text byteText
	err := text.UnmarshalJSON(data)
	v.bytes = text.bytes
	return err
}

func uintOf(t testing.TB, n *json.Number, standard uint64) uint64 {
	if n == nil {
		return standard
	}
	if negative, err := n.Int64(); err == nil && negative < 0 {
		return uint64(negative)
	}
	value, ok := number([]byte(n.String()))
	if !ok {
		t.Fatalf("%s is no number", n)
	}
	return value
}

// query makes the Query of a find. Filter columns are called f0, f1 and so on.
func (v *requestVector) query(t testing.TB) Query {
	f := v.Find
	op := f.Op
	if op == "" {
		op = "="
	}
	q := Query{op: op, limit: uintOf(t, f.Limit, 1), offset: uintOf(t, f.Offset, 0)}
	for _, value := range f.Key {
		q.key = append(q.key, value.bytes)
	}
	if f.In != nil {
		q.isIn, q.inPart = true, f.In.KeyPart
		for _, value := range f.In.Values {
			q.in = append(q.in, value.bytes)
		}
	}
	for _, filter := range f.Filters {
		q = q.filter(filter.Kind[0], fmt.Sprintf("f%d", filter.Column), filter.Op, filter.Value.bytes)
	}
	return q
}

func wideDefinition() *definition {
	d := &definition{location: time.UTC}
	for i := range 8 {
		d.columns = append(d.columns, fmt.Sprintf("c%d", i))
		d.filters = append(d.filters, fmt.Sprintf("f%d", i))
	}
	return d
}

func TestRequests(t *testing.T) {
	type vector struct {
		Why     string
		Request requestVector
		Writes  []byteText
	}
	d := wideDefinition()
	for _, v := range loadVectors[vector](t, "requests") {
		if len(v.Writes) == 0 {
			continue
		}
		var line []byte
		var err error
		r := v.Request
		switch {
		case r.OpenIndex != nil:
			spec := IndexSpec{
				Database: r.OpenIndex.Database.String(), Table: r.OpenIndex.Table.String(),
				Index: r.OpenIndex.Index.String(),
			}
			for _, column := range r.OpenIndex.Columns {
				spec.Columns = append(spec.Columns, column.String())
			}
			for _, column := range r.OpenIndex.FilterColumns {
				spec.Filters = append(spec.Filters, column.String())
			}
			err = spec.check()
			line = append([]byte("P\t"+r.OpenIndex.ID.String()), newDefinition(&spec, time.UTC).open...)
		case r.Auth != nil:
			c := &Client{config: Config{Secret: r.Auth.Secret.String()}}
			if r.Auth.User != nil {
				c.config = Config{User: r.Auth.User.String(), Password: r.Auth.Secret.String()}
			}
			if line, err = c.logIn(t.Context(), false); line == nil {
				// Without a secret the client does not log in.
				continue
			}
		case r.Find != nil:
			q := v.Request.query(t)
			if slices.ContainsFunc(r.Find.Filters, func(f struct {
				Kind, Op string
				Column   int
				Value    byteText
			}) bool {
				return f.Column >= len(d.filters)
			}) {
				// A client names the columns of filters, and has no more of them.
				continue
			}
			if m := r.Find.Modify; m != nil {
				line, err = q.appendModify(nil, d, Op(m.Op), m.RowsBefore, anyOf(m.Values))
			} else {
				line, err = q.appendFind(nil, d, false)
			}
			line = append([]byte(r.Find.ID.String()), append(line, lf)...)
		case r.Insert != nil:
			line, err = appendInsert(nil, d, anyOf(r.Insert.Values))
			line = append([]byte(r.Insert.ID.String()), append(line, lf)...)
		}
		if err != nil || string(line) != v.Writes[0].String() {
			t.Errorf("%s: %q, %v; the shortest is %q", v.Why, line, err, v.Writes[0])
		}
	}
}

type replyVector struct {
	Why      string
	Line     byteText
	To       string
	Columns  int
	Rows     [][]byteText
	Modified *int64
	ID       *json.Number
	Error    *struct {
		Code int
		Text string
	}
	NoReply bool `json:"no_reply"`
}

func (v *replyVector) read(t testing.TB) (any, error) {
	line, ok := bytes.CutSuffix(v.Line.bytes, []byte("\n"))
	if !ok {
		t.Fatalf("%q has no LF", v.Line)
	}
	kinds := map[string]callKind{
		"": kindFind, "find": kindFind, "modify": kindModify, "modify_rows_before": kindModifyRows,
		"insert": kindInsert,
	}
	d := &definition{location: time.UTC}
	for i := range v.Columns {
		d.columns = append(d.columns, fmt.Sprint(i))
	}
	k := newCall(d, kinds[v.To], opFind)
	if v.NoReply {
		// Whatever number of columns the index has been opened with, it is no reply.
		if h, ok := parseHeader(line); ok {
			d.columns = make([]string, h.columns)
		}
	}
	if !k.answer(line) {
		return nil, wrongReply("header")
	}
	if k.code != 0 {
		return nil, k.refusal()
	}
	switch k.kind {
	case kindModify:
		return readCount(k)
	case kindInsert:
		return readID(k)
	}
	return readMany[Row](k, &plan{})
}

func TestReplies(t *testing.T) {
	for _, v := range loadVectors[replyVector](t, "replies") {
		if v.To == "open_index" || v.To == "auth" {
			h, ok := parseHeader(bytes.TrimSuffix(v.Line.bytes, []byte("\n")))
			if !ok || h.code != 0 {
				t.Errorf("%s: %q is success", v.Why, v.Line)
			}
			continue
		}
		got, err := v.read(t)
		var e *Error
		switch {
		case v.NoReply:
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%s: %q gives %v, %v", v.Why, v.Line, got, err)
			}
		case v.Error != nil:
			if !errors.As(err, &e) || e.Code != v.Error.Code || e.Text != v.Error.Text || !errors.Is(err, ErrReply) {
				t.Errorf("%s: %q gives the error %v", v.Why, v.Line, err)
			}
		case err != nil:
			t.Errorf("%s: %q gives the error %v", v.Why, v.Line, err)
		case v.Modified != nil:
			if got != *v.Modified {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		case v.To == "insert":
			if got != uintOf(t, v.ID, 0) {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		default:
			compareRows(t, v.Why, got.([]Row), v.Rows)
		}
	}
}

func compareRows(t testing.TB, why string, got []Row, want [][]byteText) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, and not %d", why, len(got), len(want))
		return
	}
	for i, row := range got {
		var values [][]byte
		for _, value := range want[i] {
			values = append(values, value.bytes)
		}
		if !reflect.DeepEqual(row.values, values) {
			t.Errorf("%s: row %d is %q, and not %q", why, i, row.values, values)
		}
	}
}

func TestErrorTable(t *testing.T) {
	type vector struct {
		Code                     int
		Text, Kind, Retry, Words string
		SQLState                 string `json:"sqlstate"`
		MaybeExecuted            bool   `json:"maybe_executed"`
	}
	vectors := loadVectors[vector](t, "errors")
	if len(vectors) != len(errorTable) {
		t.Errorf("%d errors, and not %d: go generate", len(errorTable), len(vectors))
	}
	for _, v := range vectors {
		want := errorEntry{v.Code, Kind(v.Kind), v.Retry, v.Words, v.SQLState, v.MaybeExecuted}
		if errorTable[v.Text] != want {
			t.Errorf("%s is %v, and not %v: go generate", v.Text, errorTable[v.Text], want)
		}
	}
}
