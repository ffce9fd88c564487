package handlersocket

import "slices"

// A bound is an end of a range: the operator that stands in front of its value.
type bound struct {
	op    string
	value any
}

// A mistake is why a Query cannot be meant.
type mistake uint8

const (
	noMistake mistake = iota
	downOfNoRange
	twoLowerEnds
	twoUpperEnds
	limitBelowOne
	offsetBelowZero
)

var mistakes = [...]string{
	downOfNoRange: "Down is for a Range",
	twoLowerEnds:  "a Range has one lower end, or a prefix",
	twoUpperEnds:  "a Range has one upper end",

	limitBelowOne:   "a limit is at least 1",
	offsetBelowZero: "an offset is not negative",
}

// Range means the rows with these values of the index's first parts, perhaps none, whose next part
// lies between two ends: [Query.Gt] or [Query.Ge] and [Query.Lt] or [Query.Le]. Without ends all rows
// with the values belong to it, and without values, too, it is the whole index. It goes up; Down turns
// it round.
//
//	handlersocket.Range(42).Ge("2024-01-01").Lt("2024-02-01").Down().Limit(10)
func Range(key ...any) Query { return Query{op: "up", key: key, limit: 1} }

// Down turns a Range round: it goes towards smaller values of the part that follows its key.
func (q Query) Down() Query {
	if q.op == "up" {
		q.op = "down"
	} else if q.op != "down" {
		q.wrong = downOfNoRange
	}
	return q
}

// Gt leaves out of a Range what is not greater. A nil is NULL, which is below every value.
func (q Query) Gt(value any) Query { return q.from(">", value) }

// Ge leaves out of a Range what is less.
func (q Query) Ge(value any) Query { return q.from(">=", value) }

// Lt leaves out of a Range what is not less.
func (q Query) Lt(value any) Query { return q.to("<", value) }

// Le leaves out of a Range what is greater.
func (q Query) Le(value any) Query { return q.to("<=", value) }

// Prefix takes of a Range only texts that begin so, or bytes. It stands in the place of ends.
func (q Query) Prefix(text any) Query { return q.from("^", text) }

func (q Query) from(op string, value any) Query {
	for _, end := range q.ends {
		if end.isLower() {
			q.wrong = twoLowerEnds
		}
	}
	q.ends = append([]bound{{op, value}}, q.ends...)
	return q
}

func (q Query) to(op string, value any) Query {
	for _, end := range q.ends {
		if !end.isLower() {
			q.wrong = twoUpperEnds
		}
	}
	q.ends = append(slices.Clip(q.ends), bound{op, value})
	return q
}

func (b bound) isLower() bool { return b.op != "<" && b.op != "<=" }

// isRange says whether it is a Range. It gives the Query's mistakes as errors, and checks what only a Range
// may have.
func (q *Query) isRange() (bool, error) {
	is := q.op == "up" || q.op == "down"
	switch {
	case q.wrong != noMistake:
		return is, usage("%s", mistakes[q.wrong])
	case !is && len(q.ends) > 0:
		return is, usage("ends are those of a Range")
	case len(q.ends) > 1 && q.ends[0].op == "^":
		return is, usage("a Range has a prefix or ends, and not both")
	}
	return is, nil
}

// appendEnds appends the ends of a Range.
func (q *Query) appendEnds(to []byte, d *definition) ([]byte, error) {
	var err error
	for _, end := range q.ends {
		to = append(append(to, tab), end.op...)
		if to, err = appendValue(to, end.value, d.location); err != nil {
			return nil, err
		}
	}
	return to, nil
}
