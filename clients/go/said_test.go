package handlersocket

import (
	"errors"
	"strings"
	"testing"
)

// How requests that the original does not have are said, and the line that becomes of each.

type counter struct {
	ID     uint64 `hs:"id,auto"`
	Name   string `hs:"name"`
	Visits int64  `hs:"visits"`
}

func lineOf[R any](r request[R]) string {
	if r.err != nil {
		return r.err.Error()
	}
	return strings.Join(r.call.definition.columns, ",") + string(r.call.request)
}

func TestWhatIsSaid(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1,2/d")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x := IndexOf[counter](c, IndexSpec{Table: "t", Filters: []string{"age"}})
	const mine = "id,name,visits"
	const one = "\t=\t1\t1\t1\t0\t"
	for _, each := range []struct{ got, want string }{
		{lineOf(x.find(Range())), mine + "\tup\t0\n"},
		{lineOf(x.find(Range(4).Down().Limit(3))), mine + "\tdown\t1\t4\t3\n"},
		{lineOf(x.find(Range().Ge(nil).Lt("b"))), mine + "\tup\t0\t>=\t\x00\t<\tb\n"},
		{lineOf(x.find(Range("").In(0, 1, 2).Gt(3))), mine + "\tup\t1\t\t>\t3\t2\t0\t@\t0\t2\t1\t2\n"},
		{lineOf(x.find(Range().Prefix("a%"))), mine + "\tup\t0\t^\ta%\n"},
		{lineOf(x.count(In(1, 2))), mine + "\t=\t1\t\t0\t0\t@\t0\t2\t1\t2\tC\n"},
		{lineOf(x.count(Range().Limit(5))), mine + "\tup\t0\t5\tC\n"},
		{lineOf(x.exists(Eq(1).Where("age", "<", 3))), mine + "\t=\t1\t1\t1\t0\tF\t<\t0\t3\tE\n"},
		{lineOf(x.change(Eq(1), OpUpdate, Set{"visits": 3})), "visits" + one + "U\t3\n"},
		{lineOf(x.change(Eq(1), OpUpdate, Set{"visits": Add(3), "name": "a"})), mine + one + "set\t2\t1\t=\ta\t2\t+\t3\n"},
		{lineOf(x.change(Eq(1), OpUpdate, Set{"seen": Now()})), mine + ",seen" + one + "set\t1\t3\tnow\t\n"},
		{lineOf(x.fetchChange(Eq(1), OpUpdate, rowsBefore, Set{"visits": Max(3)})), mine + one + "set?\t1\t2\tmax\t3\n"},
		{lineOf(x.fetchChange(Eq(1), OpUpdate, rowsAfter, Set{"id": 3})), mine + one + "U!\t3\n"},
		{lineOf(x.fetchChange(Eq(1), OpIncrement, rowsAfter, Set{"visits": 3})), "visits,id,name" + one + "+!\t3\n"},
		{lineOf(x.insertMany([]counter{{0, "a", 1}, {2, "b", 3}}, DuplicateIgnore)),
			mine + "\tinsert\t2\t3\t\x00\ta\t1\t2\tb\t3\telse\tignore\n"},
		{lineOf(x.insertSets([]Set{{"name": "a", "age": nil}}, "")), "age,name\tinsert\t1\t2\t\x00\ta\n"},
		{lineOf(x.upsertSet(Set{"id": 1}, Set{"visits": Inserted(), "id": 2}, []Condition{If("age", "<", 9)})),
			"id,visits\tinsert\t1\t1\t1\telse\tupdate\t2\t0\t=\t2\t1\tnew\t\tF\t<\t0\t9\n"},
		{lineOf(x.upsert(counter{1, "a", 2}, Set{"visits": SubtractWithin(1, 0, nil)}, nil)),
			mine + "\tinsert\t1\t3\t1\ta\t2\telse\tupdate\t1\t2\t-[\t1\t0\t\x00\n"},
	} {
		if each.got != each.want {
			t.Errorf("%q, and not %q", each.got, each.want)
		}
	}
	if r := x.count(Range()); r.route != RouteLong || r.call.modifies() {
		t.Error("a count without a limit goes with the long finds")
	}
	if r := x.count(Range().Limit(5)); r.route != RouteRead {
		t.Error("a count with a limit is a lookup")
	}
	if r := x.upsert(counter{}, Set{"id": 1}, nil); r.route != RouteWrite || !r.call.modifies() {
		t.Error("an upsert modifies")
	}
}

// The own code of a program that reads values.
type doubtful struct{ value string }

var errDoubt = &Error{Kind: ErrProtocol, words: "of another connection"}

func (d *doubtful) Scan(source any) error {
	switch d.value = string(source.([]byte)); d.value {
	case "fails":
		return errDoubt
	case "panics":
		panic("not this one")
	}
	return nil
}

// What it does wrong ends its own call. The connection stays, and others get their replies.
func TestTheProgramsOwnCode(t *testing.T) {
	_, port := startUnreliable(t, 0)
	c := chaosClient(t, port, func(*Config) {})
	x := IndexOf[struct {
		ID doubtful `hs:"id"`
	}](c, IndexSpec{Database: "d", Table: "t"})
	ctx := t.Context()
	pipeline := c.Pipeline()
	fails, fine := x.In(pipeline).Get("fails"), x.In(pipeline).Get("fine")
	if err := pipeline.Run(ctx); !errors.Is(err, ErrDecode) {
		t.Error(err)
	}
	if _, err := fails.Result(); !errors.Is(err, ErrDecode) || !errors.Is(err, errDoubt) || MaybeExecuted(err) {
		t.Error(err)
	}
	if row, err := fine.Result(); row.ID.value != "fine" || err != nil {
		t.Error(row, err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it does not panic")
			}
		}()
		_, _ = x.Get(ctx, "panics")
	}()
	if row, err := x.Get(ctx, "fine"); row.ID.value != "fine" || err != nil {
		t.Error(row, err)
	}
	for _, err := range x.Rows(ctx, Eq("fails")) {
		if !errors.Is(err, ErrDecode) {
			t.Error(err)
		}
	}
	if made := c.Stats().ConnectionsMade; made > 2 {
		t.Errorf("%d connections", made)
	}
}
