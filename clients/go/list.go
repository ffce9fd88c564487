package handlersocket

import (
	"context"
	"errors"
	"strings"
)

// Lists: which databases, tables and indexes there are. And whether the server is there at all.

// A ListedIndex is an index of a table, as [Client.Indexes] lists it.
type ListedIndex struct {
	Name string
	// Ordered is false for a hash index, which finds whole keys only.
	Unique, Ordered bool
	// Parts are in their order.
	Parts []ListedPart
}

// A ListedPart is a part of an index.
type ListedPart struct {
	// Column is empty if the part is an expression.
	Column string
	// Descends says whether the values go down, and Prefix whether the index has only their beginning.
	Descends, Prefix bool
}

const (
	// How many values the part of an index has.
	listedWidth = 6
	pingWord    = "ping"
)

// Databases asks the server for the names of the databases of which the account may know.
func (c *Client) Databases(ctx context.Context) ([]string, error) {
	return do(ctx, c, listOf(c, kindNames, readNames, nil))
}

// Tables asks the server for the names of the tables of a database that the account can open. The
// database is Config.Database if it is empty.
func (c *Client) Tables(ctx context.Context, database string) ([]string, error) {
	if database == "" {
		database = c.config.Database
	}
	return do(ctx, c, listOf(c, kindNames, readNames, &definition{database: database}, database))
}

// Indexes asks the server for the indexes of a table. The database is Config.Database if it is empty.
func (c *Client) Indexes(ctx context.Context, database, table string) ([]ListedIndex, error) {
	if database == "" {
		database = c.config.Database
	}
	of := &definition{database: database, table: table}
	return do(ctx, c, listOf(c, kindIndexes, readIndexes, of, database, table))
}

// listOf asks for what stands below these names.
func listOf[R any](c *Client, kind callKind, read func(*call) (R, error), of *definition, names ...string) request[R] {
	if len(names) > 0 && names[0] == "" {
		return failed[R](nil, errNoDatabase)
	}
	for i, name := range names {
		if err := checkName([...]string{"database", "table"}[i], name); err != nil {
			return failed[R](nil, err)
		}
	}
	k := newCall(nil, kind, opList)
	k.front, k.listed = "L", of
	for _, name := range names {
		k.request = append(append(k.request, tab), name...)
	}
	k.request = append(k.request, lf)
	return request[R]{call: k, route: c.routeToAsk(), read: read}
}

// checkName refuses what would break the line.
func checkName(what, name string) error {
	if strings.ContainsAny(name, "\t\n\r\x00") {
		return usage("the name of a %s cannot contain TAB, LF, CR or NUL: %q", what, name)
	}
	return nil
}

// Ping asks the server to say that it is there. It connects for that if need be. An older server does not
// know the question: its answer says as much, and is no error.
func (c *Client) Ping(ctx context.Context) error {
	k := newCall(nil, kindPing, opPing)
	k.front, k.request = "echo\t"+pingWord, append(k.request, lf)
	k.began = now()
	r := request[struct{}]{call: k, read: readPong}
	err := c.run(ctx, c.routeToAsk(), k)
	if err == nil {
		_, err = r.result()
	}
	var e *Error
	if errors.As(err, &e) && e.Kind == ErrReply && e.Text == TextCmd {
		err = nil
	}
	c.ended(k, err)
	k.free()
	return err
}

func readPong(k *call) (struct{}, error) {
	values := k.values()
	if !values.more || textOf(values.next()) != pingWord || values.more {
		return struct{}{}, wrongReply("an echo was expected")
	}
	return struct{}{}, nil
}

func readNames(k *call) ([]string, error) {
	var names []string
	for values := k.values(); values.more; k.rows++ {
		name, err := unescape(values.next())
		if err != nil || name == nil {
			return nil, wrongReply("names were expected")
		}
		names = append(names, string(name))
	}
	return names, nil
}

func readIndexes(k *call) ([]ListedIndex, error) {
	var indexes []ListedIndex
	for values := k.values(); values.more; k.rows++ {
		index, ok := readIndex(&values)
		if !ok {
			return nil, wrongReply("a list of indexes was expected")
		}
		last := len(indexes) - 1
		if last < 0 || indexes[last].Name != index.Name {
			indexes = append(indexes, index)
			continue
		}
		indexes[last].Parts = append(indexes[last].Parts, index.Parts...)
	}
	return indexes, nil
}

// readIndex reads a row: an index with one of its parts.
func readIndex(values *tokens) (ListedIndex, bool) {
	var said [listedWidth][]byte
	for i := range said {
		if !values.more {
			return ListedIndex{}, false
		}
		var err error
		if said[i], err = unescape(values.next()); err != nil {
			return ListedIndex{}, false
		}
	}
	part := ListedPart{Column: string(said[3])}
	index := ListedIndex{Name: string(said[0])}
	ok := said[0] != nil
	for i, to := range map[int]*bool{1: &index.Unique, 2: &index.Ordered, 4: &part.Descends, 5: &part.Prefix} {
		flag, is := toldBool(said[i])
		*to = flag.value
		ok = ok && is && flag.ok
	}
	index.Parts = []ListedPart{part}
	return index, ok
}
