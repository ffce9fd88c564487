package handlersocket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseURL(t *testing.T) {
	both := func(host string) Address { return Address{Host: host, Port: 9998, PortWrite: 9999} }
	for url, want := range map[string][]Address{
		"handlersocket://db":                       {both("db")},
		"handlersocket://db/":                      {both("db")},
		"handlersocket://db:1":                     {{Host: "db", Port: 1}},
		"handlersocket://db:1,2/x":                 {{Host: "db", Port: 1, PortWrite: 2}},
		"handlersocket://db:,2":                    {{Host: "db", PortWrite: 2}},
		"handlersocket://u:p@a,b:1,2,[::1]:3,4,c/": {both("a"), {Host: "b", Port: 1, PortWrite: 2}, {Host: "::1", Port: 3, PortWrite: 4}, both("c")},
		"handlersocket://[::1]":                    {both("::1")},
		"handlersocket:///x?socket=/r&socket_wr=w": {{Socket: "/r", SocketWrite: "w"}},
	} {
		c, err := ParseURL(url)
		if err != nil || !reflect.DeepEqual(c.Addresses, want) {
			t.Errorf("%s has %+v, %v", url, c.Addresses, err)
		}
	}
	c, err := ParseURL("handlersocket://an%40n:p%3A%2Fw@db/d%2Fb?timeout=500ms&dead_after=1s&connect_timeout=2m&long_limit=7" +
		"&when_full=fail&read_after_write=sent&read_from=replicas&retry_reads=2&tls=verify&tls_name=other")
	if err != nil || c.User != "an@n" || c.Password != "p:/w" || c.Database != "d/b" || c.Timeout != 500*time.Millisecond ||
		c.DeadAfter != time.Second || c.ConnectTimeout != 2*time.Minute || c.LongLimit != 7 || !c.FailWhenFull || !c.ReadYourWrites ||
		c.ReadFrom != ReadFromReplicas || c.RetryReads != 2 || c.TLS.ServerName != "other" || c.TLS.InsecureSkipVerify {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWrongURLs(t *testing.T) {
	for _, url := range []string{
		"", "db:9998", "http://db", "handlersocket://db:x", "handlersocket://db:0",
		"handlersocket://db:65536", "handlersocket://db:1,2,3", "handlersocket://db,2", "handlersocket://::1",
		"handlersocket://[::1", "handlersocket://[x]:1", "handlersocket://a,,b", "handlersocket://a:1:2",
		"handlersocket://db?unknown=1", "handlersocket://db?timeout=5", "handlersocket://db?timeout=-5s",
		"handlersocket://db?timeout=5s&timeout=6s", "handlersocket://db?read_from=no", "handlersocket://db?long_limit=x",
		"handlersocket://db?tls=yes", "handlersocket://db?tls_ca=x", "handlersocket://db?tls=verify&tls_ca=/nowhere",
		"handlersocket://db?tls=verify&tls_cert=x", "handlersocket://u:SECRET@db/x%2", "handlersocket://u:SECRET%x@db",
		"handlersocket://u:SECRET@db?secret=SECRET", "handlersocket://:SECRET@db", "handlersocket://db/a/b",
		"handlersocket://db?socket=/x", "handlersocket:///?socket=/x&tls=verify", "handlersocket:///?socket_wr=",
		"handlersocket://db?timeout=9223372037s", "handlersocket://db?timeout=153722868m", "handlersocket://db?texts=on&",
		"handlersocket://db?max_in_flight=-1", "handlersocket://db?read_after_write=sent&write_connections=2",
	} {
		_, err := ParseURL(url)
		if !errors.Is(err, ErrUsage) {
			t.Errorf("%s gives %v", url, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s is told in %v", url, err)
		}
	}
}

func TestAConfigKeepsItsSecrets(t *testing.T) {
	c := DefaultConfig()
	c.User, c.Password = "ann", "SECRET"
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, c); strings.Contains(text, "SECRET") || !strings.Contains(text, "ann") {
			t.Error(text)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("HANDLERSOCKET_PASSWORD", "p")
	t.Setenv("HANDLERSOCKET_SECRET", "s")
	if _, err := FromEnvironment(""); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
	t.Setenv("HANDLERSOCKET_URL", "handlersocket://u@db")
	if c, err := FromEnvironment(""); err != nil || c.Password != "p" || c.Secret != "" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := FromEnvironment("handlersocket://db2"); err != nil || c.Secret != "s" || c.User != "" || c.Addresses[0].Host != "db2" {
		t.Errorf("%+v, %v", c, err)
	}
}

// However a client is made, it takes from the environment what it was not given.
func TestEveryWayToMakeAClientHonoursTheEnvironment(t *testing.T) {
	made := func(c *Client, err error) *Config {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		return &c.config
	}
	t.Setenv("HANDLERSOCKET_URL", "handlersocket://db/of_the_environment")
	if _, err := Open(""); !errors.Is(err, ErrUsage) {
		t.Error(err)
	}
	t.Setenv("HANDLERSOCKET_PASSWORD", "p")
	t.Setenv("HANDLERSOCKET_SECRET", "s")
	for url, want := range map[string][2]string{
		"handlersocket://db": {"", "s"}, "handlersocket://ann@db": {"p", ""}, "handlersocket://ann:own@db": {"own", ""},
		"handlersocket://db?secret=own": {"", "own"},
	} {
		parsed, err := ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		fromEnvironment, err := FromEnvironment(url)
		if err != nil {
			t.Fatal(err)
		}
		for way, c := range map[string]*Config{
			"Open": made(Open(url)), "ParseURL": made(New(parsed)), "FromEnvironment": made(New(fromEnvironment)),
			"Config": made(New(Config{Addresses: parsed.Addresses, User: parsed.User, Password: parsed.Password, Secret: parsed.Secret})),
		} {
			if c.Password != want[0] || c.Secret != want[1] {
				t.Errorf("%s by %s: %q, %q", url, way, c.Password, c.Secret)
			}
		}
	}
	asks := Config{Addresses: []Address{thisMachine}, User: "ann", PasswordFunc: func(context.Context) (string, error) { return "", nil }}
	if c := made(New(asks)); c.Password != "" {
		t.Error("the password of the environment is in the way of the function")
	}
}

// The lesser of the two counts.
func TestABackoffWhoseLeastIsItsMost(t *testing.T) {
	c, err := Open("handlersocket://127.0.0.1:1?backoff_min=2s&backoff_max=1ms")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for failures := range 70 {
		if wait := c.backoff(failures); wait < 0 || wait > time.Millisecond {
			t.Errorf("%s after %d failures", wait, failures)
		}
	}
}

// Without a database the server would look for the table in none.
func TestACallThatNamesNoDatabase(t *testing.T) {
	c, err := Open("handlersocket://192.0.2.1:1,2")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := t.Context()
	x := c.Index(IndexSpec{Table: "t", Columns: []string{"a"}})
	g := c.Group()
	x.InGroup(g).Get(1)
	for name, err := range map[string]error{
		"get": second(x.Get(ctx, 1)), "insert": second(x.InsertValues(ctx, 1)), "set": second(x.Update(ctx, Eq(1), Set{"b": 1})),
		"rows": iterated(t, x), "group": g.Run(ctx), "describe": second(c.Describe(ctx, IndexSpec{Table: "t"})),
		"tables": second(c.Tables(ctx, "")), "indexes": second(c.Indexes(ctx, "", "t")),
	} {
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "database") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Index(IndexSpec{Database: "d", Table: "t", Columns: []string{"a"}}).err; err != nil {
		t.Error(err)
	}
	if n := c.Stats().BytesOut; n != 0 {
		t.Errorf("%d bytes were sent", n)
	}
}

// A password stays here if others could read it on the way.
func TestAPasswordIsNotSentInPlainText(t *testing.T) {
	asked := make(chan struct{}, 1)
	near, far := net.Pipe()
	go func() {
		b := make([]byte, 100)
		if n, _ := far.Read(b); n > 0 {
			asked <- struct{}{}
		}
	}()
	defer far.Close()
	c, err := New(Config{
		Addresses: []Address{{Host: "192.0.2.1", Port: 9998}}, User: "ann", Password: "p",
		Dialer: func(context.Context, string, string) (net.Conn, error) { return elsewhere{near}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Ping(t.Context())
	if !errors.Is(err, ErrConnect) || !errors.Is(err, errPlainPassword) || MaybeExecuted(err) {
		t.Error(err)
	}
	select {
	case <-asked:
		t.Error("something was sent")
	default:
	}
}

type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9998} }

func TestAddressesAreShownAsInURLs(t *testing.T) {
	for _, host := range []string{"db:1", "db:1,2", "[::1]:1,2", "db:,2"} {
		c, err := ParseURL("handlersocket://" + host)
		if err != nil || c.Addresses[0].String() != host {
			t.Errorf("%s is shown as %s, %v", host, c.Addresses[0], err)
		}
	}
}

// README.md lists every option.
func TestTheReadmeNamesEveryOption(t *testing.T) {
	for _, file := range []string{"README.md", filepath.Join("..", "README.md")} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range urlOptions {
			if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), name+"=") {
				t.Errorf("%s lacks %s", file, name)
			}
		}
	}
}

func TestNewChecks(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no address":      func(c *Config) { c.Addresses = nil },
		"no port":         func(c *Config) { c.Addresses = []Address{{Host: "db"}} },
		"two log-ins":     func(c *Config) { c.User, c.Secret = "u", "s" },
		"password alone":  func(c *Config) { c.Password = "p" },
		"TLS on a socket": func(c *Config) { c.Addresses, c.TLS = []Address{{Socket: "/x"}}, &tls.Config{} },
		"backoff":         func(c *Config) { c.BackoffMin = -time.Hour },
		"most backoff":    func(c *Config) { c.BackoffMax = -time.Hour },
	} {
		c := DefaultConfig()
		change(&c)
		if _, err := New(c); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
