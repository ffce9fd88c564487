package handlersocket

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// The vectors of requests, and how they are said with this client.

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
		ID           json.Number
		Index        string
		Op           string
		Key          []valueText
		Lower, Upper *struct {
			Value valueText
			Open  bool
		}
		Prefix        *valueText
		Answer        string
		Limit, Offset *json.Number
		In            *struct {
			KeyPart int `json:"key_part"`
			Values  []valueText
		}
		Filters []filterVector
		Modify  *struct {
			Op          string
			RowsBefore  bool `json:"rows_before"`
			RowsAfter   bool `json:"rows_after"`
			Meets       string
			Values      []byteText
			Assignments []assignmentVector
		}
	}
	Insert *struct {
		ID     json.Number
		Index  string
		Values []valueText
	}
	InsertRows *struct {
		ID          json.Number
		Index       string
		Rows        [][]byteText
		Else        string
		Assignments []assignmentVector
		Filters     []filterVector
	} `json:"insert_rows"`
}

type filterVector struct {
	Kind, Op string
	Column   int
	Value    byteText
}

type assignmentVector struct {
	Column    int
	How       string
	Value     byteText
	Low, High byteText
}

// assigned makes what an application says, by what it says it with.
func (a *assignmentVector) assigned() assigned {
	value := any(a.Value.bytes)
	of := map[string]func(any) Assignment{
		"+": Add, "-": Subtract, "append": Append, "prepend": Prepend, "max": Max, "min": Min, "&": BitAnd, "|": BitOr, "^": BitXor,
	}
	switch a.How {
	case "=":
		return assigned{a.Column, value}
	case "default":
		return assigned{a.Column, Default()}
	case "now":
		return assigned{a.Column, Now()}
	case "new":
		return assigned{a.Column, Inserted()}
	case "+[":
		return assigned{a.Column, AddWithin(value, a.Low.bytes, a.High.bytes)}
	case "-[":
		return assigned{a.Column, SubtractWithin(value, a.Low.bytes, a.High.bytes)}
	}
	return assigned{a.Column, of[a.How](value)}
}

func allAssigned(all []assignmentVector) []assigned {
	var made []assigned
	for i := range all {
		made = append(made, all[i].assigned())
	}
	return made
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
	q := Query{op: op, limit: uintOf(t, f.Limit, 1), limited: f.Limit != nil, offset: uintOf(t, f.Offset, 0)}
	if op == "up" || op == "down" {
		q.op = "up"
		if op == "down" {
			q = q.Down()
		}
	}
	if f.Lower != nil && f.Lower.Open {
		q = q.Gt(f.Lower.Value.bytes)
	} else if f.Lower != nil {
		q = q.Ge(f.Lower.Value.bytes)
	}
	if f.Upper != nil && f.Upper.Open {
		q = q.Lt(f.Upper.Value.bytes)
	} else if f.Upper != nil {
		q = q.Le(f.Upper.Value.bytes)
	}
	if f.Prefix != nil {
		q = q.Prefix(f.Prefix.bytes)
	}
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
	all := append(loadVectors[vector](t, "requests"), loadVectors[vector](t, "new_requests")...)
	for _, v := range all {
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
			tooFar := func(f filterVector) bool { return f.Column >= len(d.filters) }
			if slices.ContainsFunc(r.Find.Filters, tooFar) {
				// A client names the columns of filters, and has no more of them.
				continue
			}
			line, err = r.appendTo(&q, d)
			line = append([]byte(r.Find.ID.String()), append(line, lf)...)
		case r.Insert != nil:
			line, err = appendInsert(nil, d, anyOf(r.Insert.Values))
			line = append([]byte(r.Insert.ID.String()), append(line, lf)...)
		case r.InsertRows != nil:
			line, err = r.insertRows(d)
			line = append([]byte(r.InsertRows.ID.String()), append(line, lf)...)
		}
		if err != nil || string(line) != v.Writes[0].String() {
			t.Errorf("%s: %q, %v; the shortest is %q", v.Why, line, err, v.Writes[0])
		}
	}
}

// appendTo appends a find, or what stands in its place.
func (r *requestVector) appendTo(q *Query, d *definition) ([]byte, error) {
	switch m := r.Find.Modify; {
	case r.Find.Answer == "count":
		return q.appendCount(nil, d)
	case r.Find.Answer == "exists":
		return q.appendExists(nil, d)
	case m == nil:
		return q.appendFind(nil, d, false)
	case m.Op == "set":
		return q.appendSet(nil, d, r.rowsAnswered(), allAssigned(m.Assignments))
	default:
		return q.appendModify(nil, d, Op(m.Op), r.rowsAnswered(), anyOf(m.Values))
	}
}

func (r *requestVector) rowsAnswered() rowsAnswered {
	switch m := r.Find.Modify; {
	case m.RowsBefore:
		return rowsBefore
	case m.RowsAfter:
		return rowsAfter
	}
	return noRows
}

func (r *requestVector) insertRows(d *definition) ([]byte, error) {
	n := newRows{about: Duplicate(r.InsertRows.Else)}
	for _, row := range r.InsertRows.Rows {
		n.rows = append(n.rows, anyOf(row))
	}
	for _, f := range r.InsertRows.Filters {
		n.conditions = append(n.conditions, If(fmt.Sprintf("f%d", f.Column), f.Op, f.Value.bytes))
	}
	return n.appendTo(nil, d, allAssigned(r.InsertRows.Assignments))
}
