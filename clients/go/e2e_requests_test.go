//go:build e2e

package handlersocket

import (
	"errors"
	"reflect"
	"testing"
)

// What the original does not have, at a real server.

type visitor struct {
	ID     int64   `hs:"id,auto"`
	Name   *string `hs:"name"`
	Visits *int64  `hs:"visits"`
	Flags  int64   `hs:"flags"`
}

func visitorsOf(t *testing.T) *Index[visitor] {
	t.Helper()
	x := IndexOf[visitor](openE2E(t), IndexSpec{Table: "visitors", Filters: []string{"visits"}})
	must[int64](t)(x.Delete(t.Context(), Range().Limit(1000)))
	ann, anton, none := "Ann", "Anton", (*string)(nil)
	rows := []visitor{{1, &ann, whole64(1), 5}, {2, &anton, whole64(2), 5}, {3, none, whole64(3), 5}}
	must[[]Outcome](t)(x.InsertMany(t.Context(), rows, DuplicateFail))
	return x
}

func whole64(n int64) *int64 { return &n }

func visitorIDs(rows []visitor) []int64 {
	ids := []int64{}
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func TestE2ERanges(t *testing.T) {
	x, ctx := visitorsOf(t), t.Context()
	byName := IndexOf[visitor](x.client, IndexSpec{Table: "visitors", Index: "by_name"})
	for _, each := range []struct {
		in   *Index[visitor]
		q    Query
		want []int64
	}{
		{x, Range(), []int64{1, 2, 3}},
		{x, Range().Down(), []int64{3, 2, 1}},
		{x, Range().Gt(1).Le(3), []int64{2, 3}},
		{x, Range().Ge(1).Lt(3).Down(), []int64{2, 1}},
		{x, Gt(2), []int64{3}},
		{byName, Range().Prefix("An"), []int64{1, 2}},
		{byName, Range().Ge(nil).Lt("Anton"), []int64{3, 1}},
		{byName, Range().Lt("Anton"), []int64{1}},
		{byName, Range(nil), []int64{3}},
	} {
		got := visitorIDs(must[[]visitor](t)(each.in.Find(ctx, each.q.Limit(9))))
		if !reflect.DeepEqual(got, each.want) {
			t.Errorf("%v gives %v, and not %v", each.q, got, each.want)
		}
		if count := must[int64](t)(each.in.Count(ctx, each.q)); count != int64(len(each.want)) {
			t.Errorf("%v counts %d", each.q, count)
		}
	}
	if count := must[int64](t)(x.Count(ctx, Range().Limit(2))); count != 2 {
		t.Error(count)
	}
	if count := must[int64](t)(x.Count(ctx, Range().Where("visits", "<", 3))); count != 2 {
		t.Error(count)
	}
	if count := must[int64](t)(x.Count(ctx, In(1, 3, 9))); count != 2 {
		t.Error(count)
	}
	if !must[bool](t)(x.Exists(ctx, Eq(3))) || must[bool](t)(x.Exists(ctx, Eq(4))) {
		t.Error("3 is there, and 4 is not")
	}
}

func TestE2EAssignments(t *testing.T) {
	x, ctx := visitorsOf(t), t.Context()
	for _, each := range []struct {
		set    Set
		name   string
		visits int64
		flags  int64
	}{
		{Set{"visits": AddWithin(5, nil, 4), "name": Append("!")}, "Ann!", 4, 5},
		{Set{"visits": Default(), "flags": BitAnd(6), "seen": Now()}, "Ann!", 7, 4},
		{Set{"visits": Subtract(9), "flags": BitOr(3)}, "Ann!", -2, 7},
		{Set{"visits": SubtractWithin(9, -3, nil), "flags": BitXor(1)}, "Ann!", -3, 6},
		{Set{"visits": Max(8), "name": Prepend("Dr. "), "seen": nil}, "Dr. Ann!", 8, 6},
		{Set{"visits": Min(1), "flags": Add(1)}, "Dr. Ann!", 1, 7},
	} {
		if n := must[int64](t)(x.Update(ctx, Eq(1), each.set)); n != 1 {
			t.Errorf("%v changes %d rows", each.set, n)
		}
		row := must[visitor](t)(x.Get(ctx, 1))
		if *row.Name != each.name || *row.Visits != each.visits || row.Flags != each.flags {
			t.Errorf("%v makes %s %d %d", each.set, *row.Name, *row.Visits, row.Flags)
		}
	}
	before := must[[]visitor](t)(x.FetchUpdate(ctx, Eq(1), Set{"flags": Add(1)}))
	after := must[[]visitor](t)(x.UpdateFetch(ctx, Eq(1), Set{"flags": Add(1)}))
	if before[0].Flags != 7 || after[0].Flags != 9 {
		t.Error(before, after)
	}
	if rows := must[[]visitor](t)(x.UpdateFetch(ctx, Eq(1), Set{"flags": 2})); rows[0].Flags != 2 {
		t.Error(rows)
	}
	if rows := must[[]visitor](t)(x.IncrementFetch(ctx, Eq(1), Set{"visits": 2})); *rows[0].Visits != 3 {
		t.Error(rows)
	}
	if rows := must[[]visitor](t)(x.DecrementFetch(ctx, Eq(1), Set{"visits": 1})); *rows[0].Visits != 2 {
		t.Error(rows)
	}
}

func TestE2ESeveralRows(t *testing.T) {
	x, ctx := visitorsOf(t), t.Context()
	same := func(got []Outcome, err error) func(...Outcome) {
		return func(want ...Outcome) {
			t.Helper()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v, and not %v", got, err, want)
			}
		}
	}
	same(x.InsertSets(ctx, []Set{{"id": 8, "flags": 1}, {"id": 9, "flags": 2}}, DuplicateFail))(
		Outcome{DoneInserted, 8}, Outcome{DoneInserted, 9})
	if _, err := x.InsertSets(ctx, []Set{{"id": 10}, {"id": 9}}, DuplicateFail); !errors.Is(err, ErrDuplicate) {
		t.Error(err)
	}
	if must[bool](t)(x.Exists(ctx, Eq(10))) {
		t.Error("all of the rows are inserted, or none")
	}
	same(x.InsertSets(ctx, []Set{{"id": 9}}, DuplicateIgnore))(Outcome{DoneIgnored, 0})
	same(x.InsertSets(ctx, []Set{{"id": 9}}, DuplicateReplace))(Outcome{DoneReplaced, 9})
	changes := Set{"visits": Inserted(), "name": Append("!")}
	same(x.UpsertSets(ctx, []Set{{"id": 1, "visits": 50}, {"id": 20, "visits": 60}}, changes))(
		Outcome{DoneUpdated, 1}, Outcome{DoneInserted, 20})
	if row := must[visitor](t)(x.Get(ctx, 1)); *row.Name != "Ann!" || *row.Visits != 50 {
		t.Error(row)
	}
	p := x.client.Pipeline()
	unchanged := x.In(p).UpsertSet(Set{"id": 1}, Set{"visits": 50})
	unmet := x.In(p).UpsertSet(Set{"id": 1}, Set{"visits": 51}, If("visits", "<", 50))
	count := x.In(p).Count(Range())
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	if o := must[Outcome](t)(unchanged.Result()); o != (Outcome{DoneUnchanged, 1}) {
		t.Error(o)
	}
	if o := must[Outcome](t)(unmet.Result()); o != (Outcome{DoneUnmet, 1}) {
		t.Error(o)
	}
	if n := must[int64](t)(count.Result()); n != 6 {
		t.Error(n)
	}
}
