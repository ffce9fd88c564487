package handlersocket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Lists and pings: what scenarios ask of them, and what only this client has.

// listedVector is an index as a scenario has it.
type listedVector struct {
	Name            byteText
	Unique, Ordered bool
	Parts           []struct {
		Column           *byteText
		Descends, Prefix bool
	}
}

func (v *listedVector) index() ListedIndex {
	index := ListedIndex{Name: v.Name.String(), Unique: v.Unique, Ordered: v.Ordered}
	for _, part := range v.Parts {
		column := ""
		if part.Column != nil {
			column = part.Column.String()
		}
		index.Parts = append(index.Parts, ListedPart{column, part.Descends, part.Prefix})
	}
	return index
}

// lists says whether the step asks what there is.
func (s *applicationStep) lists() bool {
	return s.Databases || s.Tables != nil || s.Indexes != nil || s.Ping
}

func (p *player) list(ctx context.Context, s *applicationStep) outcome {
	var o outcome
	switch {
	case s.Databases:
		o.names, o.err = p.client.Databases(ctx)
	case s.Tables != nil:
		o.names, o.err = p.client.Tables(ctx, *s.Tables)
	case s.Indexes != nil:
		o.listed, o.err = p.client.Indexes(ctx, s.Indexes[0], s.Indexes[1])
	default:
		o.err = p.client.Ping(ctx)
		o.pong = o.err == nil
	}
	return o
}

func (w *wantedResult) checkList(got outcome) error {
	if w.Names != nil {
		var want []string
		for _, name := range *w.Names {
			want = append(want, name.String())
		}
		if !slices.Equal(got.names, want) {
			return fmt.Errorf("the names %q", got.names)
		}
	}
	if w.Listed != nil {
		var want []ListedIndex
		for _, index := range *w.Listed {
			want = append(want, index.index())
		}
		if !reflect.DeepEqual(got.listed, want) {
			return fmt.Errorf("the indexes %+v", got.listed)
		}
	}
	if w.Pong != nil && got.pong != *w.Pong {
		return errors.New("no pong")
	}
	return nil
}

// Names that would break the line, or that no server has, are refused before anything is sent.
func TestNamesThatCannotBeListed(t *testing.T) {
	c := chaosClient(t, 1, nil)
	for _, name := range []string{"a\tb", "a\nb", "a\rb", "a\x00b"} {
		for _, err := range []error{
			second(c.Tables(t.Context(), name)), second(c.Indexes(t.Context(), name, "t")), second(c.Indexes(t.Context(), "d", name)),
		} {
			if !errors.Is(err, ErrUsage) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

// Without a port for reading it is the one for writing that is asked, and the client's database is the default.
func TestListsWithoutAPortForReading(t *testing.T) {
	var mu sync.Mutex
	var told []string
	c, done := playClient(t, func(c *Config) {
		c.Addresses[0].Port = 0
		c.OnRequest = func(r RequestInfo) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%s %s.%s.%s %s %d %s", r.Operation, r.Database, r.Table, r.Index, r.Route, r.Rows, r.ErrorType()))
		}
	}, expects("L\n", "0\t1\td\n", "L\td\n", "0\t1\tt\tu\n", "L\td\tt\n", "0\t6\tk\t0\t1\ta\t0\t0\tk\t0\t1\tb\t0\t0\n",
		"L\te\tt\n", "0\t6\n", "echo\tping\n", "0\t1\tping\n", "echo\tping\n", "2\t1\tcmd\n", "echo\tping\n", "1\t1\tcmdx\n"))
	ctx := t.Context()
	if names, err := c.Databases(ctx); err != nil || !slices.Equal(names, []string{"d"}) {
		t.Error(names, err)
	}
	if names, err := c.Tables(ctx, ""); err != nil || !slices.Equal(names, []string{"t", "u"}) {
		t.Error(names, err)
	}
	want := []ListedIndex{{Name: "k", Ordered: true, Parts: []ListedPart{{Column: "a"}, {Column: "b"}}}}
	if indexes, err := c.Indexes(ctx, "", "t"); err != nil || !reflect.DeepEqual(indexes, want) {
		t.Error(indexes, err)
	}
	if indexes, err := c.Indexes(ctx, "e", "t"); err != nil || len(indexes) > 0 {
		t.Error(indexes, err)
	}
	for range 2 {
		if err := c.Ping(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := c.Ping(ctx); !errors.Is(err, ErrReply) {
		t.Error(err)
	}
	done()
	mu.Lock()
	defer mu.Unlock()
	// A ping that an older server does not know is none that has failed.
	if got := strings.Join(told, "; "); got != "list .. write 1 ; list d.. write 2 ; list d.t. write 2 ; list e.t. write 0 ; "+
		"ping .. write 0 ; ping .. write 0 ; ping .. write 0 cmdx" {
		t.Errorf("%q", got)
	}
	if failed := c.Stats().Errors; failed != 1 {
		t.Errorf("%d errors", failed)
	}
}

// A list may be asked for again if its connection was lost, because it modifies nothing.
func TestAListIsAskedForAgain(t *testing.T) {
	c, done := playClient(t, func(c *Config) { c.RetryReads = 1 },
		script{{Expect: textOfBytes("L\td\n")}, {Close: true}}, expects("L\td\n", "0\t1\tt\n"))
	if names, err := c.Tables(t.Context(), "d"); err != nil || !slices.Equal(names, []string{"t"}) {
		t.Error(names, err)
	}
	done()
}

// What is no list, no index and no echo.
func TestListsThatAreNone(t *testing.T) {
	const part = "k\t0\t1\ta\t0\t0"
	names := []string{"0\t0", "0\t2\ta\tb", "0\t1\t\x00", "0\t1\ta\t\x00", "0\t1\ta\x01", "0\t6\t" + part}
	indexes := []string{
		"0\t1", "0\t5\t" + part, "0\t7\t" + part,
		"0\t1\tk", "0\t5\tk\t0\t1\ta\t0", "0\t6\tk", "0\t6\t" + part + "\tk", "0\t7\t" + part + "\t0", "0\t6\t",
		"0\t6\t\x00\t0\t1\ta\t0\t0", "0\t6\tk\t2\t1\ta\t0\t0", "0\t6\tk\t0\tyes\ta\t0\t0", "0\t6\tk\t0\t1\ta\t\x00\t0",
		"0\t6\tk\t0\t1\ta\t0\t", "0\t6\tk\t0\t1\ta\x01\t0\t0",
	}
	pongs := []string{"0\t1", "0\t1\t", "0\t1\t\x00", "0\t1\tpong", "0\t1\tping\tping", "0\t2\tping", "0\t1\tpings", "0\t0\tping"}
	for kind, lines := range map[callKind][]string{kindNames: names, kindIndexes: indexes, kindPing: pongs} {
		for _, line := range lines {
			if err := readListed(kind, []byte(line)); !errors.Is(err, ErrProtocol) {
				t.Errorf("%d, %q: %v", kind, line, err)
			}
		}
	}
}

// readListed reads a line as the reply to a question of this kind.
func readListed(kind callKind, line []byte) error {
	k := newCall(nil, kind, opList)
	switch {
	case !k.answer(bytes.Clone(line)):
		return wrongReply("header")
	case k.code != 0:
		return k.refusal()
	case kind == kindNames:
		return second(readNames(k))
	case kind == kindIndexes:
		return second(readIndexes(k))
	}
	return second(readPong(k))
}

// Whatever a server answers, it is a list, an error of the server's, or no reply.
func FuzzLists(f *testing.F) {
	for _, line := range []string{"0\t1\ta\tb", "0\t6\tk\t0\t1\t\x00\t0\t0", "0\t1\tping", "2\t1\tcmd", "0\t6\tk\t0"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, kind := range []callKind{kindNames, kindIndexes, kindPing} {
			if err := readListed(kind, line); err != nil && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrReply) {
				t.Error(err)
			}
		}
	})
}
