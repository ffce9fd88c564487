package handlersocket

import (
	"database/sql/driver"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Values of Go to tokens: the text that SQL would take for them.

const (
	dateTimeFormat = "2006-01-02 15:04:05.999999"
	dateFormat     = "2006-01-02"
)

// appendValue appends a TAB and the token of a value. Times are written as they are in the place.
func appendValue(to []byte, value any, place *time.Location) ([]byte, error) {
	to = append(to, tab)
	switch v := value.(type) {
	case nil:
		return append(to, 0), nil
	case string:
		return appendText(to, v), nil
	case []byte:
		if v == nil {
			return append(to, 0), nil
		}
		return appendEscaped(to, v), nil
	case int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(to, v, 10), nil
	case uint64:
		return strconv.AppendUint(to, v, 10), nil
	case int32:
		return strconv.AppendInt(to, int64(v), 10), nil
	case uint32:
		return strconv.AppendUint(to, uint64(v), 10), nil
	case bool:
		return appendBool(to, v), nil
	case float64:
		return appendFloat(to, v, 64)
	case float32:
		return appendFloat(to, float64(v), 32)
	case time.Time:
		return v.In(place).AppendFormat(to, dateTimeFormat), nil
	case time.Duration:
		return appendDuration(to, v), nil
	case Date:
		return append(to, v.String()...), nil
	}
	return appendOther(to, value, place)
}

// appendOther appends values of types that programs have defined. The TAB stands there already.
func appendOther(to []byte, value any, place *time.Location) ([]byte, error) {
	reflected := reflect.ValueOf(value)
	if reflected.Kind() == reflect.Pointer && reflected.IsNil() {
		return append(to, 0), nil
	}
	switch v := value.(type) {
	case driver.Valuer:
		inner, err := v.Value()
		if err != nil {
			return nil, usage("the value of a %T: %w", value, err)
		}
		if _, again := inner.(driver.Valuer); again {
			return nil, usage("the value of a %T is a %T", value, inner)
		}
		return appendValue(to[:len(to)-1], inner, place)
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			return nil, usage("the text of a %T: %w", value, err)
		}
		return appendEscaped(to, text), nil
	}
	switch reflected.Kind() {
	case reflect.Pointer:
		return appendValue(to[:len(to)-1], reflected.Elem().Interface(), place)
	case reflect.String:
		return appendText(to, reflected.String()), nil
	case reflect.Bool:
		return appendBool(to, reflected.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(to, reflected.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(to, reflected.Uint(), 10), nil
	case reflect.Float32:
		return appendFloat(to, reflected.Float(), 32)
	case reflect.Float64:
		return appendFloat(to, reflected.Float(), 64)
	case reflect.Slice:
		if reflected.Type().Elem().Kind() == reflect.Uint8 {
			if reflected.IsNil() {
				return append(to, 0), nil
			}
			return appendEscaped(to, reflected.Bytes()), nil
		}
	}
	return nil, usage("a %T is no value that a column can hold", value)
}

func appendBool(to []byte, value bool) []byte {
	if value {
		return append(to, '1')
	}
	return append(to, '0')
}

func appendFloat(to []byte, value float64, bits int) ([]byte, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, usage("%v is no number that a column can hold", value)
	}
	return strconv.AppendFloat(to, value, 'g', -1, bits), nil
}

// appendDuration appends a TIME: its hours may be more than 23, and the sign stands before all of it.
func appendDuration(to []byte, value time.Duration) []byte {
	micros := value.Microseconds()
	if micros < 0 {
		to = append(to, '-')
		micros = -micros
	}
	seconds, fraction := micros/1e6, micros%1e6
	to = fmt.Appendf(to, "%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if fraction != 0 {
		to = fmt.Appendf(to, ".%06d", fraction)
	}
	return to
}

// A Date is a day without a time, for a DATE column. The zero Date is 0000-00-00.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf gives the day of a time, in the time's own place.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// String gives the day as 2024-02-29.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day) }

// Time gives the beginning of the day in a place.
func (d Date) Time(place *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, place)
}
