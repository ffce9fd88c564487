package handlersocket

import (
	"bufio"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
)

// Connections that can open no more indexes. The scenarios have single requests; here is what else can stand behind
// such a P.

const (
	openU      = "P\t1\td\tu\tPRIMARY\tid\n"
	openSecond = "P\t2\td\tu\tPRIMARY\tid\n"
	isFull     = "2\t1\tstmtnum\n"
	insertT    = openT + "1\t+\t1\t1\n"
)

func indexU(c *Client) *Index[Row] { return c.Index(IndexSpec{Table: "u", Columns: []string{"id"}}) }

// insertFirst opens an index on the connection for writes.
func insertFirst(t *testing.T, c *Client) {
	t.Helper()
	if id, err := indexT(c).InsertValues(t.Context(), 1); err != nil || id != 1 {
		t.Fatal(id, err)
	}
}

func TestAGroupLeavesAFullConnection(t *testing.T) {
	const group = "G\t2\n1\t+\t1\t2\n2\t+\t1\t3\n"
	full := append(expects(insertT, "0\t1\n0\t1\t1\n", openSecond+group, isFull+"2\t1\tundone\t2\n2\t1\tundone\n"+isFull),
		scriptStep{ExpectEnd: true})
	c, done := playClient(t, nil, full, expects(openT+openSecond+group, "0\t1\n0\t1\n0\t1\n0\t1\t2\n0\t1\t3\n"))
	insertFirst(t, c)
	g := c.Group()
	one := indexT(c).InGroup(g).InsertValues(2)
	two := indexU(c).InGroup(g).InsertValues(3)
	if err := g.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if a, err := one.Result(); err != nil || a != 2 {
		t.Error(a, err)
	}
	if b, err := two.Result(); err != nil || b != 3 {
		t.Error(b, err)
	}
	done()
}

// What was in flight is answered there, and each that was refused is sent again.
func TestAPipelineLeavesAFullConnection(t *testing.T) {
	full := append(expects(insertT, "0\t1\n0\t1\t1\n", openSecond+"2\t+\t1\t5\n1\t+\t1\t6\n2\t+\t1\t7\n", isFull+isFull+"0\t1\t6\n"+isFull),
		scriptStep{ExpectEnd: true})
	c, done := playClient(t, nil, full, expects(openU+"1\t+\t1\t5\n1\t+\t1\t7\n", "0\t1\n0\t1\t5\n0\t1\t7\n"))
	insertFirst(t, c)
	p := c.Pipeline()
	u := indexU(c)
	all := []*Pending[uint64]{u.In(p).InsertValues(5), indexT(c).In(p).InsertValues(6), u.In(p).InsertValues(7)}
	if err := p.Run(t.Context()); err != nil {
		t.Error(err)
	}
	for i, one := range all {
		if id, err := one.Result(); err != nil || id != uint64(5+i) {
			t.Error(i, id, err)
		}
	}
	done()
}

func TestAnIterationLeavesAFullConnection(t *testing.T) {
	begins := func(open, id string) string { return open + id + "\t>=\t1\t0\n" }
	full := append(expects(begins(openT, "1"), "0\t1\n0\t1\tx\n", begins(openSecond, "2"), isFull+isFull), scriptStep{ExpectEnd: true})
	c, done := playClient(t, nil, full, expects(begins(openU, "1"), "0\t1\n0\t1\ty\n"))
	var got []string
	for _, x := range []*Index[Row]{indexT(c), indexU(c)} {
		for row, err := range x.Rows(t.Context(), Ge(0)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row.String(0))
		}
	}
	if !slices.Equal(got, []string{"x", "y"}) {
		t.Error(got)
	}
	done()
}

// Once, and not for ever: the new connection can open the first of two, and not the second.
func TestARequestThatIsRefusedOnceMoreHasThatError(t *testing.T) {
	openV := func(id string) string { return "P\t" + id + "\td\tv\tPRIMARY\tid\n" + id + "\t+\t1\t4\n" }
	refused := isFull + isFull
	full := append(expects(insertT, "0\t1\n0\t1\t1\n", openV("2")+"P\t3\td\tu\tPRIMARY\tid\n3\t+\t1\t5\n", refused+refused),
		scriptStep{ExpectEnd: true})
	again := append(expects(openV("1")+openSecond+"2\t+\t1\t5\n", "0\t1\n0\t1\t4\n"+refused), scriptStep{ExpectEnd: true})
	c, done := playClient(t, nil, full, again)
	insertFirst(t, c)
	p := c.Pipeline()
	one := c.Index(IndexSpec{Table: "v", Columns: []string{"id"}}).In(p).InsertValues(4)
	two := indexU(c).In(p).InsertValues(5)
	err := p.Run(t.Context())
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrReply || e.Text != TextStmtnum || !e.Sent || e.MaybeExecuted {
		t.Error(err)
	}
	if id, err := one.Result(); err != nil || id != 4 {
		t.Error(id, err)
	}
	if _, failed := two.Result(); failed != err {
		t.Error(failed)
	}
	done()
}

// The connection ends before it has answered what was behind the P.
func TestAFullConnectionThatIsLost(t *testing.T) {
	full := append(expects(insertT, "0\t1\n0\t1\t1\n", openSecond+"2\t+\t1\t5\n", isFull), scriptStep{Close: true})
	c, done := playClient(t, nil, full, expects(openU+"1\t+\t1\t5\n", "0\t1\n0\t1\t5\n"))
	insertFirst(t, c)
	if id, err := indexU(c).InsertValues(t.Context(), 5); err != nil || id != 5 {
		t.Error(id, err)
	}
	done()
}

// limitedPort is a server that opens so many indexes on a connection, and answers a find with its key.
func limitedPort(t *testing.T, most int) int {
	return servedPort(t, func(socket net.Conn) {
		defer socket.Close()
		open := map[string]bool{}
		for in := bufio.NewReader(socket); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			tokens := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			reply := isFull
			if tokens[0] == "P" && (open[tokens[1]] || len(open) < most) {
				open[tokens[1]] = true
				reply = "0\t1\n"
			} else if open[tokens[0]] {
				reply = "0\t1\t" + tokens[3] + "\n"
			}
			if _, err := socket.Write([]byte(reply)); err != nil {
				return
			}
		}
	})
}

// Another connection of the route has room for nothing, either. What is made in place of the one that is full has.
func TestAFullConnectionAmongOthers(t *testing.T) {
	find := func(id, key string) string { return id + "\t=\t1\t" + key + "\n" }
	answers := func(key string) scriptStep { return scriptStep{Send: textOfBytes("0\t1\t" + key + "\n")} }
	first := append(script{{Expect: textOfBytes(openT + find("1", "1"))}, {Send: textOfBytes("0\t1\n")}, {Signal: "has 1"}, {Await: "has 2"}},
		answers("1"), scriptStep{Expect: textOfBytes(find("1", "3"))}, scriptStep{Signal: "has 3"}, scriptStep{Await: "has 4"}, answers("3"))
	full := append(expects(openT+find("1", "2"), "0\t1\n0\t1\t2\n"), scriptStep{Signal: "has 2"},
		scriptStep{Expect: textOfBytes(openSecond + find("2", "4"))}, scriptStep{Signal: "has 4"}, scriptStep{Await: "got 3"},
		scriptStep{Send: textOfBytes(isFull + isFull)}, scriptStep{ExpectEnd: true})
	var s signals
	two := func(c *Config) { c.ReadConnections = 2 }
	c, done := playClientSignals(t, &s, two, first, full, expects(openU+find("1", "4"), "0\t1\n0\t1\t4\n"))
	got := make(chan error)
	get := func(x *Index[Row], key string) error {
		row, err := x.Get(t.Context(), key)
		if err == nil && row.String(0) != key {
			return errors.New("the row of " + row.String(0) + " for " + key)
		}
		return err
	}
	for i, key := range []string{"1", "3"} {
		go func() { got <- get(indexT(c), key) }()
		x := []*Index[Row]{indexT(c), indexU(c)}[i]
		if err := s.await("has " + key); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			go func() { got <- get(x, "4") }()
		} else if err := get(x, "2"); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Error(key, err)
		}
	}
	s.give("got 3")
	if err := <-got; err != nil {
		t.Error(err)
	}
	done()
}

// Callers that come while it is being left find the new one. Nobody is told of a connection that was lost.
func TestManyCallersLeaveAFullConnection(t *testing.T) {
	port := limitedPort(t, 3)
	var told connectionsTold
	c := chaosClient(t, port, func(c *Config) { c.OnConnection, c.RetryReads = told.hear, 0 })
	done := make(chan error)
	const callers = 20
	for i := range callers {
		go func() {
			x := c.Index(IndexSpec{Table: string(rune('a' + i)), Columns: []string{"id"}})
			for n := range 50 {
				// A call that is refused twice has the error: it is one of many for the last place of a connection.
				if row, err := x.Get(t.Context(), n); err != nil && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrRequest) {
					done <- err
					return
				} else if err == nil && row.String(0) == "" {
					done <- errors.New("an empty row")
					return
				}
			}
			done <- nil
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	told.mu.Lock()
	defer told.mu.Unlock()
	for _, info := range told.all {
		if info.Lost || info.Event == ConnectFailed {
			t.Errorf("%+v", info)
		}
	}
}
