package handlersocket

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"
)

// An Address is a server: a host with its ports, or Unix sockets.
type Address struct {
	Host string
	// Port is for reading, PortWrite for reading and writing. 0: there is none.
	Port, PortWrite int
	// Socket and SocketWrite are paths of Unix sockets. They take the place of host and ports.
	Socket, SocketWrite string
}

// String shows the address as in a URL.
func (a Address) String() string {
	if a.isUnix() {
		return a.Socket + "," + a.SocketWrite
	}
	host := a.Host
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		host = "[" + host + "]"
	}
	port := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	text := host + ":" + port(a.Port)
	if a.PortWrite != 0 {
		text += "," + port(a.PortWrite)
	}
	return text
}

func (a Address) isUnix() bool { return a.Socket != "" || a.SocketWrite != "" }

// hasRead says whether there is a port or a socket that is for reading alone.
func (a Address) hasRead() bool {
	if a.isUnix() {
		return a.Socket != ""
	}
	return a.Port != 0
}

// endpoint gives what net.Dial takes for finds, or for modifications.
func (a Address) endpoint(write bool) (network, address string, ok bool) {
	socket, port := a.Socket, a.Port
	if write || socket == "" && port == 0 {
		socket, port = a.SocketWrite, a.PortWrite
	}
	if a.isUnix() {
		return "unix", socket, socket != ""
	}
	return "tcp", net.JoinHostPort(a.Host, strconv.Itoa(port)), port != 0
}

// A ReadFrom says which of several addresses finds ask.
type ReadFrom int

// The choices of Config.ReadFrom.
const (
	// ReadFromWriter asks the server that takes the writes.
	ReadFromWriter ReadFrom = iota
	// ReadFromAny asks one of all addresses, chosen at random.
	ReadFromAny
	// ReadFromReplicas asks one that does not take the writes, if it can be reached. What it
	// answers may be a moment old.
	ReadFromReplicas
)

// A Config says where the server is and how the client behaves. DefaultConfig and ParseURL make one;
// a zero Config lacks the addresses, and its zero values stand for the defaults.
type Config struct {
	// Addresses are servers that may be asked. If one fails, the next takes its place.
	Addresses []Address
	// Database is that of an IndexSpec without one.
	Database string

	// User and Password log in as an account of the server. PasswordFunc, if it is set, is asked for the
	// password at each log-in. Secret logs in as the account that the server has for this.
	User, Password string
	PasswordFunc   func(context.Context) (string, error)
	Secret         string
	// TLS, if it is set, makes connections over TCP speak TLS. The host and its certificate are
	// verified, unless this says otherwise.
	TLS *tls.Config

	// Timeout is for a call without a deadline in its context. ConnectTimeout is for a connection with
	// all that belongs to it. DeadAfter is the silence after which a connection with requests in
	// flight is ended. A negative one is none.
	Timeout, ConnectTimeout, DeadAfter time.Duration

	// The numbers of connections, and of the iterations that may run at a time.
	ReadConnections, WriteConnections, LongConnections, MaxStreams int
	// LongLimit is the limit from which on a find goes over the connection for long finds.
	LongLimit int
	// ReadYourWrites sends finds behind the writes of this client that have no reply yet.
	ReadYourWrites bool

	// What may be in flight on a connection: requests, and their bytes. Beyond that calls wait, or fail
	// with ErrBusy if FailWhenFull is set.
	MaxInFlight, MaxInFlightBytes int
	FailWhenFull                  bool
	// NoStayAwake has a caller that is alone sleep at once. Otherwise it looks for its reply for 100 µs before it
	// sleeps, if that has paid lately, which takes time of a processor.
	NoStayAwake bool
	// MaxReplyBytes is the longest reply that the client takes.
	MaxReplyBytes int

	// Texts asks the server for SQL's number, the state and the message of each error. A server that does
	// not know this leaves it, which is no error.
	Texts bool

	// RetryReads is how often a find whose connection was lost is sent again.
	RetryReads int
	// ConnectAttempts is how many attempts to connect a call waits for. Between two there is a random
	// time, up to BackoffMin at first and never more than BackoffMax, even if that is the lesser.
	ConnectAttempts        int
	BackoffMin, BackoffMax time.Duration
	ReadFrom               ReadFrom

	// Location is where times of the database are meant to be; UTC if it is nil.
	Location *time.Location

	// Dialer makes the sockets; nil: a net.Dialer.
	Dialer func(ctx context.Context, network, address string) (net.Conn, error)

	// OnRequest, if it is set, is called at the end of each request, OnConnection when something
	// happens to a connection. They are called by many goroutines and must not wait. If they or the
	// Logger panic, that is dropped.
	OnRequest    func(RequestInfo)
	OnConnection func(ConnectionInfo)
	// Logger, if it is set, is told what happens to connections.
	Logger *slog.Logger
}

// DefaultConfig gives a Config with all defaults, for a server on this machine.
func DefaultConfig() Config {
	c := Config{Addresses: []Address{thisMachine}}
	c.setDefaults()
	return c
}

const (
	defaultPort      = 9998
	defaultPortWrite = 9999
)

var thisMachine = Address{Host: "127.0.0.1", Port: defaultPort, PortWrite: defaultPortWrite}

func (c *Config) setDefaults() {
	orDefault(&c.Timeout, 30*time.Second)
	orDefault(&c.ConnectTimeout, 10*time.Second)
	orDefault(&c.DeadAfter, 60*time.Second)
	orDefault(&c.ReadConnections, 1)
	orDefault(&c.WriteConnections, 1)
	orDefault(&c.LongConnections, 1)
	orDefault(&c.MaxStreams, 8)
	orDefault(&c.LongLimit, 1000)
	orDefault(&c.MaxInFlight, 10_000)
	orDefault(&c.MaxInFlightBytes, 16<<20)
	orDefault(&c.MaxReplyBytes, 256<<20)
	orDefault(&c.ConnectAttempts, 3)
	orDefault(&c.BackoffMin, 50*time.Millisecond)
	orDefault(&c.BackoffMax, 5*time.Second)
	if c.Location == nil {
		c.Location = time.UTC
	}
	if c.Dialer == nil {
		c.Dialer = (&net.Dialer{}).DialContext
	}
}

func orDefault[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

func (c *Config) check() error {
	if len(c.Addresses) == 0 {
		return usage("there is no address")
	}
	for _, a := range c.Addresses {
		_, _, reads := a.endpoint(false)
		if !reads {
			return usage("the address %s has neither a port nor a socket", a)
		}
		if a.isUnix() && c.TLS != nil {
			return usage("TLS needs a host and a port: a Unix socket has none")
		}
	}
	if c.Secret != "" && c.User != "" {
		return usage("a secret and a user: one of them")
	}
	if c.User == "" && (c.Password != "" || c.PasswordFunc != nil) {
		return usage("a password without a user")
	}
	for name, n := range map[string]int{
		"ReadConnections": c.ReadConnections, "WriteConnections": c.WriteConnections,
		"LongConnections": c.LongConnections, "MaxStreams": c.MaxStreams, "LongLimit": c.LongLimit,
		"MaxInFlight": c.MaxInFlight, "MaxInFlightBytes": c.MaxInFlightBytes,
		"MaxReplyBytes": c.MaxReplyBytes, "ConnectAttempts": c.ConnectAttempts,
	} {
		if n < 1 {
			return usage("%s is %d", name, n)
		}
	}
	if c.RetryReads < 0 || c.BackoffMin < 0 || c.BackoffMax < 0 {
		return usage("RetryReads, BackoffMin and BackoffMax cannot be %d, %s and %s", c.RetryReads, c.BackoffMin, c.BackoffMax)
	}
	if c.ReadYourWrites && c.WriteConnections != 1 {
		return usage("ReadYourWrites needs one connection for writes")
	}
	return nil
}

// String shows the configuration without password and secret.
func (c Config) String() string {
	how := "nobody"
	if c.User != "" {
		how = "user " + c.User
	} else if c.Secret != "" {
		how = "a secret"
	}
	return fmt.Sprintf("handlersocket: %v as %s, TLS %t, database %q", c.Addresses, how, c.TLS != nil, c.Database)
}

// GoString does the same for %#v.
func (c Config) GoString() string { return c.String() }
