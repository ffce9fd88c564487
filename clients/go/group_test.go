package handlersocket

import (
	"errors"
	"testing"
)

// What cannot be meant as a group is refused before anything is sent.
func TestGroupsThatCannotBeMeant(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1,2/d")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := Open("handlersocket://192.0.2.1:1,2/d")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	x := IndexOf[counter](c, IndexSpec{Table: "t"})
	foreign := IndexOf[counter](other, IndexSpec{Table: "t"})
	for name, add := range map[string]func(*Group){
		"a find meets nothing":         func(g *Group) { x.InGroup(g).Some().Get(1) },
		"an insert meets nothing":      func(g *Group) { x.InGroup(g).None().InsertValues(1) },
		"IN without values":            func(g *Group) { x.InGroup(g).Some().Delete(In()) },
		"an index of another client":   func(g *Group) { foreign.InGroup(g).Delete(Eq(1)) },
		"a request that is no request": func(g *Group) { x.InGroup(g).Get() },
		"too many requests": func(g *Group) {
			for range MaxGroup {
				x.InGroup(g).Delete(Eq(1))
			}
		},
	} {
		g := c.Group()
		fine := x.InGroup(g).Some().Update(Eq(1), Set{"visits": 2})
		add(g)
		if err := g.Run(t.Context()); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := fine.Result(); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: the other request: %v", name, err)
		}
	}
	g := c.Group()
	none := x.InGroup(g).Find(In())
	if err := g.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if rows, err := none.Result(); rows != nil || err != nil {
		t.Error(rows, err)
	}
	if c.Stats().ConnectionsMade != 0 {
		t.Error("something was sent")
	}
}
