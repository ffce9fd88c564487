//go:build e2e

package handlersocket

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

// Lists and pings at a real server.

func TestE2ELists(t *testing.T) {
	c, ctx := openE2E(t), t.Context()
	database := c.config.Database
	if names := must[[]string](t)(c.Databases(ctx)); !slices.Contains(names, database) || slices.Contains(names, "information_schema") {
		t.Error(names)
	}
	for _, name := range []string{"", database} {
		if names := must[[]string](t)(c.Tables(ctx, name)); !slices.Equal(names, []string{"bare", "hashed", "listed", "über"}) {
			t.Errorf("%q", names)
		}
	}
	for table, want := range map[string][]ListedIndex{
		"listed": {
			{"PRIMARY", true, true, []ListedPart{{Column: "id"}}},
			{"pair", true, true, []ListedPart{{Column: "a"}, {Column: "id"}}},
			{"beginning", false, true, []ListedPart{{Column: "word", Prefix: true}, {Column: "a", Descends: true}}},
		},
		"hashed": {{"by_id", false, false, []ListedPart{{Column: "id"}}}},
		"über":   {{"PRIMARY", true, true, []ListedPart{{Column: "größe"}}}},
		"bare":   nil,
	} {
		if indexes := must[[]ListedIndex](t)(c.Indexes(ctx, "", table)); !reflect.DeepEqual(indexes, want) {
			t.Errorf("%s: %+v", table, indexes)
		}
	}
	var e *Error
	if _, err := c.Tables(ctx, "nosuch"); !errors.As(err, &e) || e.Text != "1049" {
		t.Error(err)
	}
	if _, err := c.Indexes(ctx, "", "nosuch"); !errors.Is(err, ErrReply) || MaybeExecuted(err) {
		t.Error(err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	if made := c.Stats().ConnectionsMade; made != 1 {
		t.Errorf("%d connections", made)
	}
}
