package handlersocket

import (
	"errors"
	"strings"
	"testing"
)

// An error of the server ends with the names of what the call was about, and has no value of a row.
func TestErrorsNameTheTable(t *testing.T) {
	spec := IndexSpec{Database: "app", Table: "user", Index: "by_name", Columns: []string{"id", "nmae"}, Filters: []string{"age"}}
	const (
		open   = "P\t1\tapp\tuser\tby_name\tid,nmae\tage\n"
		asked  = open + "1\t=\t1\tSECRET\n"
		closed = "2\t1\tstmtnum\n"
		place  = ": app.user, index by_name"
	)
	ctx := t.Context()
	get := func(c *Client) error { return second(c.Index(spec).Get(ctx, "SECRET")) }
	iterate := func(c *Client) error { return iterated(t, c.Index(spec), "SECRET") }
	group := func(c *Client) error {
		g := c.Group()
		indexT(c).InGroup(g).Get("SECRET")
		c.Index(spec).InGroup(g).Get("SECRET")
		return g.Run(ctx)
	}
	groupAsked := openT + "P\t2\tapp\tuser\tby_name\tid,nmae\tage\nG\t2\n1\t=\t1\tSECRET\n2\t=\t1\tSECRET\n"
	for name, test := range map[string]struct {
		play script
		call func(*Client) error
		ends string
	}{
		"a column":              {expects(asked, "2\t1\tfld\n"+closed), get, "no such column" + place + ", columns id, nmae, filter columns age"},
		"a table":               {expects(asked, "1\t1\topen_table\n"+closed), get, place},
		"an index":              {expects(asked, "2\t1\tidxnum\n"+closed), get, "no such index" + place},
		"a request":             {expects(asked, "0\t1\n2\t1\tkpnum\n"), get, place},
		"a column, iterating":   {expects(asked, "2\t1\tfld\n"+closed), iterate, "no such column" + place + ", columns id, nmae, filter columns age"},
		"a request, iterating":  {expects(asked, "0\t1\n2\t1\tkpnum\n"), iterate, place},
		"a line of a group":     {expects(groupAsked, "0\t1\n0\t1\n1\t1\tundone\t2\n1\t1\tundone\n1\t1\t1213\n"), group, place},
		"a P of a group":        {expects(groupAsked, "0\t1\n2\t1\tfld\n1\t1\tundone\t2\n1\t1\tundone\n"+closed), group, ", filter columns age"},
		"a group as a whole":    {expects(groupAsked, "0\t1\n0\t1\n1\t1\t1213\n1\t1\tundone\n1\t1\tundone\n"), group, errorTable["1213"].words},
		"an error nobody knows": {expects(asked, "0\t1\n1\t1\t59999\n"), get, "the server answered 1 59999" + place},
		"a list": {
			expects("L\tapp\tuser\n", "1\t1\topen_table\n"),
			func(c *Client) error { return second(c.Indexes(ctx, "app", "user")) }, ": app.user",
		},
		"a list of tables": {
			expects("L\tapp\n", "1\t1\t1142\n"),
			func(c *Client) error { return second(c.Tables(ctx, "app")) }, errorTable["1142"].words,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, done := playClient(t, nil, test.play)
			err := test.call(c)
			var e *Error
			if !errors.As(err, &e) || e.Kind != ErrReply || e.Text == "" || strings.Contains(e.Text, "app") {
				t.Fatal(err)
			}
			if text := err.Error(); !strings.HasSuffix(text, test.ends) || strings.Contains(text, "SECRET") {
				t.Error(text)
			}
			done()
		})
	}
}
