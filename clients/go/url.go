package handlersocket

import (
	"math"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// ParseURL makes a Config of a URL:
//
//	handlersocket://user:password@host:9998,9999/database?tls=verify&timeout=5s
//	handlersocket://host1,host2:9998,9999/database
//	handlersocket:///database?socket=/run/mysqld/hs.sock&socket_wr=/run/mysqld/hs_wr.sock
//
// Hosts are separated by commas; a piece of digits alone is the port for writing of the host before
// it. Without a host and a socket it is this machine. A URL that cannot be read is ErrUsage, and its text is
// not shown. So is a file of tls_ca, tls_cert or tls_key that cannot be read, or has no certificate or key. README.md
// lists what may stand behind the question mark. The environment is not looked at: that is done by [New].
func ParseURL(text string) (Config, error) {
	c, err := parseURL(text)
	if err != nil {
		return Config{}, err
	}
	c.setDefaults()
	return c, c.check()
}

// FromEnvironment makes a Config of HANDLERSOCKET_URL, or of a URL if it is not empty.
// HANDLERSOCKET_PASSWORD and HANDLERSOCKET_SECRET take the place of what the URL does not have.
func FromEnvironment(text string) (Config, error) {
	if text == "" {
		text = os.Getenv("HANDLERSOCKET_URL")
	}
	if text == "" {
		return Config{}, usage("there is no URL, and HANDLERSOCKET_URL is not set")
	}
	c, err := parseURL(text)
	if err != nil {
		return Config{}, err
	}
	c.addEnvironment()
	c.setDefaults()
	return c, c.check()
}

// addEnvironment takes the password or the secret from the environment, if the Config has none.
func (c *Config) addEnvironment() {
	if c.User != "" && c.Password == "" && c.PasswordFunc == nil {
		c.Password = os.Getenv("HANDLERSOCKET_PASSWORD")
	}
	if c.User == "" && c.Secret == "" {
		c.Secret = os.Getenv("HANDLERSOCKET_SECRET")
	}
}

const scheme = "handlersocket://"

// Errors never show the URL: it may have a password.
func parseURL(text string) (Config, error) {
	var c Config
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return c, usage("a URL begins with %s", scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	user, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, hosts = authority[:at], authority[at+1:]
		if user == "" {
			return c, usage("the URL has no user in front of its @")
		}
	}
	name, password, _ := strings.Cut(user, ":")
	for _, part := range []struct {
		what, text string
		to         *string
	}{{"user", name, &c.User}, {"password", password, &c.Password}, {"database", path, &c.Database}} {
		plain, err := url.PathUnescape(part.text)
		if err != nil || strings.ContainsRune(part.text, '/') {
			return c, usage("the %s in the URL is not percent-encoded", part.what)
		}
		*part.to = plain
	}
	if hosts != "" {
		var err error
		if c.Addresses, err = parseHosts(hosts); err != nil {
			return c, err
		}
	}
	return c, c.parseQuery(query)
}

func parseHosts(text string) ([]Address, error) {
	var addresses []Address
	for _, piece := range strings.Split(text, ",") {
		if _, digits := number([]byte(piece)); digits && len(addresses) > 0 {
			last := &addresses[len(addresses)-1]
			port, err := parsePort(piece)
			if err != nil || last.PortWrite != 0 {
				return nil, usage("the ports of the host %s cannot be read", last.Host)
			}
			last.PortWrite = port
			continue
		}
		host, port, hasPort := piece, "", false
		if end := strings.LastIndexByte(piece, ']'); strings.HasPrefix(piece, "[") && end > 0 {
			host = piece[1:end]
			port, hasPort = strings.CutPrefix(piece[end+1:], ":")
			if !hasPort && piece[end+1:] != "" || net.ParseIP(host) == nil {
				return nil, usage("%s is no host", piece)
			}
		} else {
			host, port, hasPort = strings.Cut(piece, ":")
		}
		if host == "" || strings.ContainsAny(port, ":[]") {
			return nil, usage("a host has no name, or an IPv6 address has no brackets")
		}
		address := Address{Host: host}
		if hasPort && port != "" {
			var err error
			if address.Port, err = parsePort(port); err != nil {
				return nil, err
			}
		}
		if !hasPort {
			address.Port, address.PortWrite = -1, 0
		}
		addresses = append(addresses, address)
	}
	for i := range addresses {
		if a := &addresses[i]; a.Port == -1 {
			if a.PortWrite != 0 {
				return nil, usage("the host %s has a port for writing behind a comma, and none before it", a.Host)
			}
			a.Port, a.PortWrite = defaultPort, defaultPortWrite
		}
	}
	return addresses, nil
}

func parsePort(text string) (int, error) {
	n, ok := number([]byte(text))
	if !ok || n == 0 || n > 65535 {
		return 0, usage("%q is no port", text)
	}
	return int(n), nil
}

// What may stand behind the question mark.
type urlOption func(c *Config, t *tlsOptions, value string) bool

func durationOption(field func(*Config) *time.Duration) urlOption {
	return func(c *Config, _ *tlsOptions, value string) bool {
		for _, unit := range []struct {
			suffix string
			length time.Duration
		}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}} {
			if digits, ok := strings.CutSuffix(value, unit.suffix); ok {
				n, good := number([]byte(digits))
				*field(c) = time.Duration(n) * unit.length
				return good && n > 0 && n <= uint64(math.MaxInt64/unit.length)
			}
		}
		return false
	}
}

// timeoutOption reads the one time that may be none.
func timeoutOption(c *Config, t *tlsOptions, value string) bool {
	if unit := strings.TrimLeft(value, "0"); unit != value && slices.Contains([]string{"ms", "s", "m"}, unit) {
		c.Timeout = -1
		return true
	}
	return durationOption(func(c *Config) *time.Duration { return &c.Timeout })(c, t, value)
}

func numberOption(least uint64, field func(*Config) *int) urlOption {
	return func(c *Config, _ *tlsOptions, value string) bool {
		n, good := number([]byte(value))
		*field(c) = int(n)
		return good && n >= least && n <= math.MaxInt
	}
}

func wordOption(set func(*Config, int), words ...string) urlOption {
	return func(c *Config, _ *tlsOptions, value string) bool {
		for i, word := range words {
			if value == word {
				set(c, i)
				return true
			}
		}
		return false
	}
}

func textOption(field func(*Config, *tlsOptions) *string) urlOption {
	return func(c *Config, t *tlsOptions, value string) bool {
		*field(c, t) = value
		return value != ""
	}
}

var urlOptions = map[string]urlOption{
	"timeout":             timeoutOption,
	"connect_timeout":     durationOption(func(c *Config) *time.Duration { return &c.ConnectTimeout }),
	"dead_after":          durationOption(func(c *Config) *time.Duration { return &c.DeadAfter }),
	"backoff_min":         durationOption(func(c *Config) *time.Duration { return &c.BackoffMin }),
	"backoff_max":         durationOption(func(c *Config) *time.Duration { return &c.BackoffMax }),
	"read_connections":    numberOption(1, func(c *Config) *int { return &c.ReadConnections }),
	"write_connections":   numberOption(1, func(c *Config) *int { return &c.WriteConnections }),
	"long_connections":    numberOption(1, func(c *Config) *int { return &c.LongConnections }),
	"max_streams":         numberOption(1, func(c *Config) *int { return &c.MaxStreams }),
	"long_limit":          numberOption(1, func(c *Config) *int { return &c.LongLimit }),
	"max_in_flight":       numberOption(1, func(c *Config) *int { return &c.MaxInFlight }),
	"max_in_flight_bytes": numberOption(1, func(c *Config) *int { return &c.MaxInFlightBytes }),
	"max_reply_bytes":     numberOption(1, func(c *Config) *int { return &c.MaxReplyBytes }),
	"retry_reads":         numberOption(0, func(c *Config) *int { return &c.RetryReads }),
	"connect_attempts":    numberOption(1, func(c *Config) *int { return &c.ConnectAttempts }),
	"when_full":           wordOption(func(c *Config, i int) { c.FailWhenFull = i == 1 }, "wait", "fail"),
	"stay_awake":          wordOption(func(c *Config, i int) { c.NoStayAwake = i == 1 }, "on", "off"),
	"texts":               wordOption(func(c *Config, i int) { c.Texts = i == 1 }, "off", "on"),
	"read_after_write":    wordOption(func(c *Config, i int) { c.ReadYourWrites = i == 1 }, "awaited", "sent"),
	"read_from":           wordOption(func(c *Config, i int) { c.ReadFrom = ReadFrom(i) }, "writer", "any", "replicas"),
	"secret":              textOption(func(c *Config, _ *tlsOptions) *string { return &c.Secret }),
	"tls":                 textOption(func(_ *Config, t *tlsOptions) *string { return &t.mode }),
	"tls_ca":              textOption(func(_ *Config, t *tlsOptions) *string { return &t.ca }),
	"tls_name":            textOption(func(_ *Config, t *tlsOptions) *string { return &t.name }),
	"tls_cert":            textOption(func(_ *Config, t *tlsOptions) *string { return &t.cert }),
	"tls_key":             textOption(func(_ *Config, t *tlsOptions) *string { return &t.key }),
	"socket":              textOption(socketOf(func(a *Address) *string { return &a.Socket })),
	"socket_wr":           textOption(socketOf(func(a *Address) *string { return &a.SocketWrite })),
}

// socketOf gives the one address that a URL with sockets has.
func socketOf(field func(*Address) *string) func(*Config, *tlsOptions) *string {
	return func(c *Config, _ *tlsOptions) *string {
		if len(c.Addresses) == 0 {
			c.Addresses = make([]Address, 1)
		}
		return field(&c.Addresses[0])
	}
}

func (c *Config) parseQuery(query string) error {
	var t tlsOptions
	hosts := len(c.Addresses) > 0
	given := map[string]bool{}
	options := strings.Split(query, "&")
	if query == "" {
		options = nil
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		set, known := urlOptions[name]
		// A plus is itself: these are no values of a form.
		plain, err := url.PathUnescape(value)
		switch {
		case !known:
			return usage("the URL has an unknown option %q", name)
		case given[name]:
			return usage("the URL has the option %s twice", name)
		case err != nil || !set(c, &t, plain):
			return usage("the option %s of the URL cannot be read", name)
		}
		given[name] = true
	}
	if len(c.Addresses) > 0 && c.Addresses[0].isUnix() && hosts {
		return usage("the URL has a host and a socket: one of them")
	}
	if len(c.Addresses) == 0 {
		c.Addresses = []Address{thisMachine}
	}
	return c.setTLS(&t)
}
