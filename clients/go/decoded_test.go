package handlersocket

import (
	"errors"
	"sync"
	"testing"
)

// Replies that are right, and whose values do not fit into what the program reads them into.

type narrowed struct {
	ID   int8
	Name string
}

// A modification whose rows cannot be read was executed all the same: it is not safe to retry. A find is.
func TestWhatCannotBeReadWasExecuted(t *testing.T) {
	const open = "P\t1\td\tt\tPRIMARY\tid,name\n"
	many := "1\t=\t1\t5\t1\t0\tU?\t7\tx\n"
	type run func(*Index[narrowed]) error
	for name, each := range map[string]struct {
		asked, answer string
		call          run
		kind          Kind
		maybe         bool
	}{
		"find": {"1\t=\t1\t5\n", "0\t2\t300\tann\n", func(x *Index[narrowed]) error {
			return second(x.Get(t.Context(), 5))
		}, ErrDecode, false},
		"fetch and update": {many, "0\t2\t300\tann\n", func(x *Index[narrowed]) error {
			return second(x.FetchModify(t.Context(), Eq(5), OpUpdate, 7, "x"))
		}, ErrDecode, true},
		"pipeline": {many, "0\t2\t300\tann\n", func(x *Index[narrowed]) error {
			p := x.client.Pipeline()
			one := x.In(p).FetchModify(Eq(5), OpUpdate, 7, "x")
			err := p.Run(t.Context())
			if own := second(one.Result()); !errors.Is(err, own) {
				t.Errorf("Run gives %v, and its request %v", err, own)
			}
			return err
		}, ErrDecode, true},
		"pipeline, no reply": {many, "0\t2\t300\n", func(x *Index[narrowed]) error {
			p := x.client.Pipeline()
			x.In(p).FetchModify(Eq(5), OpUpdate, 7, "x")
			return p.Run(t.Context())
		}, ErrProtocol, true},
		"group": {"G\t2\n1\t=\t1\t5\n1\t=\t1\t5\t1\t0\tD\n", "0\t1\n0\t2\t300\tann\n0\t1\t1\n", func(x *Index[narrowed]) error {
			g := x.client.Group()
			one := x.InGroup(g).Get(5)
			deleted := x.InGroup(g).Delete(Eq(5))
			err := g.Run(t.Context())
			if n, own := deleted.Result(); n != 1 || own != nil {
				t.Errorf("the request behind it gives %v, %v", n, own)
			}
			if own := second(one.Result()); !errors.Is(err, own) {
				t.Errorf("Run gives %v, and its request %v", err, own)
			}
			return err
		}, ErrDecode, true},
		"group of finds": {"G\t1\n1\t=\t1\t5\n", "0\t1\n0\t2\t300\tann\n", func(x *Index[narrowed]) error {
			g := x.client.Group()
			x.InGroup(g).Get(5)
			return g.Run(t.Context())
		}, ErrDecode, false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []error
			c, done := playClient(t, func(c *Config) {
				c.OnRequest = func(r RequestInfo) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, r.Err)
				}
			}, expects(open+each.asked, "0\t1\n"+each.answer))
			err := each.call(IndexOf[narrowed](c, IndexSpec{Table: "t"}))
			var e *Error
			if !errors.As(err, &e) || e.Kind != each.kind || !e.Sent || e.MaybeExecuted != each.maybe || SafeToRetry(err) == each.maybe {
				t.Errorf("%+v", err)
			}
			if s := c.Stats(); s.Errors != 1 {
				t.Errorf("%d errors are counted", s.Errors)
			}
			done()
			mu.Lock()
			defer mu.Unlock()
			if len(told) != 1 || !errors.Is(told[0], each.kind) {
				t.Errorf("the hook is told %v", told)
			}
		})
	}
}

// That there is no row is the result of a Get: its Pending has it, and a Pipeline or a Group has not failed.
func TestNoRowIsNoErrorOfRun(t *testing.T) {
	const asked = "P\t1\td\tt\tPRIMARY\tid,name\n1\t=\t1\t5\n"
	c, done := playClient(t, nil, expects(asked, "0\t1\n0\t2\n"))
	p := c.Pipeline()
	one := IndexOf[narrowed](c, IndexSpec{Table: "t"}).In(p).Get(5)
	if err := p.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := one.Result(); !errors.Is(err, ErrNoRows) {
		t.Error(err)
	}
	if s := c.Stats(); s.Errors != 0 {
		t.Error(s.Errors)
	}
	done()
}

// A bool is 0 or 1 and nothing else, and a number has to fit, in the digits that SQL has.
func TestValuesThatAreRefused(t *testing.T) {
	row := func(value string) Row {
		return Row{&definition{columns: []string{"c"}}, [][]byte{[]byte(value)}}
	}
	for _, value := range []string{"0", "1", "\x00", "\x01"} {
		var got bool
		if err := row(value).Scan(&got); err != nil || got != (value == "1" || value == "\x01") {
			t.Errorf("%q is %t, %v", value, got, err)
		}
	}
	for _, value := range []string{"", "2", "-1", "-0", "00", "01", "true", "\x02", "\x00\x01", " 1", "1.0"} {
		if err := row(value).Scan(new(bool)); !errors.Is(err, ErrDecode) {
			t.Errorf("%q is a bool, %v", value, err)
		}
	}
	for _, value := range []string{"", " 1", "1_0", "inf", "NaN", "0x1p3", "1e39"} {
		if err := row(value).Scan(new(float32)); !errors.Is(err, ErrDecode) {
			t.Errorf("%q is a float32, %v", value, err)
		}
	}
	for _, value := range []string{"1e400", "-inf", "0x1p3"} {
		if err := row(value).Scan(new(float64)); !errors.Is(err, ErrDecode) {
			t.Errorf("%q is a float64, %v", value, err)
		}
	}
	for _, value := range []string{"", " 1", "1_0", "+1", "0x1"} {
		if err := row(value).Scan(new(int)); !errors.Is(err, ErrDecode) {
			t.Errorf("%q is an int, %v", value, err)
		}
	}
	var narrow float32
	if err := row("-1.5e3").Scan(&narrow); err != nil || narrow != -1500 {
		t.Error(narrow, err)
	}
}

// What was not sent cannot be done twice.
func TestWhatWasNotSentIsSafeToRetry(t *testing.T) {
	c, done := playClient(t, nil)
	_ = c.Close()
	x := IndexOf[narrowed](c, IndexSpec{Table: "t"})
	for _, err := range []error{
		second(x.Delete(t.Context(), Eq(1))),
		second(x.Delete(t.Context(), Eq())),
	} {
		if !SafeToRetry(err) || MaybeExecuted(err) {
			t.Errorf("%+v", err)
		}
	}
	done()
}
