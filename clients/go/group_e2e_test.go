//go:build e2e

package handlersocket

import (
	"errors"
	"sync"
	"testing"
)

// Groups at a real server.

type account struct {
	ID      int64 `hs:"id"`
	Balance int64 `hs:"balance"`
}

func accountsOf(t *testing.T) *Index[account] {
	t.Helper()
	x := IndexOf[account](openE2E(t), IndexSpec{Table: "accounts", Filters: []string{"balance"}})
	must[int64](t)(x.Delete(t.Context(), Range().Limit(1000)))
	must[[]Outcome](t)(x.InsertMany(t.Context(), []account{{1, 100}, {2, 0}}, DuplicateFail))
	return x
}

func balances(t *testing.T, x *Index[account]) [2]int64 {
	t.Helper()
	rows := must[[]account](t)(x.Find(t.Context(), Range().Limit(2)))
	return [2]int64{rows[0].Balance, rows[1].Balance}
}

func transfer(t *testing.T, x *Index[account], from, to, amount int64) error {
	g := x.client.Group()
	x.InGroup(g).Some().Decrement(Eq(from), Set{"balance": amount})
	x.InGroup(g).Some().Increment(Eq(to), Set{"balance": amount})
	return g.Run(t.Context())
}

// Money goes from one account to the other, and never by half.
func TestE2EGroupTransfer(t *testing.T) {
	x := accountsOf(t)
	if err := transfer(t, x, 1, 2, 30); err != nil || balances(t, x) != [2]int64{70, 30} {
		t.Fatal(err, balances(t, x))
	}
	var e *Error
	err := transfer(t, x, 1, 2, 71) // not so much is there
	if !errors.As(err, &e) || !errors.Is(err, ErrUnmet) || e.Line != 1 || MaybeExecuted(err) {
		t.Error(err)
	}
	err = transfer(t, x, 1, 3, 5) // there is no such account
	if !errors.As(err, &e) || !errors.Is(err, ErrUnmet) || e.Line != 2 {
		t.Error(err)
	}
	if balances(t, x) != [2]int64{70, 30} {
		t.Error(balances(t, x))
	}
	var all sync.WaitGroup
	for i := range int64(8) {
		all.Go(func() {
			for range 20 {
				if err := transfer(t, x, 1+i%2, 2-i%2, 7); err != nil && !errors.Is(err, ErrUnmet) {
					t.Error(err)
				}
				if both := balances(t, x); both[0]+both[1] != 100 {
					t.Errorf("a transfer by half: %v", both)
				}
			}
		})
	}
	all.Wait()
}

// A row is changed only if nobody has changed it meanwhile.
func TestE2EGroupCompareAndSet(t *testing.T) {
	x := accountsOf(t)
	set := func(old, value int64) error {
		g := x.client.Group()
		changed := x.InGroup(g).Some().Update(Eq(1).Where("balance", "=", old), Set{"balance": value})
		row := x.InGroup(g).Get(1)
		if err := g.Run(t.Context()); err != nil {
			return err
		}
		if n := must[int64](t)(changed.Result()); n != 1 {
			t.Error(n)
		}
		if found := must[account](t)(row.Result()); found.Balance != value {
			t.Error(found)
		}
		return nil
	}
	if err := set(100, 1); err != nil {
		t.Error(err)
	}
	if err := set(100, 2); !errors.Is(err, ErrUnmet) || !errors.Is(err, ErrReply) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for done := 0; done < 25; {
				row, err := x.Get(t.Context(), 1)
				if err != nil {
					t.Error(err)
					return
				}
				g := x.client.Group()
				x.InGroup(g).Some().Update(Eq(1).Where("balance", "=", row.Balance), Set{"balance": row.Balance + 1})
				if err := g.Run(t.Context()); err == nil {
					done++
				} else if !errors.Is(err, ErrUnmet) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got := balances(t, x)[0]; got != 101 {
		t.Errorf("%d, and not 101: an update was lost", got)
	}
}

// What is locked and what must not be there, and several indexes.
func TestE2EGroupLocks(t *testing.T) {
	x, ctx := accountsOf(t), t.Context()
	people := IndexOf[person](x.client, IndexSpec{Table: "people"})
	g := x.client.Group()
	here := x.InGroup(g).Some().FetchLock(Eq(1))
	none := x.InGroup(g).None().Lock(Eq(3))
	x.InGroup(g).Insert(account{3, 7})
	row := people.InGroup(g).Insert(person{Name: "Group"})
	count := x.InGroup(g).Count(Range())
	if err := g.Run(ctx); err != nil || g.Len() != 0 {
		t.Fatal(err)
	}
	if rows := must[[]account](t)(here.Result()); len(rows) != 1 || rows[0].Balance != 100 {
		t.Error(rows)
	}
	if must[int64](t)(none.Result()) != 0 || must[uint64](t)(row.Result()) == 0 || must[int64](t)(count.Result()) != 3 {
		t.Error("what is locked, a number for the row, and 3 rows")
	}
	g = x.client.Group()
	none = x.InGroup(g).None().Lock(Eq(3))
	people.InGroup(g).Insert(person{Name: "Undone"})
	duplicate := x.InGroup(g).Insert(account{1, 1})
	err := g.Run(ctx)
	var e *Error
	if !errors.As(err, &e) || e.Line != 1 || !errors.Is(err, ErrUnmet) {
		t.Error(err)
	}
	if _, err := duplicate.Result(); !errors.As(err, &e) || e.Text != TextUndone || e.Line != 1 {
		t.Error(err)
	}
	x.InGroup(g).Insert(account{9, 1})
	x.InGroup(g).Insert(account{1, 1})
	if err := g.Run(ctx); !errors.As(err, &e) || e.Line != 2 || !errors.Is(err, ErrDuplicate) {
		t.Error(err)
	}
	if must[bool](t)(x.Exists(ctx, Eq(9))) {
		t.Error("9 is there")
	}
}
