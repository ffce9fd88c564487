// An application's work by go-redis and by rueidis, as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port, an account, its password, and the file of the authority for TLS.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	callers = 20
	turns   = 50
)

// client is what both libraries can do. A command's error is a value here, as any other answer.
type client interface {
	do(words ...any) any
	// pipeline sends the commands together, as a transaction or not.
	pipeline(transaction bool, commands ...[]any) any
	// scan goes through the keys of a pattern, one row a page, as the library itself does it.
	scan(pattern string) any
	close()
}

// place says where the server is, and as whom one connects.
type place struct {
	address, user, password string
	tls                     *tls.Config
}

var (
	background = context.Background()
	clients    = map[string]func(place) (client, error){
		"go-redis":               newGoRedis,
		"go-redis, autopipeline": newAutoPipeline,
		"rueidis":                newRueidis,
	}
)

func tell(step string, value any) {
	line, err := json.Marshal([]any{step, shown(value)})
	check(err)
	fmt.Println(string(line))
}

// shown makes text of bytes, and hexadecimal digits of what is no text.
func shown(value any) any {
	switch value := value.(type) {
	case string:
		if !utf8.ValidString(value) {
			return hex.EncodeToString([]byte(value))
		}
	case error:
		return "error: " + value.Error()
	case []any:
		for i := range value {
			value[i] = shown(value[i])
		}
	case map[any]any:
		named := map[string]any{}
		for name, one := range value {
			named[fmt.Sprint(name)] = shown(one)
		}
		return named
	}
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func authority(file string) *tls.Config {
	pem, err := os.ReadFile(file)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}

func main() {
	open := clients[os.Args[1]]
	here := place{address: "127.0.0.1:" + os.Args[2]}
	one, err := open(here)
	check(err)
	const key = "app.employee:1"
	tell("ping", one.do("PING") == "PONG")
	tell("read all", one.do("HGETALL", key))
	tell("read one", one.do("HGET", key, "name"))
	tell("read NULL", one.do("HGET", key, "photo"))
	tell("read some", one.do("HMGET", key, "name", "photo", "salary"))
	tell("read nothing", one.do("HGETALL", "app.employee:99"))
	tell("insert", one.do("HSET", "app.employee:10", "name", "Eve", "salary", "5"))
	tell("update", one.do("HSET", "app.employee:10", "name", "Eva"))
	photo := make([]byte, 256)
	for i := range photo {
		photo[i] = byte(i)
	}
	tell("set bytes", one.do("HSET", key, "photo", string(photo)))
	tell("read bytes", one.do("HGET", key, "photo"))
	tell("add", one.do("HINCRBY", key, "salary", "50"))
	tell("delete a field", one.do("HDEL", key, "photo"))
	tell("exists", one.do("EXISTS", key, "app.employee:99"))
	tell("delete", one.do("DEL", "app.employee:10", "app.employee:99"))
	tell("wrong type", one.do("HINCRBY", key, "name", "1"))
	var batch [][]any
	for range 20 {
		batch = append(batch, []any{"HGET", "app.employee:2", "name"}, []any{"HINCRBY", "app.employee:2", "salary", "1"})
	}
	tell("pipeline", one.pipeline(false, batch...))
	tell("unit", one.pipeline(true, batch[:2]...))
	failed := one.pipeline(true, []any{"HSET", key, "name", "x"}, []any{"HSET", key, "name", strings.Repeat("x", 50)})
	tell("unit that fails", strings.Contains(fmt.Sprint(failed), "1406"))
	tell("after it", one.do("HGET", key, "name"))
	tell("scan", one.scan("app.employee:*"))
	var all sync.WaitGroup
	for range callers {
		all.Add(1)
		go func() {
			defer all.Done()
			for range turns {
				one.do("HINCRBY", "app.employee:3", "salary", "1")
			}
		}()
	}
	all.Wait()
	tell("many callers", one.do("HGET", "app.employee:3", "salary"))
	one.close()

	here.user, here.password = os.Args[3], os.Args[4]
	for _, way := range []string{"log in", "log in by TLS"} {
		if way == "log in by TLS" {
			here.tls = authority(os.Args[5])
		}
		other, err := open(here)
		check(err)
		tell(way, other.do("HGET", "app.employee:2", "name"))
		tell(way+", what is not allowed", other.do("HGET", "app.secret:1", "v"))
		other.close()
	}
	here.password, here.tls = "wrong", nil
	var told any
	if wrong, err := open(here); err != nil {
		told = err
	} else {
		told = wrong.do("PING")
	}
	tell("wrong password", strings.Contains(fmt.Sprint(told), "WRONGPASS"))
}
