package handlersocket

import (
	"strconv"
	"time"
)

// A time for the server: the words that stand in front of a request.

// The longest time that a request can have, in milliseconds.
const mostWithin = 1 << 31

// Within gives the same index with a time for the server: it ends a request that takes longer, answers
// [TextMaxRequestTime], and has done nothing then. If some rows of a find have been sent already, it
// closes the connection instead. The time begins when the request has come to the server, and is
// independent of that of the call. It is rounded to milliseconds, and is at least one.
//
//	user, err := users.Within(500*time.Millisecond).Get(ctx, 42)
//
// A request of a [Group] has no time of its own: [Group.Within] is for all of it.
func (x *Index[T]) Within(d time.Duration) *Index[T] {
	timed := *x
	var err error
	if timed.within, err = withinOf(d); timed.err == nil {
		timed.err = err
	}
	return &timed
}

func withinOf(d time.Duration) (string, error) {
	ms := max(d.Round(time.Millisecond).Milliseconds(), 1)
	if d <= 0 || ms > mostWithin {
		return "", usage("a time for the server is more than 0, and at most %d ms", int64(mostWithin))
	}
	return "within\t" + strconv.FormatInt(ms, 10) + "\t", nil
}
