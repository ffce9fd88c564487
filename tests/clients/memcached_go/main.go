// An application's work by gomemcache, as published. Prints what each step has answered, as JSON.
//
// Its arguments: the client, the port; and, unless it is a memcached, an account, its password, and the file of the
// authority for TLS.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

const (
	callers = 4
	turns   = 25
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func tell(step string, value any) {
	line, err := json.Marshal([]any{step, value})
	check(err)
	fmt.Println(string(line))
}

func connected() *memcache.Client {
	client := memcache.New("127.0.0.1:" + os.Args[2])
	client.Timeout = 20 * time.Second
	return client
}

func item(key, value string) *memcache.Item {
	return &memcache.Item{Key: key, Value: []byte(value), Expiration: 100}
}

// text is an item's value, or what went wrong.
func text(client *memcache.Client, key string) string {
	found, err := client.Get(key)
	if err != nil {
		return err.Error()
	}
	return string(found.Value)
}

func work(client *memcache.Client) {
	_, err := client.Get("none")
	tell("nothing", errors.Is(err, memcache.ErrCacheMiss))
	tell("set", client.Set(item("text", "Grüße")) == nil)
	tell("get", text(client, "text"))
	object := item("object", `{"a":[1,null]}`)
	object.Flags = 4_000_000_000
	check(client.Set(object))
	found, err := client.Get("object")
	check(err)
	tell("an object", found.Flags == object.Flags && bytes.Equal(found.Value, object.Value))
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	check(client.Set(item("bytes", string(all))))
	tell("bytes", text(client, "bytes") == string(all))
	check(client.Set(item("large", strings.Repeat("x", 900_000))))
	tell("a large one", len(text(client, "large")))
	tell("add", []bool{client.Add(item("text", "other")) == nil, client.Add(item("new", "x")) == nil})
	tell("replace", []bool{client.Replace(item("text", "b")) == nil, client.Replace(item("none", "b")) == nil})
	check(client.Prepend(item("text", "a")))
	check(client.Append(item("text", "c")))
	tell("append and prepend", text(client, "text"))
	first, err := client.Get("text")
	check(err)
	second, err := client.Get("text")
	check(err)
	first.Value, second.Value = []byte("won"), []byte("lost")
	won := client.CompareAndSwap(first)
	lost := client.CompareAndSwap(second)
	tell("cas", []any{won == nil, !errors.Is(lost, memcache.ErrCASConflict), text(client, "text")})
	check(client.Set(item("counter", "0")))
	up, err := client.Increment("counter", 7)
	check(err)
	down, err := client.Decrement("counter", 9)
	check(err)
	tell("count", []uint64{up, down})
	keys := []string{"none"}
	for i := range 150 {
		keys = append(keys, fmt.Sprint("many", i))
		check(client.Set(item(keys[i+1], keys[i+1])))
	}
	many, err := client.GetMulti(keys)
	check(err)
	equal := len(many) == 150
	for key, one := range many {
		equal = equal && key == string(one.Value)
	}
	tell("get many", equal)
	tell("delete", []bool{client.Delete("text") == nil, client.Delete("text") == nil})
	// An item of one second lives until the next second begins, which may be before it is touched.
	for key, seconds := range map[string]int32{"short": 1, "long": 2} {
		check(client.Set(&memcache.Item{Key: key, Value: []byte("x"), Expiration: seconds}))
	}
	tell("touch", client.Touch("long", 100) == nil)
	time.Sleep(2 * time.Second)
	_, err = client.Get("short")
	tell("expired", []any{errors.Is(err, memcache.ErrCacheMiss), text(client, "long")})
	var group sync.WaitGroup
	for range callers {
		group.Add(1)
		go func() {
			defer group.Done()
			for range turns {
				_, err := client.Increment("counter", 1)
				check(err)
			}
		}()
	}
	group.Wait()
	var counted int
	_, err = fmt.Sscan(text(client, "counter"), &counted)
	check(err)
	tell("many callers", counted)
}

func main() {
	work(connected())
	if len(os.Args) < 6 {
		return
	}
	pem, err := os.ReadFile(os.Args[5])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	secure := connected()
	secure.DialContext = (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}}).DialContext
	tell("TLS", text(secure, "long"))
	// Somebody holds this item meanwhile. Who has lost its patience connects again, and has more of it.
	hasty := connected()
	hasty.Timeout = 300 * time.Millisecond
	_, err = hasty.Increment("locked", 1)
	tell("time-out", os.IsTimeout(err))
	tell("after a time-out", text(connected(), "long"))
}
