package handlersocket

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// A pieceConn gives its bytes in pieces of one size, or of the sizes in `sizes`.
type pieceConn struct {
	net.Conn
	bytes []byte
	size  int
	sizes []byte
}

func (p *pieceConn) Read(to []byte) (int, error) {
	if len(p.bytes) == 0 {
		return 0, io.EOF
	}
	size := p.size
	if len(p.sizes) > 0 {
		size, p.sizes = 1+int(p.sizes[0]), p.sizes[1:]
	}
	n := copy(to, p.bytes[:min(size, len(p.bytes))])
	p.bytes = p.bytes[n:]
	return n, nil
}

func (p *pieceConn) Close() error                    { return nil }
func (p *pieceConn) SetReadDeadline(time.Time) error { return nil }

// reading is a connection that has sent a request for each of the definitions.
func reading(from net.Conn, asked ...*definition) (*conn, []*call) {
	config := DefaultConfig()
	c := newConn(from, &config, 0, "")
	c.events = &counters{}
	c.sweeping = true
	var calls []*call
	for i, d := range asked {
		d.number = i
		c.indexOf(d).opening = &opening{definition: d}
		k := newCall(d, kindFind, opFind)
		k.request = append(k.request, "\t=\t1\t1\n"...)
		c.put(k)
		calls = append(calls, k)
	}
	c.sent = c.position
	return c, calls
}

func readAll(c *conn) error {
	for {
		if _, err := c.read(); err != nil {
			return err
		}
	}
}

// A connection's replies are the same however the stream is cut.
func TestStreams(t *testing.T) {
	for _, v := range loadVectors[struct {
		Why    string
		Stream byteText
		Lines  []byteText
		Rest   byteText
	}](t, "streams") {
		for size := 1; size <= len(v.Stream.bytes); size++ {
			var asked []*definition
			for _, line := range v.Lines {
				h, _ := parseHeader(bytes.TrimSuffix(line.bytes, []byte("\n")))
				asked = append(asked, &definition{columns: make([]string, h.columns)})
			}
			asked = append(asked, &definition{columns: []string{"more"}})
			c, calls := reading(&pieceConn{bytes: v.Stream.bytes, size: size}, asked...)
			if err := readAll(c); err != errEnded {
				t.Fatalf("%s, pieces of %d: %v", v.Why, size, err)
			}
			for i, line := range v.Lines {
				want := bytes.TrimSuffix(line.bytes, []byte("\n"))
				h, _ := parseHeader(want)
				if h.body == 0 {
					h.body = len(want)
				}
				if k := calls[i]; len(k.done) != 1 || k.err != nil || !bytes.Equal(k.reply, want[h.body:]) || uint64(k.code) != h.code {
					t.Errorf("%s, pieces of %d: reply %d is %d, %q", v.Why, size, i, k.code, k.reply)
				}
			}
			if rest := c.in[:c.have]; !bytes.Equal(rest, v.Rest.bytes) || len(calls[len(v.Lines)].done) != 0 {
				t.Errorf("%s, pieces of %d: the rest is %q", v.Why, size, rest)
			}
		}
	}
}

// Whatever a server sends, in whatever pieces: the client ends the connection at worst, its memory is
// bounded, and each call has one result.
func FuzzReplies(f *testing.F) {
	f.Add([]byte("0\t1\n0\t2\t1\tone\n2\t1\tcmd\n0\t1\t"), []byte{0, 3, 9})
	for _, v := range loadVectors[replyVector](f, "replies") {
		f.Add(v.Line.bytes, []byte{})
	}
	f.Add([]byte("J\x00\x00\x00\n11.8.3"), []byte{1})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		one, two := &definition{columns: []string{"a"}, location: time.UTC}, &definition{columns: []string{"a", "b"}, location: time.UTC}
		c, calls := reading(&pieceConn{bytes: stream, size: 7, sizes: sizes}, one, two, &definition{location: time.UTC})
		c.options.MaxReplyBytes = 1000
		c.in = make([]byte, 4)
		c.fail(readAll(c))
		if len(c.in) > 1001 {
			t.Errorf("%d bytes of memory", len(c.in))
		}
		for _, k := range calls {
			if len(k.done) != 1 {
				t.Fatal("a call has no result")
			}
			if k.err == nil && k.code != 0 {
				_ = k.refusal()
			} else if k.err == nil {
				rows, err := readMany[Row](k, &plan{})
				for _, row := range rows {
					if err == nil && row.Len() != len(k.definition.columns) {
						t.Errorf("a row of %d values", row.Len())
					}
				}
			}
		}
	})
}

// What is written is read again as it was, and is one token of one line.
func FuzzValues(f *testing.F) {
	for _, v := range loadVectors[struct{ Value *byteText }](f, "values") {
		if v.Value != nil {
			f.Add(v.Value.bytes)
		}
	}
	f.Add([]byte("twelve plain\x0f and \x10 more\x00 bytes here and there\n"))
	f.Fuzz(func(t *testing.T, value []byte) {
		token, err := appendValue(nil, value, time.UTC)
		if err != nil || bytes.ContainsAny(token[1:], "\t\n") || token[0] != tab {
			t.Fatalf("%q, %v", token, err)
		}
		plain := []byte{tab}
		for _, b := range value {
			if b < firstPlain {
				plain = append(plain, escape)
				b += escapeAdd
			}
			plain = append(plain, b)
		}
		if value != nil && !bytes.Equal(plain, token) {
			t.Errorf("%q in place of %q", token, plain)
		}
		if back, err := unescape(token[1:]); err != nil || !bytes.Equal(back, value) || (back == nil) != (value == nil) {
			t.Errorf("%q, %v", back, err)
		}
	})
}

// A token that is no value is an error, and never more than it was.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("\x01I\x01"))
	f.Fuzz(func(t *testing.T, token []byte) {
		if value, err := unescape(bytes.Clone(token)); err == nil && len(value) > len(token) {
			t.Errorf("%q", value)
		}
		for _, read := range []func() error{
			func() error { return second(readInto[int8](string(token), false)) },
			func() error { return second(readInto[time.Time](string(token), false)) },
			func() error { return second(readInto[time.Duration](string(token), false)) },
			func() error { return second(readInto[Date](string(token), false)) },
			func() error { return second(readInto[bool](string(token), false)) },
		} {
			_ = read()
		}
	})
}

// A URL gives a Config that can be used, or an error.
func FuzzURLs(f *testing.F) {
	f.Add("handlersocket://user:p%40@a,b:1,2,[::1]:3/db?tls=verify&timeout=5s")
	f.Fuzz(func(t *testing.T, url string) {
		c, err := ParseURL(url)
		if err != nil {
			return
		}
		client, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
	})
}
