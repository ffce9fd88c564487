package handlersocket

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The project's vectors: tests/vectors/README.md explains them.

func loadVectors[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "tests", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// A byteText is a string of a vector: each of its characters is one byte. Null is NULL.
type byteText struct{ bytes []byte }

func (b *byteText) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == nil {
		b.bytes = nil
		return nil
	}
	b.bytes = []byte{}
	for _, r := range *text {
		if r > 0xFF {
			return fmt.Errorf("%q is no byte", r)
		}
		b.bytes = append(b.bytes, byte(r))
	}
	return nil
}

func (b byteText) String() string { return string(b.bytes) }

func (b byteText) raw() []byte  { return b.bytes }
func (v valueText) raw() []byte { return v.bytes }

func anyOf[T interface{ raw() []byte }](texts []T) []any {
	values := []any{}
	for _, text := range texts {
		values = append(values, text.raw())
	}
	return values
}

func TestValues(t *testing.T) {
	type vector struct {
		Why     string
		Value   *byteText
		Token   byteText
		Accepts []byteText
		Error   string
	}
	data := loadVectors[map[string]json.RawMessage](t, "values")
	for i, v := range loadVectors[vector](t, "values") {
		_, hasValue := data[i]["value"]
		if v.Error != "" {
			if _, err := unescape(bytes.Clone(v.Token.bytes)); err == nil {
				t.Errorf("%s: %q is wrong", v.Why, v.Token)
			}
			continue
		}
		if !hasValue {
			t.Fatalf("%s: no value", v.Why)
		}
		var value []byte
		if v.Value != nil {
			value = v.Value.bytes
		}
		token, err := appendValue(nil, value, time.UTC)
		if err != nil || string(token[1:]) != v.Token.String() {
			t.Errorf("%s: %q is written as %q, %v", v.Why, value, token, err)
		}
		for _, accepted := range append(v.Accepts, v.Token) {
			got, err := unescape(bytes.Clone(accepted.bytes))
			if err != nil || !bytes.Equal(got, value) || (got == nil) != (value == nil) {
				t.Errorf("%s: %q is read as %q, %v", v.Why, accepted, got, err)
			}
		}
	}
}

func TestErrorTable(t *testing.T) {
	type vector struct {
		Code                     int
		Text, Kind, Retry, Words string
		SQLState                 string `json:"sqlstate"`
		MaybeExecuted            bool   `json:"maybe_executed"`
	}
	vectors := loadVectors[vector](t, "errors")
	if len(vectors) != len(errorTable) {
		t.Errorf("%d errors, and not %d: go generate", len(errorTable), len(vectors))
	}
	for _, v := range vectors {
		want := errorEntry{v.Code, Kind(v.Kind), v.Retry, v.Words, v.SQLState, v.MaybeExecuted}
		if errorTable[v.Text] != want {
			t.Errorf("%s is %v, and not %v: go generate", v.Text, errorTable[v.Text], want)
		}
	}
}
