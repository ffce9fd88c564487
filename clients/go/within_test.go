package handlersocket

import (
	"errors"
	"math"
	"testing"
	"time"
)

// A time for the server stands in front of the request, in milliseconds.
func TestTimesForTheServer(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1: "1", time.Microsecond: "1", 1499 * time.Microsecond: "1", 1500 * time.Microsecond: "2", time.Second: "1000",
		mostWithin * time.Millisecond: "2147483648", mostWithin*time.Millisecond + 499*time.Microsecond: "2147483648",
		0: "", -1: "", -time.Second: "", mostWithin*time.Millisecond + 500*time.Microsecond: "", math.MaxInt64: "", math.MinInt64: "",
	} {
		if want != "" {
			want = "within\t" + want + "\t"
		}
		got, err := withinOf(d)
		if got != want || (want == "") != errors.Is(err, ErrUsage) {
			t.Errorf("%s is %q, %v", d, got, err)
		}
	}
}

func TestRequestsWithATime(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1,2/d")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plain := IndexOf[counter](c, IndexSpec{Table: "t"})
	x := plain.Within(50 * time.Millisecond)
	row := counter{ID: 1}
	fronts := map[string]string{}
	add := func(name string, k *call) { fronts[name] = k.front }
	add("get", x.get([]any{1}).call)
	add("find", x.find(Ge(1)).call)
	add("count", x.count(Range()).call)
	add("exists", x.exists(Eq(1)).call)
	add("insert", x.insert(row).call)
	add("insert many", x.insertMany([]counter{row}, "").call)
	add("upsert", x.upsert(row, Set{"visits": Add(1)}, nil).call)
	add("update", x.change(Eq(1), OpUpdate, Set{"visits": 1}).call)
	add("assignment", x.change(Eq(1), OpUpdate, Set{"visits": Add(1)}).call)
	add("fetch and update", x.fetchChange(Eq(1), OpUpdate, rowsBefore, Set{"visits": 1}).call)
	add("update and fetch", x.fetchChange(Eq(1), OpUpdate, rowsAfter, Set{"visits": Add(1)}).call)
	add("delete", x.modify(Eq(1), OpDelete, nil).call)
	for name, front := range fronts {
		if front != "within\t50\t" {
			t.Errorf("%s: %q", name, front)
		}
	}
	if plain.get([]any{1}).call.front != "" || x.Within(time.Second).get([]any{1}).call.front != "within\t1000\t" {
		t.Error("each index has its own time")
	}
	if x.definition != plain.definition || x.known != plain.known {
		t.Error("it is the same index")
	}
	g, p := c.Group(), c.Pipeline()
	x.InGroup(g).Some().Delete(Eq(1))
	inGroup := g.Run(t.Context())
	plain.InGroup(g.Within(-1)).Delete(Eq(1))
	for what, err := range map[string]error{
		"none":        second(plain.Within(0).Get(t.Context(), 1)),
		"of a wrong":  second(IndexOf[int](c, IndexSpec{}).Within(time.Second).Get(t.Context(), 1)),
		"wrong again": second(plain.Within(-1).Within(time.Second).Get(t.Context(), 1)),
		"in a group":  inGroup,
		"of a group":  g.Run(t.Context()),
		"too long":    second(plain.Within(math.MaxInt64).In(p).Get(1).Result()),
		"pipeline":    p.Run(t.Context()),
		"rows": func() error {
			for _, err := range plain.Within(-1).Rows(t.Context(), Eq(1)) {
				return err
			}
			return nil
		}(),
	} {
		if !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// On the wire: of an iteration, of neighbours, of a group, and of what is sent again.
func TestTimesOnTheWire(t *testing.T) {
	c, done := playClient(t, func(c *Config) { c.RetryReads = 1 },
		expects(openT+"within\t50\t1\t>=\t1\t1\t10\n", "0\t1\n0\t1\t1\t2\n"),
		append(expects(openT+"within\t50\t1\t=\t1\t1\n1\t=\t1\t2\n", "0\t1\n1\t1\tmax_request_time\n0\t1\t2\n"),
			scriptStep{Expect: textOfBytes("within\t50\t1\t=\t1\t3\n")}, scriptStep{Close: true}),
		expects(openT+"within\t50\t1\t=\t1\t3\n", "0\t1\n0\t1\t3\n"),
		expects(openT+"within\t700\tG\t1\nsome\t1\t=\t1\t4\t1\t0\tD\n", "0\t1\n1\t1\tmax_request_time\n1\t1\tmax_request_time\n",
			"within\t700\tG\t1\n1\t+\t1\t4\n", "0\t1\n0\t1\n"))
	x, ctx := indexT(c), t.Context()
	timed := x.Within(50 * time.Millisecond)
	n := 0
	for _, err := range timed.Rows(ctx, Ge(1).Limit(10)) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	p := c.Pipeline()
	over, fine := timed.In(p).Get(1), x.In(p).Get(2)
	var e *Error
	if err := p.Run(ctx); !errors.As(err, &e) || e.Text != TextMaxRequestTime || !errors.Is(err, ErrLimit) || e.MaybeExecuted {
		t.Error(err)
	}
	if _, err := over.Result(); !errors.As(err, &e) || e.Text != TextMaxRequestTime {
		t.Error(err)
	}
	if _, err := fine.Result(); err != nil || n != 2 {
		t.Error(n, err)
	}
	if row, err := timed.Get(ctx, 3); err != nil || row.String(0) != "3" {
		t.Error(row, err)
	}
	g := c.Group().Within(700 * time.Millisecond)
	x.InGroup(g).Some().Delete(Eq(4))
	if err := g.Run(ctx); !errors.As(err, &e) || e.Text != TextMaxRequestTime || e.Line != 0 || e.MaybeExecuted {
		t.Error(err)
	}
	x.InGroup(g).InsertValues(4)
	if err := g.Run(ctx); err != nil {
		t.Error(err)
	}
	done()
}
