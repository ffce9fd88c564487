package handlersocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

// The vectors of replies.

type replyVector struct {
	Why      string
	Line     byteText
	To       string
	Columns  int
	Rows     [][]byteText
	Modified *int64
	ID       *json.Number
	Error    *struct {
		Code int
		Text string
	}
	NoReply  bool `json:"no_reply"`
	Count    *json.Number
	Exists   *bool
	Outcomes [][2]any
	Asked    int
}

func (v *replyVector) read(t testing.TB) (any, error) {
	line, ok := bytes.CutSuffix(v.Line.bytes, []byte("\n"))
	if !ok {
		t.Fatalf("%q has no LF", v.Line)
	}
	kinds := map[string]callKind{
		"": kindFind, "find": kindFind, "modify": kindModify, "modify_rows_before": kindModifyRows,
		"insert": kindInsert, "count": kindCount, "exists": kindCount, "modify_rows_after": kindModifyRows, "insert_rows": kindInsertRows,
	}
	d := &definition{location: time.UTC}
	for i := range v.Columns {
		d.columns = append(d.columns, fmt.Sprint(i))
	}
	k := newCall(d, kinds[v.To], opFind)
	if v.NoReply {
		// Whatever number of columns the index has been opened with, it is no reply.
		if h, ok := parseHeader(line); ok {
			d.columns = make([]string, h.columns)
		}
	}
	if !k.answer(line) {
		return nil, wrongReply("header")
	}
	if k.code != 0 {
		return nil, k.refusal()
	}
	switch k.kind {
	case kindInsertRows:
		return readOutcomes(k, max(v.Asked, len(v.Outcomes)))
	case kindCount:
		if v.To == "exists" {
			return readExists(k)
		}
		return readCount(k)
	case kindModify:
		return readCount(k)
	case kindInsert:
		return readID(k)
	}
	return readMany[Row](k, &plan{})
}

func TestReplies(t *testing.T) {
	all := append(loadVectors[replyVector](t, "replies"), loadVectors[replyVector](t, "new_replies")...)
	for _, v := range all {
		if v.To == "open_index" || v.To == "auth" {
			h, ok := parseHeader(bytes.TrimSuffix(v.Line.bytes, []byte("\n")))
			if !ok || h.code != 0 {
				t.Errorf("%s: %q is success", v.Why, v.Line)
			}
			continue
		}
		got, err := v.read(t)
		var e *Error
		switch {
		case v.NoReply:
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("%s: %q gives %v, %v", v.Why, v.Line, got, err)
			}
		case v.Error != nil:
			if !errors.As(err, &e) || e.Code != v.Error.Code || e.Text != v.Error.Text || !errors.Is(err, ErrReply) {
				t.Errorf("%s: %q gives the error %v", v.Why, v.Line, err)
			}
		case v.Count != nil && uintOf(t, v.Count, 0) > math.MaxInt64:
			// No table has so many rows.
		case err != nil:
			t.Errorf("%s: %q gives the error %v", v.Why, v.Line, err)
		case v.Count != nil:
			if fmt.Sprint(got) != v.Count.String() {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		case v.Exists != nil:
			if got != *v.Exists {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		case v.Outcomes != nil:
			if want := v.outcomes(t); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q gives %v, and not %v", v.Why, v.Line, got, want)
			}
		case v.Modified != nil:
			if got != *v.Modified {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		case v.To == "insert":
			if got != uintOf(t, v.ID, 0) {
				t.Errorf("%s: %q gives %v", v.Why, v.Line, got)
			}
		default:
			compareRows(t, v.Why, got.([]Row), v.Rows)
		}
	}
}

func (v *replyVector) outcomes(t testing.TB) []Outcome {
	var all []Outcome
	for _, one := range v.Outcomes {
		outcome := Outcome{Done: Done(one[0].(string))}
		if id, is := one[1].(json.Number); is {
			outcome.ID = uintOf(t, &id, 0)
		}
		all = append(all, outcome)
	}
	return all
}

func compareRows(t testing.TB, why string, got []Row, want [][]byteText) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, and not %d", why, len(got), len(want))
		return
	}
	for i, row := range got {
		var values [][]byte
		for _, value := range want[i] {
			values = append(values, value.bytes)
		}
		if !reflect.DeepEqual(row.values, values) {
			t.Errorf("%s: row %d is %q, and not %q", why, i, row.values, values)
		}
	}
}
