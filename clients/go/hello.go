package handlersocket

import (
	"context"
)

// The hello: what a server says of itself, and the texts of errors, which it is asked for.

const (
	hello      = "H"
	helloTexts = "H\ttexts"
)

// A Hello is what a server says of itself: names and values, in their order.
type Hello []Fact

// A Fact is one line of a Hello.
type Fact struct{ Name, Value string }

// Get gives the value that has a name, and whether there is one.
func (h Hello) Get(name string) (string, bool) {
	for _, fact := range h {
		if fact.Name == name {
			return fact.Value, true
		}
	}
	return "", false
}

// Hello asks the server for its versions and what it understands. The original answers an error with
// [TextCmd].
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	k := newCall(nil, kindHello, opHello)
	k.front = hello
	if c.config.Texts {
		// A hello turns off what it does not name.
		k.front = helloTexts
	}
	k.request = append(k.request, lf)
	return do(ctx, c, request[Hello]{call: k, route: c.routeToAsk(), read: readHello})
}

// routeToAsk is the route of questions that concern no row: that of finds, or that of writes if the
// address has no port for reading.
func (c *Client) routeToAsk() Route {
	if a := c.config.Addresses[c.wanted(RouteRead)]; a.hasRead() {
		return RouteRead
	}
	return RouteWrite
}

func readHello(k *call) (Hello, error) {
	facts, ok := readFacts(k.values())
	if !ok {
		return nil, wrongReply("names and values were expected")
	}
	return facts, nil
}

func readFacts(values tokens) (Hello, bool) {
	var facts Hello
	for values.more {
		name, err := unescape(values.next())
		if err != nil || name == nil || !values.more {
			return nil, false
		}
		value, err := unescape(values.next())
		if err != nil {
			return nil, false
		}
		facts = append(facts, Fact{string(name), string(value)})
	}
	return facts, true
}

// isGreeting says whether a line is a reply to a hello. A server without hellos answers an error.
func isGreeting(h header, line []byte) bool {
	if h.code != 0 {
		return true
	}
	_, ok := readFacts(h.values(line))
	return ok && h.columns == 2
}
