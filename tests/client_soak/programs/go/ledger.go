package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A state is what a row of kept has besides its key. A *state that is nil is no such row.
type state struct {
	n    int64
	text string
}

func (s state) MarshalJSON() ([]byte, error) { return json.Marshal([]any{s.n, s.text}) }

// String keeps it on one line, whatever its text.
func (s state) String() string { return fmt.Sprintf("(%d, %q)", s.n, s.text) }

func (s state) plus(amount int64) state { return state{s.n + amount, s.text} }

// A liveRow is known to be there, and so.
type liveRow struct {
	number int
	state
}

// A doubt is a row that is as it was before a change, or as it is after it. Nobody uses it again.
type doubt struct {
	number        int
	before, after *state
}

// A joint is a group that was executed as a whole or not at all: its rows, and its number in log.
type joint struct {
	rows   [2]doubt
	logged int
}

// A ledger is what a caller knows of its rows in kept, and of its numbers in log.
type ledger struct {
	live   []liveRow
	doubts []doubt
	joints []joint
	// The first numbers that were never used.
	next, tries int
	// Numbers of log that must not be there, and those that may be.
	refused, perhaps []int
}

// Lists that are empty are written as such, and not as null.
func newLedger() ledger { return ledger{refused: []int{}, perhaps: []int{}} }

func (l *ledger) newNumber() int {
	l.next++
	return l.next - 1
}

func (l *ledger) newLogNumber() int {
	l.tries++
	return l.tries - 1
}

// forget takes a row out of those that are live.
func (l *ledger) forget(number int) {
	l.live = slices.DeleteFunc(l.live, func(row liveRow) bool { return row.number == number })
}

// changed notes what has become of a change of a live row.
func (l *ledger) changed(row liveRow, after *state, f fate) {
	switch f {
	case unsure:
		l.forget(row.number)
		l.doubts = append(l.doubts, doubt{row.number, &row.state, after})
	case done:
		if after == nil {
			l.forget(row.number)
			return
		}
		for i := range l.live {
			if l.live[i].number == row.number {
				l.live[i].state = *after
			}
		}
	}
}

// inserted notes what has become of a new row.
func (l *ledger) inserted(row liveRow, f fate) {
	switch f {
	case done:
		l.live = append(l.live, row)
	case unsure:
		l.doubts = append(l.doubts, doubt{row.number, nil, &row.state})
	}
}

// logged notes what has become of a number that was to come into log.
func (l *ledger) logged(number int, f fate) {
	switch f {
	case undone:
		l.refused = append(l.refused, number)
	case unsure:
		l.perhaps = append(l.perhaps, number)
	}
}

// possible gives the states of each row that is there or may be; nil is among them if it may be missing.
func (l *ledger) possible() map[int][]*state {
	states := make(map[int][]*state, len(l.live)+len(l.doubts)+2*len(l.joints))
	for _, row := range l.live {
		states[row.number] = []*state{&row.state}
	}
	for _, d := range l.doubts {
		states[d.number] = []*state{d.before, d.after}
	}
	for _, j := range l.joints {
		for _, d := range j.rows {
			states[d.number] = []*state{d.before, d.after}
		}
	}
	return states
}

// A report is what the program says at its end.
type report struct {
	Calls           int64          `json:"calls"`
	Errors          map[string]int `json:"errors"`
	Unsure          int            `json:"unsure"`
	ConnectionsLost uint64         `json:"connections_lost"`
	Rows            []any          `json:"rows"`
	Log             []any          `json:"log"`
	Joint           []any          `json:"joint"`
}

func newReport(callers []*caller, calls int64, lost uint64) report {
	r := report{Calls: calls, Errors: map[string]int{}, ConnectionsLost: lost, Rows: []any{}, Log: []any{}, Joint: []any{}}
	for _, c := range callers {
		r.Unsure += c.maybeExecuted
		for kind, count := range c.errors {
			r.Errors[kind] += count
		}
		r.add(c.number, &c.ledger)
	}
	return r
}

func (r *report) add(caller int, l *ledger) {
	for _, row := range l.live {
		r.Rows = append(r.Rows, []any{caller, row.number, []*state{&row.state}})
	}
	for _, d := range l.doubts {
		r.Rows = append(r.Rows, []any{caller, d.number, []*state{d.before, d.after}})
	}
	r.Log = append(r.Log, []any{caller, l.tries, l.refused, l.perhaps})
	for _, j := range l.joints {
		var parts []any
		for _, d := range j.rows {
			parts = append(parts, []any{caller, d.number, d.before, d.after})
		}
		r.Joint = append(r.Joint, append(parts, []any{caller, j.logged}))
	}
}
