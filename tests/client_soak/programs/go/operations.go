package main

import (
	"context"
	"slices"

	"handlersocket2.example/handlersocket"
)

// An operation is what a caller does next. One that hurries has a short time.
type operation struct {
	weight  int
	name    string
	run     func(*caller, context.Context)
	hurries bool
}

var insertion = operation{name: "insert", run: (*caller).insert}

var operations = []operation{
	{weight: 30, name: "find", run: (*caller).find},
	{weight: 8, name: "find all", run: (*caller).findAll},
	{weight: 3, name: "count", run: (*caller).count},
	{weight: 10, name: "update", run: (*caller).update},
	{weight: 10, name: "increment", run: (*caller).increment},
	{weight: 5, name: "fetch and increment", run: (*caller).fetchIncrement},
	{weight: 5, name: "delete", run: (*caller).delete},
	{weight: 10, name: "insert into log", run: (*caller).insertLog},
	{weight: 8, name: "group", run: (*caller).group},
	{weight: 5, name: "pipeline", run: (*caller).pipeline},
	{weight: 3, name: "iterate", run: (*caller).iterate},
	{weight: 3, name: "find in a hurry", run: (*caller).find, hurries: true},
	{weight: 3, name: "increment in a hurry", run: (*caller).increment, hurries: true},
}

const (
	// The part of the key that IN is about, and how far behind all numbers the one is that is not there.
	numberPart = 2
	farBehind  = 1000
	// No caller comes to so many rows.
	allRows = 1_000_000
	// Rows begin with a number below this one.
	firstNumbers = 100
)

func (c *caller) insert(ctx context.Context) {
	row := liveRow{c.newNumber(), state{c.random.Int64N(firstNumbers), c.text()}}
	id, err := c.kept.Insert(ctx, c.row(row.number, row.state))
	f := c.fate(ctx, err, true)
	if f == done {
		expect(c, "AUTO_INCREMENT value", id, 0)
	}
	c.inserted(row, f)
}

func (c *caller) find(ctx context.Context) {
	row := c.anyRow()
	found, err := c.kept.Get(ctx, owner, c.number, row.number)
	if c.fate(ctx, err, false) == done {
		expect(c, "row", found, c.row(row.number, row.state))
	}
}

// allLive means the live rows, in a new order each time, and one that is not there.
func (c *caller) allLive() handlersocket.Query {
	c.random.Shuffle(len(c.live), func(i, j int) { c.live[i], c.live[j] = c.live[j], c.live[i] })
	var numbers []any
	for _, row := range c.live {
		numbers = append(numbers, row.number)
	}
	return c.key(0).In(numberPart, append(numbers, c.next+farBehind)...)
}

func (c *caller) findAll(ctx context.Context) {
	found, err := c.kept.Find(ctx, c.allLive())
	if c.fate(ctx, err, false) != done {
		return
	}
	expect(c, "number of rows", len(found), len(c.live))
	for i, row := range c.live {
		expect(c, "row", found[i], c.row(row.number, row.state))
	}
}

func (c *caller) count(ctx context.Context) {
	count, err := c.kept.Count(ctx, c.allLive())
	if c.fate(ctx, err, false) == done {
		expect(c, "number of rows", count, int64(len(c.live)))
	}
}

func (c *caller) update(ctx context.Context) {
	row := c.anyRow()
	after := state{row.n, c.text()}
	for after == row.state {
		after.text = c.text()
	}
	rows, err := c.kept.Update(ctx, c.key(row.number), handlersocket.Set{"text": after.text})
	c.modified(ctx, row, &after, rows, err)
}

func (c *caller) increment(ctx context.Context) {
	row, amount := c.anyRow(), c.amount()
	after := row.plus(amount)
	rows, err := c.kept.Increment(ctx, c.key(row.number), handlersocket.Set{"n": amount})
	c.modified(ctx, row, &after, rows, err)
}

func (c *caller) delete(ctx context.Context) {
	row := c.anyRow()
	rows, err := c.kept.Delete(ctx, c.key(row.number))
	c.modified(ctx, row, nil, rows, err)
}

// modified judges the modification of a row that becomes `after` by it.
func (c *caller) modified(ctx context.Context, row liveRow, after *state, rows int64, err error) {
	f := c.fate(ctx, err, true)
	if f == done {
		expect(c, "number of rows", rows, 1)
	}
	c.changed(row, after, f)
}

func (c *caller) fetchIncrement(ctx context.Context) {
	row, amount := c.anyRow(), c.amount()
	after := row.plus(amount)
	before, err := c.kept.FetchIncrement(ctx, c.key(row.number), handlersocket.Set{"n": amount})
	f := c.fate(ctx, err, true)
	if f == done {
		expect(c, "number of rows", len(before), 1)
		expect(c, "row before", before[0], c.row(row.number, row.state))
	}
	c.changed(row, &after, f)
}

func (c *caller) insertLog(ctx context.Context) {
	number := c.newLogNumber()
	id, err := c.log.Insert(ctx, logRow{owner, c.number, number})
	c.judgeLog(ctx, number, id, err)
}

func (c *caller) judgeLog(ctx context.Context, number int, id uint64, err error) {
	f := c.fate(ctx, err, true)
	if f == done && id == 0 {
		c.wrong("the row of log has no AUTO_INCREMENT value")
	}
	c.logged(number, f)
}

// group takes from one row, gives it to another, and logs that. It takes by an assignment, because a decrement
// leaves a row as it is that would cross zero.
func (c *caller) group(ctx context.Context) {
	amount, number := c.amount(), c.newLogNumber()
	chosen := c.random.Perm(len(c.live))
	less, more := c.live[chosen[0]], c.live[chosen[1]]
	lessAfter, moreAfter := less.plus(-amount), more.plus(amount)

	g := c.client.Group()
	taken := c.kept.InGroup(g).Some().Update(c.key(less.number), handlersocket.Set{"n": handlersocket.Subtract(amount)})
	given := c.kept.InGroup(g).Some().Increment(c.key(more.number), handlersocket.Set{"n": amount})
	added := c.log.InGroup(g).Insert(logRow{owner, c.number, number})
	switch f := c.fate(ctx, g.Run(ctx), true); f {
	case done:
		rows, err := taken.Result()
		c.modified(ctx, less, &lessAfter, rows, err)
		rows, err = given.Result()
		c.modified(ctx, more, &moreAfter, rows, err)
		id, err := added.Result()
		c.judgeLog(ctx, number, id, err)
		if c.failed {
			c.wrong("the group has succeeded, and a part of it has failed")
		}
	case undone:
		c.logged(number, f)
	case unsure:
		c.forget(less.number)
		c.forget(more.number)
		rows := [2]doubt{{less.number, &less.state, &lessAfter}, {more.number, &more.state, &moreAfter}}
		c.joints = append(c.joints, joint{rows, number})
	}
}

func (c *caller) pipeline(ctx context.Context) {
	number := c.newLogNumber()
	p := c.client.Pipeline()
	finds := make([]*handlersocket.Pending[keptRow], len(c.live))
	var added *handlersocket.Pending[uint64]
	for i, row := range c.live {
		if i == len(c.live)/2 {
			added = c.log.In(p).Insert(logRow{owner, c.number, number})
		}
		finds[i] = c.kept.In(p).Get(owner, c.number, row.number)
	}
	_ = p.Run(ctx) // each request has its own error
	for i, row := range c.live {
		found, err := finds[i].Result()
		if c.fate(ctx, err, false) == done {
			expect(c, "row", found, c.row(row.number, row.state))
		}
	}
	id, err := added.Result()
	c.judgeLog(ctx, number, id, err)
}

func (c *caller) iterate(ctx context.Context) {
	possible, last := c.possible(), -1
	for row, err := range c.kept.Rows(ctx, handlersocket.Range(owner, c.number).Ge(0).Limit(allRows)) {
		if c.fate(ctx, err, false) != done {
			return
		}
		if row.Number <= last {
			c.wrong("number %d came behind %d", row.Number, last)
		}
		last = row.Number
		if !slices.ContainsFunc(possible[last], func(s *state) bool { return s != nil && row == c.row(last, *s) }) {
			c.wrong("%v came, which is not one of %v", row, possible[last])
		}
		delete(possible, last)
	}
	for number, states := range possible {
		if !slices.Contains(states, nil) {
			c.wrong("the row %d is missing", number)
		}
	}
}
