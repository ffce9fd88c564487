package handlersocket

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// Values of a reply to values of Go.

func decodeError(format string, arguments ...any) *Error {
	return &Error{Kind: ErrDecode, Sent: true, words: fmt.Sprintf(format, arguments...)}
}

// A scanner is what database/sql calls a Scanner: sql.Null[T], and types of programs.
type scanner interface{ Scan(source any) error }

// textOf shows the beginning of a value as text without copying it; it must not be kept.
func textOf(value []byte) string { return unsafe.String(unsafe.SliceData(value), len(value)) }

// A setter puts a value into a field. A nil value is NULL.
type setter func(to reflect.Value, value []byte, place *time.Location) error

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	dateType     = reflect.TypeFor[Date]()
	scannerType  = reflect.TypeFor[scanner]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	bytesType    = reflect.TypeFor[[]byte]()
)

// setterFor gives the setter of a type.
func setterFor(t reflect.Type) (setter, error) {
	switch t {
	case timeType:
		return notNull(setTime), nil
	case durationType:
		return notNull(setDuration), nil
	case dateType:
		return notNull(setDate), nil
	case bytesType:
		return setBytes, nil
	}
	pointer := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return pointerSetter(t)
	case pointer.Implements(scannerType):
		return setScanner, nil
	case pointer.Implements(textType):
		return notNull(setText), nil
	}
	switch t.Kind() {
	case reflect.String:
		return notNull(setString), nil
	case reflect.Bool:
		return notNull(setBool), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return notNull(setInt), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return notNull(setUint), nil
	case reflect.Float32, reflect.Float64:
		return notNull(setFloat), nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return setBytes, nil
		}
	}
	return nil, usage("a column cannot be read into a %s", t)
}

// isText says whether a value is put into the type as it is.
func isText(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return t.Kind() == reflect.String && !pointer.Implements(scannerType) && !pointer.Implements(textType)
}

func notNull(set setter) setter {
	return func(to reflect.Value, value []byte, place *time.Location) error {
		if value == nil {
			return decodeError("NULL does not fit into a %s: use a pointer, or sql.Null", to.Type())
		}
		return set(to, value, place)
	}
}

func pointerSetter(t reflect.Type) (setter, error) {
	inner, err := setterFor(t.Elem())
	if err != nil {
		return nil, err
	}
	return func(to reflect.Value, value []byte, place *time.Location) error {
		if value == nil {
			to.SetZero()
			return nil
		}
		target := reflect.New(t.Elem())
		if err := inner(target.Elem(), value, place); err != nil {
			return err
		}
		to.Set(target)
		return nil
	}, nil
}

func setString(to reflect.Value, value []byte, _ *time.Location) error {
	to.SetString(string(value))
	return nil
}

func setBytes(to reflect.Value, value []byte, _ *time.Location) error {
	if value == nil {
		to.SetZero()
		return nil
	}
	to.SetBytes(append(make([]byte, 0, len(value)), value...))
	return nil
}

func setBool(to reflect.Value, value []byte, _ *time.Location) error {
	if len(value) == 1 {
		switch value[0] {
		case '0', 0: // BIT(1) comes as a byte.
			to.SetBool(false)
			return nil
		case '1', 1:
			to.SetBool(true)
			return nil
		}
	}
	return decodeError("the value is neither 0 nor 1")
}

// whole is an integer with up to 64 bits and a sign.
type whole struct {
	amount   uint64
	negative bool
}

func integer(value []byte) (whole, bool) {
	n := whole{negative: len(value) > 0 && value[0] == '-'}
	if n.negative {
		value = value[1:]
	}
	var ok bool
	n.amount, ok = digits(value)
	return n, ok
}

// digits reads a number that may have been filled with zeros up to a width.
func digits(value []byte) (uint64, bool) {
	for len(value) > 20 && value[0] == '0' {
		value = value[1:]
	}
	return number(value)
}

func setInt(to reflect.Value, value []byte, _ *time.Location) error {
	n, err := int64Of(value)
	if err != nil || to.OverflowInt(n) {
		return decodeError("the value does not fit into a %s", to.Type())
	}
	to.SetInt(n)
	return nil
}

func int64Of(value []byte) (int64, error) {
	n, ok := integer(value)
	switch {
	case ok && !n.negative && n.amount <= math.MaxInt64:
		return int64(n.amount), nil
	case ok && n.negative && n.amount <= 1<<63:
		return -int64(n.amount), nil
	}
	return 0, decodeError("the value does not fit into an int64")
}

func setUint(to reflect.Value, value []byte, _ *time.Location) error {
	n, err := uint64Of(value)
	if err != nil || to.OverflowUint(n) {
		return decodeError("the value does not fit into a %s", to.Type())
	}
	to.SetUint(n)
	return nil
}

func uint64Of(value []byte) (uint64, error) {
	n, ok := digits(value)
	if !ok {
		return 0, decodeError("the value does not fit into a uint64")
	}
	return n, nil
}

func setFloat(to reflect.Value, value []byte, _ *time.Location) error {
	n, err := strconv.ParseFloat(textOf(value), to.Type().Bits())
	if err != nil || !isNumberText(value) {
		return decodeError("the value does not fit into a %s", to.Type())
	}
	to.SetFloat(n)
	return nil
}

func setText(to reflect.Value, value []byte, _ *time.Location) error {
	err := to.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(value)
	return causedBy(err, to.Type())
}

// setScanner gives a Scanner text as bytes of its own, as database/sql does.
func setScanner(to reflect.Value, value []byte, place *time.Location) error {
	var source any
	if value != nil {
		source = append(make([]byte, 0, len(value)), value...)
		// sql.NullTime and sql.Null[time.Time] want a time.
		if wantsTime(to.Type()) {
			t, err := timeOf(value, place)
			if err != nil {
				return err
			}
			source = t
		}
	}
	return causedBy(to.Addr().Interface().(scanner).Scan(source), to.Type())
}

func wantsTime(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type == timeType
}

func causedBy(err error, t reflect.Type) error {
	if err == nil {
		return nil
	}
	e := decodeError("the value cannot be read into a %s", t)
	e.Err = err
	return e
}

func setTime(to reflect.Value, value []byte, place *time.Location) error {
	t, err := timeOf(value, place)
	if err != nil {
		return err
	}
	*to.Addr().Interface().(*time.Time) = t
	return nil
}

func setDate(to reflect.Value, value []byte, _ *time.Location) error {
	t, err := timeOf(value, time.UTC)
	if err != nil {
		return err
	}
	to.Set(reflect.ValueOf(DateOf(t)))
	return nil
}

func setDuration(to reflect.Value, value []byte, _ *time.Location) error {
	d, err := durationOf(value)
	if err != nil {
		return err
	}
	to.SetInt(int64(d))
	return nil
}

// timeOf reads a DATE, a DATETIME or a TIMESTAMP. A zero date is an error.
func timeOf(value []byte, place *time.Location) (time.Time, error) {
	format := dateTimeFormat
	if len(value) == len(dateFormat) {
		format = dateFormat
	}
	t, err := time.ParseInLocation(format, string(value), place)
	if err != nil {
		return time.Time{}, decodeError("the value is no date")
	}
	return t, nil
}

// durationOf reads a TIME.
func durationOf(value []byte) (time.Duration, error) {
	var hours, minutes, seconds, micros uint64
	rest, negative := value, false
	if len(rest) > 0 && rest[0] == '-' {
		rest, negative = rest[1:], true
	}
	whole, fraction, _ := cut(rest, '.')
	hour, rest, ok1 := cut(whole, ':')
	minute, second, ok2 := cut(rest, ':')
	good := ok1 && ok2 && len(fraction) <= 6
	for _, part := range []struct {
		to   *uint64
		text []byte
	}{{&hours, hour}, {&minutes, minute}, {&seconds, second}} {
		var ok bool
		*part.to, ok = number(part.text)
		good = good && ok && *part.to < 1000
	}
	if len(fraction) > 0 {
		var ok bool
		micros, ok = number(fraction)
		good = good && ok
		for range 6 - len(fraction) {
			micros *= 10
		}
	}
	if !good {
		return 0, decodeError("the value is no time")
	}
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute +
		time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond
	if negative {
		d = -d
	}
	return d, nil
}

func cut(value []byte, at byte) (before, after []byte, found bool) {
	for i, b := range value {
		if b == at {
			return value[:i], value[i+1:], true
		}
	}
	return value, nil, false
}
