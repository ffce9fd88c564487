package handlersocket

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// The texts of errors, and hellos.

func TestTextsOfAnError(t *testing.T) {
	for _, v := range []struct {
		values         string
		text           string
		number         int
		state, message string
	}{
		{"121", "121", 121, "23000", ""},
		{"121\t1062\t23000\tDuplicate entry 'a\x01Ib'", "121", 1062, "23000", "Duplicate entry 'a\tb'"},
		{"cmd\t1149\t42000\tno request", "cmd", 1149, "42000", "no request"},
		{"undone\t1180\tHY000\tAnother line\t2", "undone", 1180, "HY000", "Another line"},
		{"undone\t2", "undone", 0, "", ""},
		{"121\tx\t\x00\t\x00", "121", 121, "23000", ""},
		{"121\t99999999999\t45012\tMESSAGE", "121", 121, "45012", "MESSAGE"},
		{"1644\t1644\t45012\t\x01", "1644", 1644, "45012", ""},
		{"", "", 0, "", ""},
	} {
		k := newCall(&definition{}, kindInsert, opInsert)
		if !k.answer([]byte("1\t4\t" + v.values)) {
			t.Fatal(v.values)
		}
		// It may be asked for more than once.
		for range 2 {
			e := k.refusal()
			if e.Text != v.text || e.Number() != v.number || e.SQLState() != v.state || e.Message != v.message {
				t.Errorf("%q is %#v", v.values, e)
			}
			if v.message != "" && strings.Contains(e.Error(), v.message) {
				t.Errorf("%q shows the message: %s", v.values, e)
			}
		}
	}
	if e := readError(3, tokens{}, false); e.Text != "" || e.Code != 3 || !errors.Is(e, ErrLogIn) {
		t.Errorf("%#v", e)
	}
}

// playClient is a client of a server that is played on one port, for reading and writing.
func playClient(t *testing.T, change func(*Config), scripts ...script) (*Client, func()) {
	t.Helper()
	return playClientSignals(t, new(signals), change, scripts...)
}

// playClientSignals is that with signals that the test awaits, too.
func playClientSignals(t *testing.T, s *signals, change func(*Config), scripts ...script) (*Client, func()) {
	t.Helper()
	port := playPort(t, "any", scripts, 0, s)
	c := chaosClient(t, port.port(), func(config *Config) {
		config.Database, config.RetryReads = "d", 0
		if change != nil {
			change(config)
		}
	})
	return c, func() {
		t.Helper()
		err := port.finish()
		_ = c.Close()
		if err := errors.Join(err, port.stop()); err != nil {
			t.Error(err)
		}
	}
}

func withTexts(c *Config) { c.Texts = true }

// expects is a script of pairs: what comes, and what is answered.
func expects(pairs ...string) script {
	var steps script
	for i := 0; i < len(pairs); i += 2 {
		steps = append(steps, scriptStep{Expect: textOfBytes(pairs[i])}, scriptStep{Send: textOfBytes(pairs[i+1])})
	}
	return steps
}

const (
	openT     = "P\t1\td\tt\tPRIMARY\tid\n"
	duplicate = "1\t4\t121\t1062\t23000\tDuplicate entry 'SECRET'\n"
	greeting  = "0\t2\tplugin\t2.0.0\ttexts\t1\n"
)

func indexT(c *Client) *Index[Row] { return c.Index(IndexSpec{Table: "t", Columns: []string{"id"}}) }

// A message may have values of a row: neither the logger nor a hook gets it.
func TestNobodyIsToldTheMessage(t *testing.T) {
	var log lockedBuffer
	var mu sync.Mutex
	var told []any
	readOnly := "1\t4\t1290\t1290\tHY000\tread_only SECRET\n"
	c, done := playClient(t, func(c *Config) {
		c.Texts = true
		c.Addresses = append(c.Addresses, c.Addresses[0])
		c.Logger = slog.New(slog.NewJSONHandler(&log, nil))
		tell := func(info any, err error) {
			mu.Lock()
			defer mu.Unlock()
			var e *Error
			if errors.As(err, &e) {
				info = fmt.Sprintf("%v %+v %#v", info, info, *e)
			}
			told = append(told, info)
		}
		c.OnRequest = func(r RequestInfo) { tell(r, r.Err) }
		c.OnConnection = func(i ConnectionInfo) { tell(i, i.Err) }
	},
		append(expects(helloTexts+"\n"+openT+"1\t+\t1\t1\n", greeting+"0\t1\n"+readOnly), scriptStep{ExpectEnd: true}),
		expects(helloTexts+"\n"+openT+"1\t+\t1\t1\n", greeting+"0\t1\n"+duplicate))
	_, err := indexT(c).InsertValues(t.Context(), 1)
	var e *Error
	if !errors.As(err, &e) || e.Message != "Duplicate entry 'SECRET'" || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("%#v", err)
	}
	done()
	mu.Lock()
	defer mu.Unlock()
	text := log.String() + fmt.Sprint(told...)
	if strings.Contains(text, "SECRET") || !strings.Contains(text, "1290") || !strings.Contains(text, "121") || !strings.Contains(text, "failed over") {
		t.Error(text)
	}
}

// Each connection says hello with its first request, and nothing before.
func TestEachConnectionAsksForTexts(t *testing.T) {
	greeted := helloTexts + "\n" + openT
	var s signals
	c, done := playClientSignals(t, &s, withTexts,
		append(expects(greeted+"1\t=\t1\t1\n", greeting+"0\t1\n"+duplicate), scriptStep{Close: true}),
		append(expects(greeted+"1\t=\t1\t2\n1\t=\t1\t3\n", greeting+"0\t1\n0\t1\t2\n0\t1\t3\n",
			"echo\tping\n", "0\t1\tping\n"), scriptStep{QuietMs: 20}),
		append(script{{QuietMs: 20}, {Signal: "quiet"}}, expects(greeted+"G\t1\n1\t+\t1\t4\n", "2\t1\tcmd\n0\t1\n0\t1\n0\t1\n")...),
		append(expects(greeted+"1\t=\t1\t5\n", greeting+"0\t1\n0\t1\t5\n"),
			expects("1\t=\t1\t6\n", duplicate+"", "P\t2\td\tu\tPRIMARY\tid\n2\t=\t1\t7\n", "1\t4\topen_table\t1146\t42S02\tno\n"+"2\t4\tstmtnum\t1243\tHY000\tno\n")...))
	x, ctx := indexT(c), t.Context()
	if _, err := x.Get(ctx, 1); !errors.Is(err, ErrDuplicate) {
		t.Error(err)
	}
	for len(c.connections()) > 0 {
		time.Sleep(time.Millisecond)
	}
	p := c.Pipeline()
	x.In(p).Get(2)
	x.In(p).Get(3)
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	// A connection that nobody uses yet.
	if _, err := c.lanes[RouteWrite][0].get(ctx, newCall(nil, kindModify, opInsert), &tries{}); err != nil {
		t.Error(err)
	}
	g := c.Group()
	if err := s.await("quiet"); err != nil {
		t.Error(err)
	}
	x.InGroup(g).InsertValues(4)
	if err := g.Run(ctx); err != nil {
		t.Error(err)
	}
	for row, err := range x.Rows(ctx, Eq(5)) {
		if err != nil || row.String(0) != "5" {
			t.Error(row, err)
		}
	}
	told := func(err error, message string) {
		var e *Error
		if !errors.As(err, &e) || e.Message != message {
			t.Errorf("%#v", err)
		}
	}
	for _, err := range x.Rows(ctx, Eq(6)) {
		told(err, "Duplicate entry 'SECRET'")
	}
	for _, err := range c.Index(IndexSpec{Table: "u", Columns: []string{"id"}}).Rows(ctx, Eq(7)) {
		told(err, "no")
	}
	done()
}

// What is no reply to the connection's hello is no reply: the connection is closed.
func TestAWrongGreeting(t *testing.T) {
	for _, wrong := range []string{"0\t1\t1\n", "0\t2\ta\n", "x\n", "0\t2\t\x00\t1\n", "J\x00\x00\x00\n11.8.3"} {
		lines := helloTexts + "\n" + openT + "1\t=\t1\t1\n"
		ending := append(expects(lines, wrong+"0\t1\n0\t1\t1\n"), scriptStep{ExpectEnd: true})
		c, done := playClient(t, withTexts, ending, ending)
		_, err := indexT(c).Get(t.Context(), 1)
		if !errors.Is(err, ErrProtocol) || MaybeExecuted(err) {
			t.Errorf("%q: %v", wrong, err)
		}
		for _, err := range indexT(c).Rows(t.Context(), Eq(1)) {
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		done()
	}
}

// A call that is the first of its connection is served by its own goroutine, also behind a hello.
func TestACallBehindItsHelloIsAlone(t *testing.T) {
	config := DefaultConfig()
	config.Texts = true
	c := newConn(&pieceConn{}, &config, 0, "")
	c.events, c.sweeping = &counters{}, true
	k := newCall(&definition{}, kindFind, opFind)
	c.put(k)
	if !c.isFirst(k) || c.tail != 3 || c.ungreeted {
		t.Errorf("%d slots", c.tail)
	}
	second := newCall(&definition{number: 1}, kindFind, opFind)
	c.put(second)
	if c.isFirst(second) {
		t.Error("another call is before it")
	}
}

func TestHello(t *testing.T) {
	for line, want := range map[string]string{
		"0\t2\ta\tb\x01Ic\t\t\x00": "[{a b\tc} { }]", "0\t2": "[]",
		"0\t2\ta": "protocol", "0\t2\t\x00\ta": "protocol", "0\t2\ta\t\x01": "protocol", "0\t2\t\x01\ta": "protocol", "0\t1\ta": "protocol",
	} {
		k := newCall(nil, kindHello, opHello)
		got := "protocol"
		if k.answer([]byte(line)) {
			if facts, err := readHello(k); err == nil {
				got = fmt.Sprint(facts)
			} else if !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%q is %s", line, got)
		}
	}
	h := Hello{{"a", "1"}, {"b", "2"}}
	if value, there := h.Get("b"); value != "2" || !there {
		t.Error(value)
	}
	if value, there := h.Get("c"); value != "" || there {
		t.Error(value)
	}
}

// Questions that concern no row go the way of finds, and are told as what they are.
func TestWhereQuestionsGo(t *testing.T) {
	for address, want := range map[string]Route{
		"h:1,2/d": RouteRead, "h:,2/d": RouteWrite, "h:1/d": RouteRead, "/d?socket=/r&socket_wr=/w": RouteRead, "/d?socket_wr=/w": RouteWrite,
	} {
		c, err := Open("handlersocket://" + address)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.routeToAsk(); got != want {
			t.Errorf("%s: %s", address, got)
		}
		_ = c.Close()
	}
	var mu sync.Mutex
	var told []string
	c, done := playClient(t, func(c *Config) {
		c.ReadYourWrites = true
		c.OnRequest = func(r RequestInfo) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%s %s.%s.%s %s %d %s", r.Operation, r.Database, r.Table, r.Index, r.Route, r.Rows, r.ErrorType()))
			if r.BytesOut == 0 || r.BytesIn == 0 || r.Address == "" || r.Duration <= 0 {
				t.Errorf("%+v", r)
			}
		}
	}, expects("H\n", "0\t2\ta\tb\n", "P\t1\td\tt\tPRIMARY\tid\nD\t1\n", "0\t1\n0\t7\tcolumn\tid\tint\t0\t0\t0\t\x00\tkey\tid\tint\t0\t0\t0\t\x00\n"))
	if _, err := c.Hello(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Describe(t.Context(), IndexSpec{Table: "t", Columns: []string{"id"}}); err != nil {
		t.Error(err)
	}
	done()
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(told, "; "); got != "hello .. read 0 ; describe d.t.PRIMARY read 2 " {
		t.Errorf("%q", got)
	}
}

func TestTheOptionTexts(t *testing.T) {
	for word, want := range map[string]bool{"on": true, "off": false} {
		if c, err := ParseURL("handlersocket://db?texts=" + word); err != nil || c.Texts != want {
			t.Errorf("%s: %t, %v", word, c.Texts, err)
		}
	}
	for _, wrong := range []string{"", "1", "true", "ON"} {
		if _, err := ParseURL("handlersocket://db?texts=" + wrong); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// A refused log-in has no texts: nothing was asked for yet.
func TestALogInThatIsRefused(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		b := make([]byte, 100)
		if n, _ := far.Read(b); bytes.Equal(b[:n], []byte("A\t1\ts\n")) {
			_, _ = far.Write([]byte("3\t1\tunauth\n"))
		}
	}()
	c := &Client{config: Config{Secret: "s", Texts: true}}
	_, err := c.prepare(t.Context(), near, Address{}, "played")
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrLogIn || e.Text != TextUnauth || e.Message != "" {
		t.Error(err)
	}
}

// ReadYourWrites sends finds behind the writes, and nothing else: what is asked has nothing to do with them.
func TestQuestionsDoNotGoBehindWrites(t *testing.T) {
	var s signals
	write := playPort(t, "write", []script{{
		{Expect: textOfBytes(openT + "1\t+\t1\t1\n")}, {Signal: "written"}, {Await: "asked"}, {Send: textOfBytes("0\t1\n0\t1\n")},
	}}, 0, &s)
	read := playPort(t, "read", []script{expects("H\n", "0\t2\n", openT+"D\t1\n",
		"0\t1\n0\t7\tcolumn\tid\tint\t0\t0\t0\t\x00\tkey\tid\tint\t0\t0\t0\t\x00\n")}, 0, &s)
	c := chaosClient(t, read.port(), func(c *Config) {
		c.Database, c.ReadYourWrites = "d", true
		c.Addresses[0].PortWrite = write.port()
	})
	inserted := make(chan error)
	go func() { inserted <- second(indexT(c).InsertValues(t.Context(), 1)) }()
	if err := s.await("written"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Hello(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Describe(t.Context(), IndexSpec{Table: "t", Columns: []string{"id"}}); err != nil {
		t.Error(err)
	}
	s.give("asked")
	if err := errors.Join(<-inserted, read.finish(), write.finish(), read.stop(), write.stop()); err != nil {
		t.Error(err)
	}
}
