//go:build e2e

package handlersocket

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Descriptions, hello, texts and times for the server, at a real server.

// sqlStep lets the one who runs the test do something by SQL, and waits until it is done.
func sqlStep(t *testing.T, c *Client, number int) {
	t.Helper()
	steps := c.Index(IndexSpec{Table: "steps", Columns: []string{"number", "done"}})
	must[uint64](t)(steps.InsertValues(t.Context(), number, 0))
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if row := must[Row](t)(steps.Get(t.Context(), number)); row.String(1) == "1" {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nobody does it")
		}
	}
}

// shown is what SQL shows of a table: its columns, and its rows as bytes.
type shown struct {
	Columns []struct {
		Name, Type, Is string
		Charset        string
		Nullable       bool
	}
	Rows [][]byteText
}

func TestE2EEveryType(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	var want shown
	data := must[[]byte](t)(os.ReadFile(environment(t, "HS_E2E_SHOWN")))
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	d := must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "every", Filters: []string{"id", "c1"}}))
	if len(d.Columns) != len(want.Columns) || len(d.Key) != 1 || d.Key[0].Name != "id" || len(d.Filters) != 2 {
		t.Fatalf("%+v", d)
	}
	for i, column := range d.Columns {
		w := want.Columns[i]
		nullable, ok1 := column.Nullable()
		_, ok2 := column.Unsigned()
		_, ok3 := column.Decimals()
		if column.Name != w.Name || column.Type != w.Type || nullable != w.Nullable || !ok1 || !ok2 || !ok3 ||
			w.Charset != "" && column.Charset != w.Charset {
			t.Errorf("%+v, and not %+v", column, w)
		}
	}
	x := c.Index(d.Spec())
	rows := must[[]Row](t)(x.Find(ctx, Range().Limit(100)))
	if len(rows) != len(want.Rows) || len(rows) < 3 {
		t.Fatalf("%d rows, and not %d", len(rows), len(want.Rows))
	}
	n := 0
	for row, err := range x.Rows(ctx, Range().Limit(100)) {
		if err != nil || !reflect.DeepEqual(must[[]any](t)(row.Values()), must[[]any](t)(rows[n].Values())) {
			t.Errorf("row %d of an iteration is %v, %v", n, row, err)
		}
		n++
	}
	var again []Set
	for i, row := range rows {
		for at, value := range must[[]any](t)(row.Values()) {
			sql := want.Rows[i][at]
			if value == nil || sql.bytes == nil {
				if value != nil || sql.bytes != nil {
					t.Errorf("%s: %v, and SQL shows %q", want.Columns[at].Name, value, sql)
				}
				continue
			}
			if is := fmt.Sprintf("%T", value); is != want.Columns[at].Is {
				t.Errorf("%s %s is a %s", want.Columns[at].Name, want.Columns[at].Type, is)
			}
			if !isShown(t, value, sql.String()) {
				t.Errorf("%s %s: %v, and SQL shows %q", want.Columns[at].Name, want.Columns[at].Type, value, sql)
			}
		}
		again = append(again, must[map[string]any](t)(row.Map()))
	}
	// What was read can be written.
	spec := d.Spec()
	spec.Table = "again"
	must[[]Outcome](t)(c.Index(spec).InsertSets(ctx, again, DuplicateFail))
}

// isShown compares a value with the text that SQL shows, without the client's own code.
func isShown(t *testing.T, value any, sql string) bool {
	switch v := value.(type) {
	case int64:
		return must[int64](t)(strconv.ParseInt(sql, 10, 64)) == v
	case uint64:
		return must[uint64](t)(strconv.ParseUint(sql, 10, 64)) == v
	case float64:
		return must[float64](t)(strconv.ParseFloat(sql, 64)) == v
	case string:
		return v == sql
	case []byte:
		return string(v) == sql
	case Date:
		return fmt.Sprintf("%04d-%02d-%02d", v.Year, v.Month, v.Day) == sql
	case time.Time:
		whole, fraction, _ := strings.Cut(sql, ".")
		return v.Location() == time.UTC && v.Format(time.DateTime) == whole && (fraction + "000000")[:6] == fmt.Sprintf("%06d", v.Nanosecond()/1000)
	case time.Duration:
		sign := time.Duration(1)
		if strings.HasPrefix(sql, "-") {
			sign, sql = -1, sql[1:]
		}
		parts := strings.Split(sql, ":")
		text := parts[0] + "h" + parts[1] + "m" + parts[2] + "s"
		return sign*must[time.Duration](t)(time.ParseDuration(text)) == v
	}
	return false
}

// A description is from one moment: what the table becomes is seen by who describes again.
func TestE2EAlter(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	old := must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "changing"}))
	x := c.Index(old.Spec())
	first := must[map[string]any](t)(must[Row](t)(x.Get(ctx, 1)).Map())
	if !reflect.DeepEqual(first, map[string]any{"id": int64(1), "n": int64(7), "word": "one"}) {
		t.Error(first)
	}
	sqlStep(t, c, 1) // n becomes a text, and another column is in front of it
	row := must[Row](t)(x.Get(ctx, 1))
	if !slices.Equal(row.Columns(), []string{"id", "n", "word"}) || row.String(1) != "seven" || row.String(2) != "one" {
		t.Errorf("%q %q", row.Columns(), row.values)
	}
	if value, err := row.Value(1); value != nil || !errors.Is(err, ErrDecode) || MaybeExecuted(err) {
		t.Error(value, err)
	}
	if _, err := row.Map(); !errors.Is(err, ErrDecode) {
		t.Error(err)
	}
	now := must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "changing", Columns: []string{"id", "n", "word"}}))
	if got := must[any](t)(must[Row](t)(c.Index(now.Spec()).Get(ctx, 1)).Value(1)); got != "seven" {
		t.Error(got)
	}
	// All columns are those of now, also on a connection where they were asked for before.
	all := must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "changing"}))
	if len(all.Columns) != 4 {
		t.Errorf("%+v", all.Columns)
	}
	sqlStep(t, c, 2) // word is dropped
	if _, err := x.Get(ctx, 1); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	known := must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "changing", Columns: []string{"id", "n", "word"}}))
	if _, told := known.Columns[2].Nullable(); known.Columns[2].Name != "word" || known.Columns[2].Type != "" || told {
		t.Errorf("%+v", known.Columns[2])
	}
	if made := c.Stats().ConnectionsMade; made != 2 {
		t.Errorf("%d connections", made)
	}
}

func TestE2EHello(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	hello := must[Hello](t)(c.Hello(ctx))
	words, _ := hello.Get("requests")
	if version, _ := hello.Get("server"); version != environment(t, "HS_E2E_VERSION") ||
		!slices.Contains(strings.Fields(words), "within") || hello[0].Name != "plugin" {
		t.Error(hello)
	}
	if _, told := hello.Get("texts"); told {
		t.Error("texts were not asked for")
	}
}

func TestE2ETexts(t *testing.T) {
	c, ctx := openURL(t, environment(t, "HS_E2E_URL")+"?texts=on"), t.Context()
	x := accountsOf(t)
	x = IndexOf[account](c, x.spec)
	told := func(what string, err error, number int, state, message string) {
		t.Helper()
		var e *Error
		if !errors.As(err, &e) || e.Number() != number || e.SQLState() != state || !strings.Contains(e.Message, message) {
			t.Errorf("%s: %#v", what, err)
		} else if strings.Contains(err.Error(), e.Message) {
			t.Errorf("%s shows the message: %v", what, err)
		}
	}
	_, err := x.Insert(ctx, account{1, 5})
	told("an insert", err, 1062, "23000", "Duplicate entry '1' for key")
	if !errors.Is(err, ErrDuplicate) || !errors.Is(err, ErrReply) {
		t.Error(err)
	}
	none := c.Index(IndexSpec{Table: "none", Columns: []string{"a"}})
	told("a table", second(none.Get(ctx, 1)), 1146, "42S02", "")
	for _, err := range none.Rows(ctx, Eq(1)) {
		told("an iteration", err, 1146, "42S02", "")
	}
	for _, err := range x.Rows(ctx, Range(1, 2, 3)) {
		told("too many parts", err, 1070, "42000", "")
	}
	g := c.Group()
	fine, wrong := x.InGroup(g).Insert(account{3, 1}), x.InGroup(g).Insert(account{2, 1})
	err = g.Run(ctx)
	told("a group", err, 1062, "23000", "Duplicate entry '2' for key")
	told("its request", second(wrong.Result()), 1062, "23000", "Duplicate entry '2' for key")
	told("the other one", second(fine.Result()), 1180, "HY000", "nother line")
	p := c.Pipeline()
	again := x.In(p).Insert(account{1, 5})
	x.In(p).Get(1)
	told("a pipeline", p.Run(ctx), 1062, "23000", "Duplicate")
	told("its request", second(again.Result()), 1062, "23000", "Duplicate")
	must[Hello](t)(c.Hello(ctx))
	told("behind a hello", second(x.In(p).index.Get(ctx, 1, 2)), 1070, "42000", "")
	if value, _ := must[Hello](t)(c.Hello(ctx)).Get("texts"); value != "1" {
		t.Error("a hello turns texts off")
	}
	must[account](t)(x.Get(ctx, 1))
}

func TestE2EWithin(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	x := IndexOf[visitor](c, IndexSpec{Table: "visitors"})
	// What must succeed has much time, and what waits for a lock has little.
	patient, timed := x.Within(10*time.Second), x.Within(80*time.Millisecond)
	must[int64](t)(patient.Delete(ctx, Range().Limit(1000)))
	must[uint64](t)(patient.InsertValues(ctx, 1, "Ann", 0, 1))
	must[int64](t)(patient.Update(ctx, Eq(1), Set{"visits": 0}))
	must[Outcome](t)(patient.UpsertSet(ctx, Set{"id": 1}, Set{"visits": Add(1)}))
	must[visitor](t)(patient.Get(ctx, 1))
	must[int64](t)(patient.Count(ctx, Range()))
	for _, err := range patient.Rows(ctx, Range()) {
		if err != nil {
			t.Error(err)
		}
	}
	g := c.Group().Within(10 * time.Second)
	x.InGroup(g).Insert(visitor{ID: 2})
	if err := g.Run(ctx); err != nil {
		t.Error(err)
	}
	sqlStep(t, c, 1) // the table is locked; all indexes are open, because opening one would wait for it
	g = c.Group().Within(80 * time.Millisecond)
	x.InGroup(g).Insert(visitor{ID: 3})
	p := c.Pipeline()
	timed.In(p).Get(1)
	for what, call := range map[string]func() error{
		"get":      func() error { return second(timed.Get(ctx, 1)) },
		"find":     func() error { return second(timed.Find(ctx, Ge(0))) },
		"count":    func() error { return second(timed.Count(ctx, Range())) },
		"insert":   func() error { return second(timed.InsertValues(ctx, 4)) },
		"update":   func() error { return second(timed.Update(ctx, Eq(1), Set{"visits": 9})) },
		"upsert":   func() error { return second(timed.UpsertSet(ctx, Set{"id": 1}, Set{"visits": Add(1)})) },
		"group":    func() error { return g.Run(ctx) },
		"pipeline": func() error { return p.Run(ctx) },
	} {
		began := time.Now()
		err := call()
		took := time.Since(began)
		var e *Error
		if !errors.As(err, &e) || e.Text != TextMaxRequestTime || MaybeExecuted(err) || took < 79*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s: %v after %s", what, err, took)
		}
	}
	sqlStep(t, c, 2) // and no longer
	if row := must[visitor](t)(patient.Get(ctx, 1)); *row.Visits != 1 {
		t.Error("something was done")
	}
	if n := must[int64](t)(x.Count(ctx, Range())); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// A connection that has as many open indexes as it may is left, and what is one more goes on a new one.
func TestE2EManyIndexes(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	names := []string{"user_id", "user_name", "user_email", "visits"}
	p := c.Pipeline()
	var last *Index[Row]
	for i := range 4096 {
		var columns []string
		for n := i; len(columns) < 6; n /= 4 {
			columns = append(columns, names[n%4])
		}
		last = c.Index(IndexSpec{Table: "user", Columns: columns})
		last.In(p).Get(1 + i)
	}
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		must[*Description](t)(c.Describe(ctx, IndexSpec{Table: "user"}))
		must[Row](t)(last.Get(ctx, 7))
	}
	d := must[*Description](t)(c.Describe(ctx, last.spec))
	if len(d.Columns) != 6 || d.Columns[5].Name != "visits" {
		t.Errorf("%+v", d)
	}
	if s := c.Stats(); s.ConnectionsMade != 2 || s.ConnectionsLost != 0 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
}

// The original knows neither descriptions nor hellos nor lists, and says so; its errors are as they are.
func TestE2EOriginalTexts(t *testing.T) {
	c, ctx := openURL(t, environment(t, "HS_E2E_URL")+"?texts=on"), t.Context()
	var e *Error
	if _, err := c.Describe(ctx, IndexSpec{Table: "people", Columns: []string{"id"}}); !errors.As(err, &e) || e.Text != TextCmd {
		t.Error(err)
	}
	if _, err := c.Hello(ctx); !errors.As(err, &e) || e.Text != TextCmd {
		t.Error(err)
	}
	if _, err := c.Databases(ctx); !errors.As(err, &e) || e.Text != TextCmd {
		t.Error(err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	people := IndexOf[person](c, IndexSpec{Table: "people"})
	must[uint64](t)(people.Insert(ctx, person{ID: 1, Name: "Ann"}))
	if _, err := people.Insert(ctx, person{ID: 1, Name: "Ann"}); !errors.Is(err, ErrDuplicate) || !errors.As(err, &e) ||
		e.Message != "" || e.SQLState() != "23000" || e.Number() != 121 {
		t.Error(err)
	}
	for row, err := range people.Rows(ctx, Ge(0).Limit(9)) {
		if err != nil || row.Name != "Ann" {
			t.Error(row, err)
		}
	}
}
