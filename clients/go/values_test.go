package handlersocket

import (
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

type level int

func TestWhatIsWritten(t *testing.T) {
	text, null := "x", (*string)(nil)
	berlin := time.FixedZone("east", 3600)
	for _, v := range []struct {
		value any
		want  string
	}{
		{nil, "\x00"}, {"", ""}, {"a\tb", "a\x01Ib"}, {[]byte{0}, "\x01@"}, {[]byte(nil), "\x00"}, {true, "1"}, {false, "0"},
		{-5, "-5"}, {int8(-5), "-5"}, {uint16(5), "5"}, {uint64(math.MaxUint64), "18446744073709551615"}, {level(3), "3"},
		{0.1, "0.1"}, {float32(0.1), "0.1"}, {1e300, "1e+300"}, {json.RawMessage(`{}`), "{}"}, {json.RawMessage(nil), "\x00"},
		{time.Date(2024, 2, 29, 1, 2, 3, 40000, berlin), "2024-02-29 00:02:03.00004"},
		{-26*time.Hour - 500*time.Millisecond, "-26:00:00.500000"}, {time.Second, "00:00:01"}, {Date{2024, 2, 29}, "2024-02-29"},
		{Date{}, "0000-00-00"}, {&text, "x"}, {null, "\x00"}, {sql.Null[int]{}, "\x00"}, {sql.Null[int]{V: 4, Valid: true}, "4"},
		{sql.NullTime{Time: time.Unix(0, 0), Valid: true}, "1970-01-01 00:00:00"}, {netip.MustParseAddr("::1"), "::1"},
		{big.NewInt(7), "7"}, {(*big.Int)(nil), "\x00"},
	} {
		got, err := appendValue(nil, v.value, time.UTC)
		if err != nil || string(got) != "\t"+v.want {
			t.Errorf("%v (%T) is written as %q, %v", v.value, v.value, got, err)
		}
	}
	for _, value := range []any{math.NaN(), math.Inf(1), float32(math.Inf(-1)), []int{1}, map[string]int{}, make(chan int), struct{}{}, 1i} {
		if _, err := appendValue(nil, value, time.UTC); !errors.Is(err, ErrUsage) {
			t.Errorf("%v (%T) gives %v", value, value, err)
		}
	}
}

func readInto[T any](text string, null bool) (T, error) {
	value := []byte(text)
	if null {
		value = nil
	}
	r := Row{&definition{columns: []string{"c"}, location: time.UTC}, [][]byte{value}}
	var to T
	err := r.Scan(&to)
	return to, err
}

func checkRead[T any](t *testing.T, text string, want T) {
	t.Helper()
	got, err := readInto[T](text, false)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %v, %v", text, got, err)
	}
}

func checkRefused[T any](t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got, err := readInto[T](text, false); !errors.Is(err, ErrDecode) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	if got, err := readInto[T]("", true); !errors.Is(err, ErrDecode) {
		t.Errorf("NULL is read as %v, %v", got, err)
	}
}

func TestWhatIsRead(t *testing.T) {
	checkRead(t, "-128", int8(-128))
	checkRefused[int8](t, "128", "-129", "", "1.5", "x", "+1", "99999999999999999999", "--1")
	checkRead(t, "-9223372036854775808", int64(math.MinInt64))
	checkRefused[int64](t, "9223372036854775808", "-9223372036854775809")
	checkRead(t, "18446744073709551615", uint64(math.MaxUint64))
	checkRefused[uint64](t, "-1", "18446744073709551616")
	checkRefused[uint8](t, "256")
	checkRead(t, "1e300", 1e300)
	checkRefused[float32](t, "1e300", "x", "")
	checkRead(t, "1", true)
	checkRead(t, "\x01", true)
	checkRead(t, "\x00", false)
	checkRefused[bool](t, "2", "-1", "x", "")
	checkRead(t, "", "")
	checkRefused[string](t)
	checkRead(t, "", []byte{})
	checkRead(t, "7", level(7))
	checkRead(t, "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC))
	checkRead(t, "2024-02-29 12:00:01.5", time.Date(2024, 2, 29, 12, 0, 1, 500000000, time.UTC))
	checkRefused[time.Time](t, "0000-00-00", "0000-00-00 00:00:00", "2024-02-30", "12:00:00", "")
	checkRead(t, "2024-02-29", Date{2024, 2, 29})
	checkRead(t, "-838:59:59.000001", -(838*time.Hour + 59*time.Minute + 59*time.Second + time.Microsecond))
	checkRead(t, "00:00:00.5", 500*time.Millisecond)
	checkRefused[time.Duration](t, "", "1", "1:2", "a:b:c", "1:2:3.1234567", "1:2:-3", "::")
	checkRead(t, "4", sql.Null[int]{V: 4, Valid: true})
	checkRead(t, "2024-02-29", sql.NullTime{Time: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Valid: true})
	checkRead(t, "10.0.0.1", netip.MustParseAddr("10.0.0.1"))
	checkRefused[netip.Addr](t, "x")
	text := "x"
	checkRead(t, "x", &text)
	if got, err := readInto[*string]("", true); err != nil || got != nil {
		t.Error(got, err)
	}
	if got, err := readInto[[]byte]("", true); err != nil || got != nil {
		t.Error(got, err)
	}
	if got, err := readInto[sql.Null[int]]("", true); err != nil || got.Valid {
		t.Error(got, err)
	}
	if _, err := readInto[chan int]("", false); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
}

type base struct {
	ID int `hs:"id,auto"`
}

func TestStructs(t *testing.T) {
	type row struct {
		base
		UserName string
		HTTPPort int
		skipped  int
		Left     int `hs:"-"`
	}
	_ = row{}.skipped
	info := infoOf(reflect.TypeFor[row]())
	var columns []string
	for _, field := range info.fields {
		columns = append(columns, field.column)
	}
	if info.err != nil || !reflect.DeepEqual(columns, []string{"id", "user_name", "http_port"}) {
		t.Errorf("%q, %v", columns, info.err)
	}
	p, err := planFor(reflect.TypeFor[row](), []string{"http_port", "id"})
	if err != nil {
		t.Fatal(err)
	}
	d := &definition{columns: []string{"http_port", "id"}, location: time.UTC}
	rows, err := rowsOf[row](d, p, valuesOf([]byte("80\t7\t81\t8"), true))
	if err != nil || len(rows) != 2 || rows[1].HTTPPort != 81 || rows[1].ID != 8 {
		t.Errorf("%+v, %v", rows, err)
	}
	values, err := valuesOfRow(row{UserName: "x"}, []string{"id", "user_name"})
	if err != nil || values[0] != nil || values[1] != "x" {
		t.Errorf("%v, %v", values, err)
	}
	for _, wrong := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[struct{}](), reflect.TypeFor[struct {
			A int `hs:"x"`
			B int `hs:"x"`
		}](), reflect.TypeFor[struct {
			A int `hs:"x,unknown"`
		}](),
	} {
		if info := infoOf(wrong); !errors.Is(info.err, ErrUsage) {
			t.Errorf("%s gives %v", wrong, info.err)
		}
	}
	if _, err := planFor(reflect.TypeFor[row](), []string{"none"}); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
}

// What cannot be meant is refused before anything is sent.
func TestUsage(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1/d")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x := c.Index(IndexSpec{Table: "t", Columns: []string{"a"}, Filters: []string{"f"}})
	other, _ := Open("handlersocket://192.0.2.1:1/d")
	defer other.Close()
	pipeline := other.Pipeline()
	mixed := x.In(pipeline).Get(1)
	_ = pipeline.Run(t.Context())
	ctx := t.Context()
	for what, err := range map[string]error{
		"no key":         second(x.Get(ctx)),
		"no query":       second(x.Find(ctx, Query{})),
		"limit":          second(x.Find(ctx, Eq(1).Limit(-1))),
		"no limit":       second(x.Find(ctx, Eq(1).Limit(0))),
		"no limit of In": second(x.Find(ctx, In(1, 2).Limit(0))),
		"limit of none":  second(x.Find(ctx, In().Limit(0))),
		"count none":     second(x.Count(ctx, Eq(1).Limit(0))),
		"delete none":    second(x.Delete(ctx, Eq(1).Limit(0))),
		"update none":    second(x.Update(ctx, Eq(1).Limit(0), Set{"a": Add(1)})),
		"fetch none":     second(x.FetchDelete(ctx, Eq(1).Limit(0))),
		"filter op":      second(x.Find(ctx, Eq(1).Where("f", "~", 1))),
		"filter column":  second(x.Find(ctx, Eq(1).Where("a", "=", 1))),
		"part":           second(x.Find(ctx, Eq(1).In(1, 2))),
		"value":          second(x.Get(ctx, struct{}{})),
		"no values":      second(x.InsertValues(ctx)),
		"many values":    second(x.InsertValues(ctx, 1, 2)),
		"deletion":       second(x.Modify(ctx, Eq(1), OpDelete, 1)),
		"op":             second(x.Modify(ctx, Eq(1), "X")),
		"empty set":      second(x.Update(ctx, Eq(1), nil)),
		"other column":   second(x.FetchUpdate(ctx, Eq(1), Set{"b": 1})),
		"no write port":  second(x.InsertValues(ctx, 1)),
		"table":          second(c.Index(IndexSpec{Table: "a\tb", Columns: []string{"a"}}).Get(ctx, 1)),
		"no table":       second(c.Index(IndexSpec{Columns: []string{"a"}}).Get(ctx, 1)),
		"column":         second(c.Index(IndexSpec{Table: "t", Columns: []string{"a,b"}}).Get(ctx, 1)),
		"type":           second(IndexOf[int](c, IndexSpec{Table: "t"}).Get(ctx, 1)),
		"pipeline":       second(mixed.Result()),
		"down":           second(x.Find(ctx, Eq(1).Down())),
		"end":            second(x.Find(ctx, Eq(1).Ge(1))),
		"two ends":       second(x.Find(ctx, Range().Ge(1).Gt(1))),
		"prefix and end": second(x.Find(ctx, Range().Prefix("a").Le("b"))),
		"exists":         second(x.Exists(ctx, Eq(1).Limit(2))),
		"count":          second(x.Count(ctx, Query{})),
		"after delete":   second(x.ModifyFetch(ctx, Eq(1), OpDelete)),
		"inserted":       second(x.Update(ctx, Eq(1), Set{"a": Inserted()})),
		"no assignment":  second(x.Update(ctx, Eq(1), Set{"a": Assignment{}})),
		"its place":      second(x.InsertValues(ctx, Add(1))),
		"its place, too": second(x.Increment(ctx, Eq(1), Set{"a": Add(1)})),
		"rows of it":     second(x.UpdateFetch(ctx, Eq(1), Set{"b": Add(1)})),
		"no rows":        second(x.InsertSets(ctx, nil, DuplicateFail)),
		"empty row":      second(x.InsertSets(ctx, []Set{{}}, DuplicateFail)),
		"other names":    second(x.InsertSets(ctx, []Set{{"a": 1}, {"b": 1}}, DuplicateFail)),
		"duplicate":      second(x.InsertSets(ctx, []Set{{"a": 1}}, "update")),
		"no changes":     second(x.UpsertSet(ctx, Set{"a": 1}, nil)),
		"condition":      second(x.UpsertSet(ctx, Set{"a": 1}, Set{"a": 2}, If("a", "=", 1))),
	} {
		if !errors.Is(err, ErrUsage) || !SafeToRetry(err) || MaybeExecuted(err) {
			t.Errorf("%s gives %v", what, err)
		}
	}
	if rows, err := x.Find(ctx, In()); rows != nil || err != nil {
		t.Error(rows, err)
	}
	if n, err := x.Delete(ctx, In()); n != 0 || err != nil {
		t.Error(n, err)
	}
	if n, err := x.Count(ctx, In()); n != 0 || err != nil {
		t.Error(n, err)
	}
	if there, err := x.Exists(ctx, In()); there || err != nil {
		t.Error(there, err)
	}
	if n, err := x.Update(ctx, In(), Set{"a": Add(1)}); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestErrorsSayWhatTheyAre(t *testing.T) {
	e := replyError(1, "1317", true)
	for _, kind := range []Kind{ErrReply, ErrInterrupted} {
		if !errors.Is(e, kind) {
			t.Error(kind)
		}
	}
	if errors.Is(e, ErrLock) || !e.MaybeExecuted || e.Number() != 1317 || e.SQLState() != "70100" || !e.Temporary() || SafeToRetry(e) {
		t.Errorf("%+v", e)
	}
	if find := replyError(1, "1317", false); find.MaybeExecuted || !SafeToRetry(find) {
		t.Errorf("%+v", find)
	}
	if e := replyError(2, "new", false); !errors.Is(e, ErrRequest) || e.Number() != 0 {
		t.Errorf("%+v", e)
	}
	for _, text := range []string{"handlersocket: the server answered 1 121: a row with the same unique key exists"} {
		if got := replyError(1, "121", true).Error(); got != text {
			t.Error(got)
		}
	}
	if SafeToRetry(nil) || MaybeExecuted(nil) {
		t.Error("nil is an error")
	}
}
