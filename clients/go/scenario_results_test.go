package handlersocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// What a call of a scenario has given, beside what it has to give.

// check compares what a call gave with what it had to give.
func check(got outcome, wanted json.RawMessage) error {
	var each []json.RawMessage
	if json.Unmarshal(wanted, &each) == nil {
		return checkEach(got, each)
	}
	var w wantedResult
	decoder := json.NewDecoder(bytes.NewReader(wanted))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return err
	}
	if w.Error == nil && got.err != nil {
		return fmt.Errorf("the error %w", got.err)
	}
	if w.Error != nil {
		if err := w.checkError(got.err); err != nil {
			return err
		}
	}
	if w.Rows != nil {
		if err := sameRows(got.rows, *w.Rows); err != nil {
			return err
		}
	}
	if w.Modified != nil && got.count != *w.Modified {
		return fmt.Errorf("%d rows", got.count)
	}
	if w.Count != nil && got.count != *w.Count {
		return fmt.Errorf("the count %d", got.count)
	}
	if w.Exists != nil && (got.count == 1) != *w.Exists {
		return fmt.Errorf("whether there is a row: %d", got.count)
	}
	if err := sameOutcomes(got.outcomes, w.Outcomes); err != nil {
		return err
	}
	if w.ID != nil {
		id := "null"
		if got.id != 0 {
			id = fmt.Sprint(got.id)
		}
		if id != string(w.ID) {
			return fmt.Errorf("the id %s", id)
		}
	}
	if w.Described != nil {
		if err := w.Described.check(got.described); err != nil {
			return err
		}
	}
	if w.Pairs != nil {
		var want Hello
		for _, pair := range *w.Pairs {
			want = append(want, Fact{pair[0], pair[1]})
		}
		if !slices.Equal(got.hello, want) {
			return fmt.Errorf("the hello %v", got.hello)
		}
	}
	if err := w.checkList(got); err != nil {
		return err
	}
	took := got.took.Milliseconds()
	if took < int64(w.AfterMs) || w.WithinMs > 0 && took > int64(w.WithinMs) {
		return fmt.Errorf("it took %d ms", took)
	}
	return nil
}

func checkEach(got outcome, wanted []json.RawMessage) error {
	if got.err != nil || len(got.each) != len(wanted) {
		return fmt.Errorf("the error %w of a group", got.err)
	}
	for i, one := range got.each {
		if err := check(one, wanted[i]); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return nil
}

func sameOutcomes(got []Outcome, wanted [][2]any) error {
	var want []Outcome
	for _, one := range wanted {
		o := Outcome{Done: Done(one[0].(string))}
		if id, is := one[1].(float64); is {
			o.ID = uint64(int64(id))
		}
		want = append(want, o)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the outcomes %v", got)
	}
	return nil
}

func sameRows(rows []Row, wanted [][]byteText) error {
	got, want := [][][]byte{}, [][][]byte{}
	for _, row := range rows {
		got = append(got, row.values)
	}
	for _, row := range wanted {
		var values [][]byte
		for _, value := range row {
			values = append(values, value.bytes)
		}
		want = append(want, values)
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the rows %q", got)
	}
	return nil
}

// messageOf gives the server's message as a scenario has it.
func messageOf(e *Error) string {
	if e.Message == "" {
		return "null"
	}
	return strconv.Quote(e.Message)
}

func (w *wantedResult) checkError(err error) error {
	var kinds []string
	if json.Unmarshal(w.Error, &kinds) != nil {
		kinds = make([]string, 1)
		if err := json.Unmarshal(w.Error, &kinds[0]); err != nil {
			return err
		}
	}
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("the error %v", err)
	}
	ok := slices.Contains(kinds, string(e.Kind)) && errors.Is(err, e.Kind) &&
		(w.Sent == nil || *w.Sent == e.Sent) &&
		(w.MaybeExecuted == nil || *w.MaybeExecuted == e.MaybeExecuted && SafeToRetry(err) != e.MaybeExecuted) &&
		(w.Code == nil || *w.Code == e.Code) && (w.Line == nil || *w.Line == e.Line) &&
		(w.Text == nil || *w.Text == e.Text) &&
		(w.Number == nil || *w.Number == e.Number()) && (w.SQLState == nil || *w.SQLState == e.SQLState()) &&
		(w.Message == nil || string(w.Message) == messageOf(e)) &&
		(w.Kind == nil || errors.Is(err, Kind(*w.Kind)))
	if !ok {
		return fmt.Errorf("the error %#v: %v", *e, e)
	}
	return nil
}
