package handlersocket

import (
	"strconv"
	"strings"
	"time"
)

// The types of columns as a server describes them, and the values of Go that they become.

// A valueKind says how values are read.
type valueKind uint8

const (
	asBytes valueKind = iota
	asText
	asInteger
	asUnsigned
	asDecimal
	asFloat
	asDate
	asMoment
	asTime
	asUUID
)

// The types of the servers that are known today. An integer may be unsigned.
var valueKinds = kindsByWord(map[valueKind]string{
	asInteger: "tinyint smallint mediumint int bigint year",
	asDecimal: "decimal",
	asFloat:   "float double",
	asText:    "char varchar tinytext text mediumtext longtext enum set json inet4 inet6",
	asBytes: "binary varbinary tinyblob blob mediumblob longblob bit geometry point linestring polygon multipoint " +
		"multilinestring multipolygon geometrycollection geomcollection vector",
	asDate:   "date",
	asMoment: "datetime timestamp",
	asTime:   "time",
	asUUID:   "uuid",
})

func kindsByWord(words map[valueKind]string) map[string]valueKind {
	kinds := map[string]valueKind{}
	for kind, all := range words {
		for word := range strings.FieldsSeq(all) {
			kinds[word] = kind
		}
	}
	return kinds
}

// kind says how the values of the column are read: its type's first word decides.
func (c *Column) kind() valueKind {
	word := strings.ToLower(c.Type)
	if end := strings.IndexAny(word, " ("); end >= 0 {
		word = word[:end]
	}
	kind, known := valueKinds[word]
	switch {
	case !known && c.Charset != "":
		return asText
	case !known:
		return asBytes
	case kind == asInteger && word != "year" && c.isUnsigned():
		return asUnsigned
	}
	return kind
}

func (c *Column) isUnsigned() bool {
	unsigned, told := c.Unsigned()
	return unsigned || !told && strings.Contains(c.Type, " unsigned")
}

// read makes the value of Go. NULL is nil, and bytes are not copied.
func (kind valueKind) read(value []byte, place *time.Location) (any, error) {
	if value == nil {
		return nil, nil
	}
	switch kind {
	case asText:
		return string(value), nil
	case asInteger:
		return orError(int64Of(value))
	case asUnsigned:
		return orError(uint64Of(value))
	case asDecimal:
		if !isDecimalText(value) {
			return nil, decodeError("the value is no decimal number")
		}
		return string(value), nil
	case asFloat:
		n, err := strconv.ParseFloat(textOf(value), 64)
		if err != nil || !isNumberText(value) {
			return nil, decodeError("the value does not fit into a float64")
		}
		return n, nil
	case asDate:
		if len(value) != len(dateFormat) {
			return nil, decodeError("the value is no date")
		}
		t, err := timeOf(value, time.UTC)
		return orError(DateOf(t), err)
	case asMoment:
		if len(value) == len(dateFormat) {
			return nil, decodeError("the value is no moment")
		}
		return orError(timeOf(value, place))
	case asTime:
		return orError(durationOf(value))
	case asUUID:
		if !isUUIDText(value) {
			return nil, decodeError("the value is no UUID")
		}
		return string(value), nil
	}
	return value, nil
}

// orError gives no value beside an error.
func orError[T any](value T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// isNumberText says whether a value has only what numbers of SQL have: ParseFloat reads more.
func isNumberText(value []byte) bool {
	for _, b := range value {
		if (b < '0' || b > '9') && strings.IndexByte("+-.eE", b) < 0 {
			return false
		}
	}
	return true
}

// isDecimalText says whether a value is digits with perhaps a sign and a point.
func isDecimalText(value []byte) bool {
	if len(value) > 0 && value[0] == '-' {
		value = value[1:]
	}
	whole, fraction, _ := cut(value, '.')
	for _, digits := range [][]byte{whole, fraction} {
		for _, b := range digits {
			if b < '0' || b > '9' {
				return false
			}
		}
	}
	return len(whole)+len(fraction) > 0
}

// isUUIDText says whether a value is a UUID as servers show it.
func isUUIDText(value []byte) bool {
	if len(value) != len("01234567-89ab-cdef-0123-456789abcdef") {
		return false
	}
	for i, b := range value {
		switch i {
		case 8, 13, 18, 23:
			if b != '-' {
				return false
			}
		default:
			if !(b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F') {
				return false
			}
		}
	}
	return true
}

// Value gives the value at a position as Go has it, if the index has types: it was made of
// [Description.Spec]. NULL is nil, and a value that does not fit the type that its column had then is
// ErrDecode. Bytes belong to the row. Without types all values are bytes.
//
//	integers                         int64; uint64 if the column is unsigned
//	YEAR                             int64
//	DECIMAL, text, ENUM, SET, JSON,
//	UUID, INET4, INET6               string
//	FLOAT, DOUBLE                    float64
//	BINARY, BLOB, BIT, geometry      []byte
//	DATE                             Date
//	DATETIME, TIMESTAMP              time.Time, as it is in Config.Location
//	TIME                             time.Duration
func (r Row) Value(i int) (any, error) {
	kind := asBytes
	if r.def.types != nil {
		kind = r.def.types[i]
	}
	value, err := kind.read(r.values[i], r.def.location)
	if err != nil {
		return nil, inColumn(err, r.def.columns[i])
	}
	return value, nil
}

// Values gives all values, each as [Row.Value] does.
func (r Row) Values() ([]any, error) {
	values := make([]any, len(r.values))
	for i := range values {
		var err error
		if values[i], err = r.Value(i); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Map gives all values by the names of their columns, each as [Row.Value] does. It may stand in the
// place of a Set.
func (r Row) Map() (map[string]any, error) {
	all := make(map[string]any, len(r.values))
	for i, column := range r.def.columns {
		value, err := r.Value(i)
		if err != nil {
			return nil, err
		}
		all[column] = value
	}
	return all, nil
}
