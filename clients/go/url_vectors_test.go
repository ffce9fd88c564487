package handlersocket

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

type urlVector struct {
	URL, Why, Error, User, Password, Secret, Database string
	Addresses                                         []struct {
		Host        string
		Read, Write int
		Socket      string
		SocketWrite string `json:"socket_wr"`
	}
	Options map[string]any
}

// optionShown gives an option of a Config as urls.json has it.
func optionShown(c *Config, name string) any {
	word := func(is bool, words ...string) string {
		if is {
			return words[1]
		}
		return words[0]
	}
	ms := func(d time.Duration) int64 { return max(0, d).Milliseconds() }
	switch name {
	case "timeout_ms":
		return ms(c.Timeout)
	case "connect_timeout_ms":
		return ms(c.ConnectTimeout)
	case "dead_after_ms":
		return ms(c.DeadAfter)
	case "backoff_min_ms":
		return ms(c.BackoffMin)
	case "backoff_max_ms":
		return ms(c.BackoffMax)
	case "read_after_write":
		return word(c.ReadYourWrites, "awaited", "sent")
	case "when_full":
		return word(c.FailWhenFull, "wait", "fail")
	case "stay_awake":
		return word(c.NoStayAwake, "on", "off")
	case "texts":
		return word(c.Texts, "off", "on")
	case "read_from":
		return []string{"writer", "any", "replicas"}[c.ReadFrom]
	case "tls":
		if c.TLS == nil {
			return "off"
		}
		return word(c.TLS.InsecureSkipVerify, "verify", "unverified")
	case "tls_name":
		return c.TLS.ServerName
	}
	field := ""
	for part := range strings.SplitSeq(name, "_") {
		field += strings.ToUpper(part[:1]) + part[1:]
	}
	return reflect.ValueOf(c).Elem().FieldByName(field).Int()
}

func TestURLs(t *testing.T) {
	for _, v := range loadVectors[urlVector](t, "urls") {
		c, err := ParseURL(v.URL)
		if v.Error != "" {
			if !errors.Is(err, Kind(v.Error)) || strings.Contains(err.Error(), "pw") {
				t.Errorf("%s, %s: %+v, %v", v.URL, v.Why, c, err)
			}
			continue
		}
		var addresses []Address
		for _, a := range v.Addresses {
			addresses = append(addresses, Address{Host: a.Host, Port: a.Read, PortWrite: a.Write, Socket: a.Socket, SocketWrite: a.SocketWrite})
		}
		got, want := fmt.Sprint(c.Addresses, "|", c.User, "|", c.Password, "|", c.Secret, "|", c.Database),
			fmt.Sprint(addresses, "|", v.User, "|", v.Password, "|", v.Secret, "|", v.Database)
		if err != nil || got != want {
			t.Errorf("%s, %s: %s, and not %s; %v", v.URL, v.Why, got, want, err)
			continue
		}
		for name, want := range v.Options {
			if got := optionShown(&c, name); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %s is %v", v.URL, v.Why, name, got)
			}
		}
	}
}
