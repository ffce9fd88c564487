//go:build e2e

package handlersocket

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Tests against a real server: tests/clients/test_go_client.py starts it, makes the tables, and says
// in the environment where it is.

func environment(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: tests/clients/test_go_client.py runs this", name)
	}
	return value
}

func openE2E(t testing.TB) *Client {
	t.Helper()
	return openURL(t, environment(t, "HS_E2E_URL"))
}

func openURL(t testing.TB, url string) *Client {
	t.Helper()
	c, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

type typedRow struct {
	ID       uint64          `hs:"id,auto"`
	Tiny     int8            `hs:"tiny"`
	Big      int64           `hs:"big"`
	Huge     uint64          `hs:"huge"`
	Decimal  string          `hs:"dec"`
	Single   float32         `hs:"single"`
	Double   float64         `hs:"dbl"`
	Text     string          `hs:"txt"`
	Bytes    []byte          `hs:"bin"`
	Day      Date            `hs:"day"`
	At       time.Time       `hs:"at"`
	Span     time.Duration   `hs:"span"`
	Choice   string          `hs:"choice"`
	Flag     bool            `hs:"flag"`
	Bits     []byte          `hs:"bits"`
	Address  netip.Addr      `hs:"address"`
	Pointer  *string         `hs:"maybe"`
	Nullable sql.Null[int64] `hs:"nullable"`
	Seen     sql.NullTime    `hs:"seen"`
	Year     int             `hs:"yr"`
}

func TestE2ETypes(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	typed := IndexOf[typedRow](c, IndexSpec{Table: "typed"})
	text := "a\tb\n\x00\x01é"
	rows := []typedRow{
		{
			Tiny: -128, Big: math.MinInt64, Huge: math.MaxUint64, Decimal: "-12345678901234567890.123",
			Single: 0.1, Double: -1e300, Text: text, Bytes: []byte{0, 1, 9, 10, 255},
			Day: Date{2024, 2, 29}, At: time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC),
			Span: -(838*time.Hour + 59*time.Minute + 59*time.Second), Choice: "yes", Flag: true,
			Bits: []byte{0x01, 0xFF}, Address: netip.MustParseAddr("10.1.2.3"), Pointer: &text,
			Nullable: sql.Null[int64]{V: -5, Valid: true}, Year: 2024,
			Seen: sql.NullTime{Time: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Valid: true},
		},
		{
			Tiny: 127, Big: math.MaxInt64, Decimal: "0.000", Bytes: []byte{}, Day: Date{1000, 1, 1},
			At: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), Span: 500 * time.Millisecond, Choice: "no",
			Bits: []byte{0, 0}, Address: netip.MustParseAddr("255.255.255.255"), Year: 1901,
		},
	}
	for _, row := range rows {
		row.ID = must[uint64](t)(typed.Insert(ctx, row))
		if row.ID == 0 {
			t.Fatal("the row has no number")
		}
		got := must[typedRow](t)(typed.Get(ctx, row.ID))
		if !reflect.DeepEqual(got, row) {
			t.Errorf("got  %+v\nwant %+v", got, row)
		}
		for _, key := range []any{row.ID, fmt.Sprint(row.ID), []byte(fmt.Sprint(row.ID)), float64(row.ID), &row.ID} {
			must[typedRow](t)(typed.Get(ctx, key))
		}
	}
	byTime := IndexOf[typedRow](c, IndexSpec{Table: "typed", Index: "by_time"})
	if got := must[typedRow](t)(byTime.Get(ctx, rows[0].At.In(time.FixedZone("east", 7200)))); got.Tiny != -128 {
		t.Errorf("a time in another zone finds %+v", got)
	}
	_, err := IndexOf[struct {
		Huge int64 `hs:"huge"`
	}](c, IndexSpec{Table: "typed"}).Get(ctx, 1)
	if !errors.Is(err, ErrDecode) || MaybeExecuted(err) {
		t.Errorf("a number that does not fit gives %v", err)
	}
}

type person struct {
	ID   int    `hs:"id,auto"`
	Name string `hs:"name"`
	Age  *int   `hs:"age"`
}

func TestE2ERequests(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	people := IndexOf[person](c, IndexSpec{Table: "people", Filters: []string{"age"}})
	age := func(n int) *int { return &n }
	for i, name := range []string{"Ann", "Bob", "Cid", "Dan"} {
		id := must[uint64](t)(people.Insert(ctx, person{Name: name, Age: age(10 * (i + 1))}))
		if id != uint64(i+1) {
			t.Fatalf("the number %d", id)
		}
	}
	expect := func(what string, got []person, names ...string) {
		t.Helper()
		var all []string
		for _, one := range got {
			all = append(all, one.Name)
		}
		if !reflect.DeepEqual(all, names) {
			t.Errorf("%s gives %q, and not %q", what, all, names)
		}
	}
	find := func(what string, q Query, names ...string) {
		t.Helper()
		expect(what, must[[]person](t)(people.Find(ctx, q)), names...)
	}
	find("=", Eq(2), "Bob")
	find("nothing", Eq(99))
	find(">=", Ge(2).Limit(9), "Bob", "Cid", "Dan")
	find("<", Lt(3).Limit(9), "Bob", "Ann")
	find("offset", Gt(1).Limit(1).Offset(1), "Cid")
	find("in", In(4, 99, 1), "Dan", "Ann")
	find("in nothing", In())
	find("where", Ge(0).Limit(9).Where("age", ">", 20).Where("age", "!=", 40), "Cid")
	find("while", Ge(0).Limit(9).While("age", "<=", 20), "Ann", "Bob")
	find("long", Ge(0).Limit(5000), "Ann", "Bob", "Cid", "Dan")
	find("long by wish", Eq(1).Long(), "Ann")

	count := must[int64](t)(people.Update(ctx, Eq(1), Set{"name": "Anna"}))
	count += must[int64](t)(people.Increment(ctx, Ge(1).Limit(9), Set{"age": 1}))
	count += must[int64](t)(people.Decrement(ctx, Eq(1), Set{"age": 100}))
	if count != 5 {
		t.Errorf("%d rows were changed", count)
	}
	before := must[[]person](t)(people.FetchIncrement(ctx, Eq(1), Set{"age": 5}))
	expect("before", before, "Anna")
	if *before[0].Age != 11 {
		t.Errorf("%d before", *before[0].Age)
	}
	must[int64](t)(people.UpdateRow(ctx, Eq(2), person{ID: 2, Name: "Bobby"}))
	if bob := must[person](t)(people.Get(ctx, 2)); bob.Name != "Bobby" || bob.Age != nil {
		t.Errorf("Bob is %+v", bob)
	}
	expect("fetch and update", must[[]person](t)(people.FetchUpdate(ctx, Eq(3), Set{"name": "C"})), "Cid")
	expect("fetch and delete", must[[]person](t)(people.FetchDelete(ctx, Eq(3))), "C")
	if n := must[int64](t)(people.Delete(ctx, Ge(3).Limit(9))); n != 1 {
		t.Errorf("%d were deleted", n)
	}
	byName := c.Index(IndexSpec{Table: "people", Index: "by_name", Columns: []string{"id"}})
	row := must[Row](t)(byName.Get(ctx, "Anna"))
	if id := must[int64](t)(row.Int64(0)); id != 1 {
		t.Errorf("Anna is %d", id)
	}

	p := c.Pipeline()
	added := people.In(p).Insert(person{Name: "Eve"})
	twice := people.In(p).Insert(person{ID: 1, Name: "no"})
	found := people.In(p).Get(1)
	err := p.Run(ctx)
	if _, again := twice.Result(); !errors.Is(err, ErrDuplicate) || !errors.Is(again, ErrDuplicate) {
		t.Errorf("the pipeline gives %v", err)
	}
	eve := must[uint64](t)(added.Result())
	if got := must[person](t)(people.Get(ctx, eve)); got.Name != "Eve" {
		t.Errorf("Eve is %+v", got)
	}
	if ann := must[person](t)(found.Result()); ann.Name != "Anna" {
		t.Errorf("Ann is %+v", ann)
	}
}

func TestE2EErrors(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	spec := IndexSpec{Table: "people", Columns: []string{"id", "name"}}
	for what, want := range map[string]struct {
		err  error
		kind Kind
	}{
		"table":  {second(c.Index(IndexSpec{Table: "none", Columns: []string{"a"}}).Get(ctx, 1)), ErrSchema},
		"column": {second(c.Index(IndexSpec{Table: "people", Columns: []string{"none"}}).Get(ctx, 1)), ErrSchema},
		"write":  {second(c.Index(IndexSpec{Table: "people", Columns: []string{"none"}}).InsertValues(ctx, 1)), ErrSchema},
		"parts":  {second(c.Index(spec).Get(ctx, 1, 2)), ErrRequest},
		"null":   {second(c.Index(spec).InsertValues(ctx, 1000, nil)), ErrValue},
		"long":   {second(c.Index(spec).Modify(ctx, Eq(1), OpUpdate, 1, "much too long for a name of twenty")), ErrValue},
	} {
		var e *Error
		if !errors.Is(want.err, want.kind) || !errors.Is(want.err, ErrReply) || !errors.As(want.err, &e) || e.MaybeExecuted {
			t.Errorf("%s gives %v", what, want.err)
		}
	}
}

// What works with the original plugin, too.
func TestE2EOriginal(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	people := IndexOf[person](c, IndexSpec{Table: "people", Filters: []string{"age"}})
	age := 30
	for _, name := range []string{"Ann", "Bob", "Cid"} {
		must[uint64](t)(people.Insert(ctx, person{Name: name, Age: &age}))
	}
	if bob := must[person](t)(people.Get(ctx, 2)); bob.Name != "Bob" || *bob.Age != 30 {
		t.Errorf("%+v", bob)
	}
	if _, err := people.Get(ctx, 99); !errors.Is(err, ErrNoRows) {
		t.Error(err)
	}
	if n := must[int64](t)(people.Update(ctx, Eq(2), Set{"name": "Bobby"})); n != 1 {
		t.Error(n)
	}
	if n := must[int64](t)(people.Increment(ctx, Eq(2), Set{"age": 1})); n != 1 {
		t.Error(n)
	}
	if all := must[[]person](t)(people.Find(ctx, Ge(1).Limit(9).Where("age", ">", 30))); len(all) != 1 || all[0].Name != "Bobby" {
		t.Errorf("%+v", all)
	}
	if some := must[[]person](t)(people.Find(ctx, In(3, 1))); len(some) != 2 || some[0].Name != "Cid" {
		t.Errorf("%+v", some)
	}
	if n := must[int64](t)(people.Delete(ctx, Eq(3))); n != 1 {
		t.Error(n)
	}
	_, err := c.Index(IndexSpec{Table: "none", Columns: []string{"a"}}).Get(ctx, 1)
	if !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	if _, err = people.Insert(ctx, person{ID: 1, Name: "again"}); !errors.Is(err, ErrDuplicate) {
		t.Error(err)
	}
}

// Many goroutines with rows of their own, some of which give up: nobody sees a wrong row.
func TestE2EManyCallers(t *testing.T) {
	c := openE2E(t)
	counters := IndexOf[struct {
		ID int    `hs:"id"`
		N  int    `hs:"n"`
		By string `hs:"by_whom"`
	}](c, IndexSpec{Table: "counters"})
	var all sync.WaitGroup
	var givenUp atomic.Int64
	for i := range 64 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			name, id := fmt.Sprintf("caller %d", i), 1000+i
			ctx := t.Context()
			if _, err := counters.InsertValues(ctx, id, 0, name); err != nil {
				t.Error(err)
				return
			}
			done := 0
			for range 200 {
				if r.IntN(4) == 0 {
					hasty, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(300))*time.Microsecond)
					row, err := counters.Get(hasty, id)
					cancel()
					if err == nil && row.By != name {
						t.Errorf("%s gets %+v", name, row)
					}
					if err != nil {
						givenUp.Add(1)
					}
				}
				n, err := counters.Increment(ctx, Eq(id), Set{"n": 1})
				if err != nil || n != 1 {
					t.Error(n, err)
					return
				}
				done++
				row, err := counters.Get(ctx, id)
				if err != nil || row.By != name || row.N != done {
					t.Errorf("%s gets %+v, %v, and not %d", name, row, err, done)
				}
			}
		})
	}
	all.Wait()
	s := c.Stats()
	t.Logf("%d gave up, %+v", givenUp.Load(), s)
}

func TestE2ERows(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	users := IndexOf[struct {
		ID int `hs:"user_id"`
	}](c, IndexSpec{Table: "user"})
	rows := rowsOfUser(t)
	for range 3 {
		next := 1
		for user, err := range users.Rows(ctx, Ge(1).Limit(10*rows)) {
			if err != nil || user.ID != next {
				t.Fatalf("%+v, %v in place of %d", user, err, next)
			}
			next++
		}
		if next != rows+1 {
			t.Fatalf("%d rows", next-1)
		}
		seen := 0
		for _, err := range users.Rows(ctx, Ge(1).Limit(rows)) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == 10 {
				break
			}
		}
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := 0
	var last error
	for _, last = range users.Rows(limited, Ge(1).Limit(rows)) {
		if seen++; seen == 5 {
			cancel()
		}
	}
	if !errors.Is(last, ErrCanceled) {
		t.Errorf("%d rows, and %v", seen, last)
	}
	if err := second(c.Index(IndexSpec{Table: "none", Columns: []string{"a"}}).Find(ctx, Eq(1))); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	for _, err := range c.Index(IndexSpec{Table: "none", Columns: []string{"a"}}).Rows(ctx, Eq(1)) {
		if !errors.Is(err, ErrSchema) {
			t.Error(err)
		}
	}
}

func rowsOfUser(t testing.TB) int {
	n, err := strconv.Atoi(environment(t, "HS_E2E_ROWS"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestE2ELogIn has a URL that works, and one that must be refused as the second variable says.
func TestE2ELogIn(t *testing.T) {
	c := openURL(t, environment(t, "HS_E2E_URL"))
	if _, err := c.Index(IndexSpec{Table: "t", Columns: []string{"id"}}).Get(t.Context(), 1); err != nil {
		t.Error(err)
	}
	refused := openURL(t, environment(t, "HS_E2E_REFUSED"))
	_, err := refused.Index(IndexSpec{Table: "t", Columns: []string{"id"}}).Get(t.Context(), 1)
	if kind := Kind(environment(t, "HS_E2E_KIND")); !errors.Is(err, kind) || MaybeExecuted(err) {
		t.Errorf("%v is not %s", err, kind)
	}
}

// TestE2EFaults works while somebody closes its connections, or restarts the server. What was acknowledged has to be there
// once, and what was not sent not at all.
func TestE2EFaults(t *testing.T) {
	config, err := ParseURL(environment(t, "HS_E2E_URL"))
	if err != nil {
		t.Fatal(err)
	}
	config.RetryReads, config.ConnectAttempts, config.BackoffMax = 3, 20, 200*time.Millisecond
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seconds, err := strconv.Atoi(environment(t, "HS_E2E_SECONDS"))
	if err != nil {
		t.Fatal(err)
	}
	counters := IndexOf[struct {
		N int `hs:"n"`
	}](c, IndexSpec{Table: "counters"})
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var all sync.WaitGroup
	var unsure atomic.Int64
	for i := range 16 {
		all.Go(func() {
			ctx, id, least, most := t.Context(), 1+i, 0, 0
			for time.Now().Before(end) {
				n, err := counters.Increment(ctx, Eq(id), Set{"n": 1})
				switch {
				case err == nil && n == 1:
					least, most = least+1, most+1
				case MaybeExecuted(err):
					unsure.Add(1)
					most++
				case !SafeToRetry(err):
					t.Errorf("%d, %v", n, err)
				}
				row, err := counters.Get(ctx, id)
				if err != nil {
					continue
				}
				if row.N < least || row.N > most {
					t.Errorf("counter %d is %d, and not from %d to %d", id, row.N, least, most)
				}
				least, most = row.N, row.N
			}
		})
	}
	all.Wait()
	s := c.Stats()
	t.Logf("%d were unsure; %+v", unsure.Load(), s)
	if s.ConnectionsLost == 0 {
		t.Error("no connection was lost")
	}
}
