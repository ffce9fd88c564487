package handlersocket

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// Ports that speak another protocol: the error says so, and names the address.

// foreignPort greets a connection, answers the first bytes that it gets, and ends it.
func foreignPort(t *testing.T, greeting, answer string) (port int, connections *atomic.Int64) {
	connections = new(atomic.Int64)
	return servedPort(t, func(socket net.Conn) {
		defer socket.Close()
		connections.Add(1)
		_, _ = socket.Write([]byte(greeting))
		b := make([]byte, 4096)
		if n, _ := socket.Read(b); n == 0 {
			return
		}
		_, _ = socket.Write([]byte(answer))
		// What is unread would make a reset of the end.
		_ = socket.(*net.TCPConn).CloseWrite()
		for n := 1; n > 0; n, _ = socket.Read(b) {
		}
	}), connections
}

const (
	greetingOfSQL = "J\x00\x00\x00\n11.8.2-MariaDB\x00"
	alertOfTLS    = "\x15\x03\x01\x00\x02\x02F"
)

func TestForeignPortsAreToldAtTheLogIn(t *testing.T) {
	for name, port := range map[string]struct{ greeting, answer, words string }{
		"Redis":     {"", "-ERR unknown command 'A', with args beginning with: \r\n", "no reply"},
		"memcached": {"", "ERROR\r\n", "no reply"},
		"HTTP":      {"", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "no reply"},
		"a page":    {"", strings.Repeat("x", 5000), "no reply"},
		"SQL":       {greetingOfSQL, "", "SQL"},
		"TLS":       {"", alertOfTLS, "TLS"},
		// An alert about a message that was not expected: the number is that of LF.
		"TLS, too": {"", "\x15\x03\x03\x00\x02\x02\n", "TLS"},
	} {
		for way, account := range map[string]func(*Config){
			"secret": func(c *Config) { c.Secret = "s" }, "account": func(c *Config) { c.User, c.Password = "ann", "p" },
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				number, connections := foreignPort(t, port.greeting, port.answer)
				c := chaosClient(t, number, account)
				err := second(indexT(c).Get(t.Context(), 1))
				var e *Error
				if !errors.As(err, &e) || e.Kind != ErrProtocol || e.Sent || e.MaybeExecuted {
					t.Fatal(err)
				}
				if text := err.Error(); !strings.Contains(text, port.words) || !strings.Contains(text, fmt.Sprint("127.0.0.1:", number)) {
					t.Error(text)
				}
				if n := connections.Load(); n != 1 {
					t.Errorf("%d attempts", n)
				}
			})
		}
	}
}

// Without a log-in the request meets it, also that of an iteration.
func TestAPortOfTLSIsToldFromOthers(t *testing.T) {
	port, _ := foreignPort(t, "", alertOfTLS)
	c := chaosClient(t, port, func(c *Config) { c.RetryReads = 0 })
	for name, err := range map[string]error{
		"find": second(indexT(c).Get(t.Context(), 1)), "iterate": iterated(t, indexT(c)),
	} {
		if !errors.Is(err, ErrProtocol) || !errors.Is(err, errIsTLS) || !strings.Contains(err.Error(), fmt.Sprint("127.0.0.1:", port)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTLSToAPortWithoutIt(t *testing.T) {
	port, connections := foreignPort(t, "", "2\t1\tcmd\n")
	for _, mode := range []string{"verify", "unverified"} {
		connections.Store(0)
		c, err := Open(fmt.Sprintf("handlersocket://127.0.0.1:%d/d?tls=%s", port, mode))
		if err != nil {
			t.Fatal(err)
		}
		err = second(indexT(c).Get(t.Context(), 1))
		want := fmt.Sprintf("handlersocket: TLS with 127.0.0.1:%d failed: that port does not speak TLS", port)
		if !errors.Is(err, ErrConnect) || !strings.HasPrefix(err.Error(), want) || connections.Load() != 1 {
			t.Error(err, connections.Load())
		}
		_ = c.Close()
	}
}
