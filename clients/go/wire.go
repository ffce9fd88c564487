package handlersocket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"unsafe"
)

// The bytes of the protocol: tokens, requests and replies. Pure functions.

const (
	tab       = '\t'
	lf        = '\n'
	escape    = 0x01
	escapeAdd = 0x40
	// Bytes below this one are escaped.
	firstPlain = 0x10
)

var errEscape = errors.New("a wrong escape")

// appendEscaped appends the token of a value that is not NULL.
func appendEscaped(to, value []byte) []byte {
	from := 0
	for i := 0; i < len(value); i++ {
		if i+8 <= len(value) && !hasLow(binary.LittleEndian.Uint64(value[i:])) {
			i += 7
			continue
		}
		if value[i] < firstPlain {
			to = append(to, value[from:i]...)
			to = append(to, escape, value[i]+escapeAdd)
			from = i + 1
		}
	}
	return append(to, value[from:]...)
}

// hasLow says whether one of eight bytes is below 0x10: its upper half is zero.
func hasLow(eight uint64) bool {
	upper := eight & 0xF0F0F0F0F0F0F0F0
	return (upper-0x0101010101010101)&^upper&0x8080808080808080 != 0
}

// appendText is appendEscaped for a text.
func appendText(to []byte, value string) []byte {
	return appendEscaped(to, unsafe.Slice(unsafe.StringData(value), len(value)))
}

// unescape turns a token into its value, in place. A NULL is nil, and nothing else is.
func unescape(token []byte) ([]byte, error) {
	if len(token) == 1 && token[0] == 0 {
		return nil, nil
	}
	first := bytes.IndexByte(token, escape)
	if first < 0 {
		if token == nil {
			return []byte{}, nil
		}
		return token, nil
	}
	to := first
	for i := first; i < len(token); i++ {
		b := token[i]
		if b == escape {
			i++
			if i == len(token) || token[i]&0xF0 != escapeAdd {
				return nil, errEscape
			}
			b = token[i] - escapeAdd
		}
		token[to] = b
		to++
	}
	return token[:to], nil
}

// number reads digits and nothing else.
func number(token []byte) (uint64, bool) {
	if len(token) == 0 || len(token) > 20 {
		return 0, false
	}
	var n uint64
	for _, b := range token {
		digit := b - '0'
		if digit > 9 || n > math.MaxUint64/10 || n == math.MaxUint64/10 && digit > math.MaxUint64%10 {
			return 0, false
		}
		n = n*10 + uint64(digit)
	}
	return n, true
}

// header is what stands in front of a reply's values.
type header struct {
	code    uint64
	columns uint64
	// Where the values begin, behind a TAB; 0 if there are none.
	body int
}

// parseHeader reads the beginning of a line, which has no LF. It says false if the line is no reply.
func parseHeader(line []byte) (header, bool) {
	// Nearly every reply begins so.
	if len(line) >= 3 && line[0] == '0' && line[1] == tab && line[2]-'0' <= 9 {
		if len(line) == 3 {
			return header{columns: uint64(line[2] - '0')}, true
		}
		if line[3] == tab {
			return header{columns: uint64(line[2] - '0'), body: 4}, true
		}
	}
	end := bytes.IndexByte(line, tab)
	if end < 0 {
		return header{}, false
	}
	code, ok := number(line[:end])
	if !ok {
		return header{}, false
	}
	rest := line[end+1:]
	h := header{code: code}
	if next := bytes.IndexByte(rest, tab); next >= 0 {
		h.body = end + 1 + next + 1
		rest = rest[:next]
	}
	h.columns, ok = number(rest)
	return h, ok
}

// values are those of the line that has this header.
func (h header) values(line []byte) tokens { return valuesOf(line[h.body:], h.body > 0) }

// tokens walks through the values of a reply.
type tokens struct {
	rest []byte
	more bool
}

// valuesOf gives the values of a reply. hasValues is false if no TAB stands behind the columns.
func valuesOf(body []byte, hasValues bool) tokens { return tokens{body, hasValues} }

// next takes a token; there has to be one more.
func (t *tokens) next() []byte {
	end := bytes.IndexByte(t.rest, tab)
	if end < 0 {
		token := t.rest
		t.rest, t.more = nil, false
		return token
	}
	token := t.rest[:end]
	t.rest = t.rest[end+1:]
	return token
}

func appendNumber(to []byte, n uint64) []byte {
	return strconv.AppendUint(append(to, tab), n, 10)
}
