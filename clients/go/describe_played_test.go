package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"
)

// Descriptions by servers that are played, cut and slow.

// Wherever a connection is cut, a description is whole or there is none; so are a hello, a list and a ping.
func TestDescriptionsThatAreCut(t *testing.T) {
	const (
		opens     = "0\t1\n"
		described = "0\t7\tcolumn\tid\tint\t0\t0\t0\t\x00\tkey\tid\tint\t0\t0\t0\t\x00\n"
	)
	asked := helloTexts + "\n" + openT + "D\t1\n"
	for name, each := range map[string]struct {
		asked, answer string
		call          func(*Client) error
	}{
		"describe": {asked, greeting + opens + described, func(c *Client) error {
			return second(c.Describe(t.Context(), IndexSpec{Table: "t", Columns: []string{"id"}}))
		}},
		"hello": {helloTexts + "\n" + helloTexts + "\n", greeting + greeting, func(c *Client) error { return second(c.Hello(t.Context())) }},
		"databases": {helloTexts + "\nL\n", greeting + "0\t1\td\ta\x01Ib\n", func(c *Client) error {
			return second(c.Databases(t.Context()))
		}},
		"indexes": {helloTexts + "\nL\td\tt\n", greeting + "0\t6\tPRIMARY\t1\t1\tid\t0\t0\n", func(c *Client) error {
			return second(c.Indexes(t.Context(), "", "t"))
		}},
		"ping": {helloTexts + "\necho\tping\n", greeting + "0\t1\tping\n", func(c *Client) error { return c.Ping(t.Context()) }},
	} {
		for cut := range len(each.answer) + 1 {
			c, done := playClient(t, withTexts, append(expects(each.asked, each.answer[:cut]), scriptStep{Close: true}))
			err := each.call(c)
			if whole := cut == len(each.answer); whole && err != nil || !whole && (!errors.Is(err, ErrLost) || MaybeExecuted(err)) {
				t.Errorf("%s, cut at %d: %v", name, cut, err)
			}
			done()
		}
		steps := expects(each.asked, each.answer)
		steps[1].Pieces = 1
		c, done := playClient(t, withTexts, steps)
		if err := each.call(c); err != nil {
			t.Errorf("%s, byte by byte: %v", name, err)
		}
		done()
	}
}

// An index with types is opened again by a connection that was made again. Its rows keep their types.
func TestADescribedIndexIsOpenedAgain(t *testing.T) {
	columns := "0\t7\tcolumn\tid\tint\t0\t0\t0\t\x00\tcolumn\td\tdate\t0\t0\t0\t\x00\tkey\tid\tint\t0\t0\t0\t\x00\n"
	open := "P\t1\td\tt\tPRIMARY\tid,d\n"
	c, done := playClient(t, nil,
		append(expects("P\t1\td\tt\tPRIMARY\t*\nD\t1\n", "0\t1\n"+columns,
			"P\t2\td\tt\tPRIMARY\tid,d\n2\t=\t1\t1\n", "0\t1\n0\t2\t1\t2024-02-29\n"), scriptStep{Close: true}),
		expects(open+"1\t=\t1\t2\n1\t=\t1\t3\n", "0\t1\n0\t2\t2\t2024-03-01\n0\t2\t3\tnever\n",
			"P\t2\td\tt\tPRIMARY\t*\nD\t2\n", "0\t1\n"+columns))
	ctx := t.Context()
	d, err := c.Describe(ctx, IndexSpec{Table: "t"})
	if err != nil {
		t.Fatal(err)
	}
	x := c.Index(d.Spec())
	value := func(row Row, err error) any {
		if err != nil {
			t.Error(err)
			return nil
		}
		value, _ := row.Value(1)
		return value
	}
	if got := value(x.Get(ctx, 1)); got != (Date{2024, 2, 29}) {
		t.Error(got)
	}
	for len(c.connections()) > 0 {
		time.Sleep(time.Millisecond)
	}
	p := c.Pipeline()
	two, three := x.In(p).Get(2), x.In(p).Get(3)
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	if got := value(two.Result()); got != (Date{2024, 3, 1}) {
		t.Error(got)
	}
	row, err := three.Result()
	if err != nil {
		t.Error(err)
	}
	if got, err := row.Value(1); got != nil || !errors.Is(err, ErrDecode) {
		t.Error(got, err)
	}
	if again, err := c.Describe(ctx, IndexSpec{Table: "t"}); err != nil || !reflect.DeepEqual(again, d) {
		t.Error(again, err)
	}
	done()
}

// A caller that gives up is free at once. The replies that come are dropped, and the connection goes on.
func TestDescribeIsGivenUp(t *testing.T) {
	var s signals
	steps := script{{Expect: textOfBytes(openT + "D\t1\n")}, {Signal: "asked"}, {Await: "gone"},
		{Send: textOfBytes("0\t1\n0\t7\tcolumn\tid\tint\t0\t0\t0\t\x00\tkey\tid\tint\t0\t0\t0\t\x00\n")}}
	steps = append(steps, expects("1\t=\t1\t1\n", "0\t1\t1\n")...)
	port := playPort(t, "any", []script{steps}, 0, &s)
	c := chaosClient(t, port.port(), func(c *Config) { c.Database = "d" })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = s.await("asked")
		cancel()
	}()
	_, err := c.Describe(ctx, IndexSpec{Table: "t", Columns: []string{"id"}})
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrCanceled || !e.Sent || e.MaybeExecuted {
		t.Error(err)
	}
	s.give("gone")
	if row, err := indexT(c).Get(t.Context(), 1); err != nil || row.String(0) != "1" {
		t.Error(row, err)
	}
	if dropped := c.Stats().RepliesDropped; dropped != 1 {
		t.Errorf("%d replies were dropped", dropped)
	}
	if err := errors.Join(port.finish(), port.stop()); err != nil {
		t.Error(err)
	}
}

// Whatever a server says of an index, it is a description or no reply.
func FuzzDescriptions(f *testing.F) {
	for _, v := range loadVectors[struct{ Line byteText }](f, "descriptions") {
		f.Add(v.Line.bytes, true)
		f.Add(v.Line.bytes, false)
	}
	f.Fuzz(func(t *testing.T, line []byte, all bool) {
		d := &definition{columns: []string{"a"}, location: time.UTC}
		for _, k := range []*call{newCall(d, kindDescribe, opDescribe), newCall(nil, kindHello, opHello)} {
			if !k.answer(bytes.Clone(line)) {
				continue
			}
			if k.code != 0 {
				_ = k.refusal().Error()
				continue
			}
			if k.kind == kindHello {
				_, _ = readHello(k)
				continue
			}
			description, err := readDescription(k, all)
			if err != nil {
				if !errors.Is(err, ErrProtocol) {
					t.Error(err)
				}
				continue
			}
			spec := description.Spec()
			if len(description.Key) == 0 || len(spec.Columns) != len(description.Columns) || !all && len(spec.Columns) != 1 {
				t.Errorf("%+v", description)
			}
			for kind := asBytes; kind <= asUUID; kind++ {
				_, _ = kind.read(line, time.UTC)
			}
		}
	})
}

// Whatever happens to connections, and whoever gives up: a description is the index's, a hello the
// server's, and a value that of its key.
func TestDescriptionsOfAnUnreliableServer(t *testing.T) {
	_, port := startUnreliable(t, 20)
	c := chaosClient(t, port, withTexts)
	described := &Description{Database: "d", Table: "t", Index: "PRIMARY", Columns: []Column{{Name: "id", Type: "varchar(9)", Charset: "utf8mb4"}}}
	for i := range described.Columns {
		column := &described.Columns[i]
		column.nullable.ok, column.unsigned.ok, column.decimals.ok = true, true, true
	}
	described.Key = described.Columns
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			for n := range 60 {
				ctx, cancel := context.WithCancel(t.Context())
				if r.IntN(4) == 0 {
					time.AfterFunc(time.Duration(r.IntN(300))*time.Microsecond, cancel)
				}
				d, err := c.Describe(ctx, IndexSpec{Table: "t", Columns: []string{"id"}})
				if err == nil && !reflect.DeepEqual(d, described) || err != nil && !SafeToRetry(err) {
					t.Errorf("%+v, %v", d, err)
				}
				hello, err := c.Hello(ctx)
				if err == nil && len(hello) != 2 || err != nil && !SafeToRetry(err) {
					t.Error(hello, err)
				}
				key := fmt.Sprintf("%d-%d", i, n)
				p := c.Pipeline()
				x := c.Index(described.Spec())
				one, two := x.In(p).Get(key), x.Within(time.Second).In(p).Get(key+"!")
				_ = p.Run(ctx)
				for want, pending := range map[string]*Pending[Row]{key: one, key + "!": two} {
					row, err := pending.Result()
					if err != nil && !SafeToRetry(err) {
						t.Error(err)
					} else if err == nil {
						if value, err := row.Value(0); value != want || err != nil {
							t.Error(value, err)
						}
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	if made := c.Stats().ConnectionsMade; made < 3 {
		t.Errorf("%d connections: nothing was cut", made)
	}
}
