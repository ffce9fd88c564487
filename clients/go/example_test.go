package handlersocket_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"handlersocket2.example/handlersocket"
)

// url is where the examples' server is: one that knows just their requests, or the real server of
// tests/clients/test_go_client.py.
var url string

func TestMain(m *testing.M) {
	// What is set outside is not for the clients of the tests.
	for _, name := range []string{"HANDLERSOCKET_URL", "HANDLERSOCKET_PASSWORD", "HANDLERSOCKET_SECRET"} {
		_ = os.Unsetenv(name)
	}
	if url = os.Getenv("HS_E2E_URL"); url == "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		url = fmt.Sprintf("handlersocket://127.0.0.1:%d,%d/test", port, port)
		go serveExamples(listener)
	}
	os.Exit(m.Run())
}

// What the requests of the examples are answered, without the number of the index.
var exampleReplies = map[string]string{
	"=\t1\t42":                                      "0\t3\t42\tuser_0000042\tuser_0000042@example.com",
	"=\t1\t1000000":                                 "0\t3",
	"=\t1\t\t3\t0\t@\t0\t3\t41\t42\t1000000":        "0\t3\t41\tuser_0000041\tuser_0000041@example.com\t42\tuser_0000042\tuser_0000042@example.com",
	">=\t1\t7\t2":                                   "0\t3\t7\tuser_0000007\tuser_0000007@example.com\t8\tuser_0000008\tuser_0000008@example.com",
	">=\t1\t1\t1000000":                             "0\t3\t1\tuser_0000001\tx\t2\tuser_0000002\tx\t3\tuser_0000003\tx\t4\t\x00\tx",
	"=\t1\t43\t1\t0\tU\tbob@example.com":            "0\t1\t1",
	"=\t1\t43\t1\t0\t+\t1":                          "0\t1\t1",
	"down\t0\t>=\t41\t<\t43\t10":                    "0\t3\t42\tuser_0000042\tx\t41\tuser_0000041\tx",
	"up\t0\t>=\t41\t<\t43\tC":                       "0\t1\t2",
	"insert\t1\t2\t43\t1\telse\tupdate\t1\t1\t+\t1": "0\t2\tupdated\t\x00",
	"=\t1\t43\t1\t0\tset!\t1\t1\tappend\t!":         "0\t3\t43\tuser_0000043!\tx",
	"+\t3\t42\tsomebody\tsomebody@example.com":      "1\t1\t121",
	"=\t1\t44": "0\t3\tuser_0000044\t0\t2024-01-01 00:00:00",
}

const exampleDescription = "0\t7\tcolumn\tuser_name\tvarchar(50)\t1\t0\t0\tutf8mb4\tcolumn\tvisits\tint(11)\t0\t0\t0\t\x00" +
	"\tcolumn\tcreated\tdatetime\t1\t0\t0\t\x00\tkey\tuser_id\tint(11)\t0\t0\t0\t\x00"

const exampleIndexes = "0\t6\tPRIMARY\t1\t1\tid\t0\t0\tby_name\t0\t1\tname\t0\t0"

func serveExamples(listener net.Listener) {
	for {
		socket, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer socket.Close()
			for lines := bufio.NewScanner(socket); lines.Scan(); {
				line := lines.Text()
				if timed, is := strings.CutPrefix(line, "within\t500\t"); is {
					line = timed
				}
				number, rest, _ := strings.Cut(line, "\t")
				reply, known := exampleReplies[rest]
				switch {
				case number == "P":
					reply = "0\t1"
				case number == "D":
					reply = exampleDescription
				case number == "L":
					reply = exampleIndexes
				case !known:
					reply = "2\t1\tcmd"
				}
				fmt.Fprint(socket, reply, "\n")
			}
		}()
	}
}

// User is a row of the table user.
type User struct {
	ID    uint64 `hs:"user_id"`
	Name  string `hs:"user_name"`
	Email string `hs:"user_email"`
}

func Example() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	ctx := context.Background()
	user, err := users.Get(ctx, 42)
	fmt.Println(user.Name, user.Email, err)
	_, err = users.Get(ctx, 1000000)
	fmt.Println(errors.Is(err, handlersocket.ErrNoRows))
	// Output:
	// user_0000042 user_0000042@example.com <nil>
	// true
}

func ExampleIndex_Find() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	ctx := context.Background()
	up, err := users.Find(ctx, handlersocket.Ge(7).Limit(2))
	fmt.Println(len(up), up[0].Name, up[1].Name, err)
	some, err := users.Find(ctx, handlersocket.In(41, 42, 1000000))
	fmt.Println(len(some), some[0].ID, some[1].ID, err)
	// Output:
	// 2 user_0000007 user_0000008 <nil>
	// 2 41 42 <nil>
}

func ExampleIndex_Rows() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	for user, err := range users.Rows(context.Background(), handlersocket.Ge(1).Limit(1000000)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user.Name)
		if user.ID == 3 {
			break
		}
	}
	// Output:
	// user_0000001
	// user_0000002
	// user_0000003
}

func ExampleIndex_Update() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	n, err := users.Update(ctx, handlersocket.Eq(43), handlersocket.Set{"user_email": "bob@example.com"})
	fmt.Println(n, err)
	n, err = users.Increment(ctx, handlersocket.Eq(43), handlersocket.Set{"visits": 1})
	fmt.Println(n, err)
	// Output:
	// 1 <nil>
	// 1 <nil>
}

func ExampleRange() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	ctx := context.Background()
	forties := handlersocket.Range().Ge(41).Lt(43)
	down, err := users.Find(ctx, forties.Down().Limit(10))
	fmt.Println(len(down), down[0].Name, down[1].Name, err)
	count, err := users.Count(ctx, forties)
	fmt.Println(count, err)
	// Output:
	// 2 user_0000042 user_0000041 <nil>
	// 2 <nil>
}

func ExampleIndex_UpdateFetch() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	ctx := context.Background()
	changed, err := users.UpdateFetch(ctx, handlersocket.Eq(43), handlersocket.Set{"user_name": handlersocket.Append("!")})
	fmt.Println(changed[0].Name, err)
	// Output: user_0000043! <nil>
}

func ExampleIndex_UpsertSet() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := client.Index(handlersocket.IndexSpec{Table: "user", Columns: []string{"user_id"}})

	ctx := context.Background()
	row := handlersocket.Set{"user_id": 43, "visits": 1}
	outcome, err := users.UpsertSet(ctx, row, handlersocket.Set{"visits": handlersocket.Add(1)})
	fmt.Println(outcome.Done, err)
	// Output: updated <nil>
}

func ExampleClient_Pipeline() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	p := client.Pipeline()
	one := users.In(p).Get(42)
	two := users.In(p).Find(handlersocket.Ge(7).Limit(2))
	if err := p.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	user, _ := one.Result()
	list, _ := two.Result()
	fmt.Println(user.Name, len(list))
	// Output: user_0000042 2
}

func ExampleClient_Describe() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx := context.Background()
	description, err := client.Describe(ctx, handlersocket.IndexSpec{
		Table: "user", Columns: []string{"user_name", "visits", "created"},
	})
	if err != nil {
		log.Fatal(err)
	}
	users := client.Index(description.Spec())
	row, err := users.Get(ctx, 44)
	if err != nil {
		log.Fatal(err)
	}
	values, err := row.Values()
	for i, column := range description.Columns {
		fmt.Printf("%s: %T %v\n", column.Name, values[i], values[i])
	}
	fmt.Println(description.Key[0].Name, err)
	// Output:
	// user_name: string user_0000044
	// visits: int64 0
	// created: time.Time 2024-01-01 00:00:00 +0000 UTC
	// user_id <nil>
}

func ExampleClient_Indexes() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	indexes, err := client.Indexes(context.Background(), "", "people")
	for _, index := range indexes {
		fmt.Println(index.Name, index.Unique, index.Parts[0].Column)
	}
	fmt.Println(err)
	// Output:
	// PRIMARY true id
	// by_name false name
	// <nil>
}

func ExampleIndex_Within() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	soon := users.Within(500 * time.Millisecond)
	user, err := soon.Get(context.Background(), 42)
	fmt.Println(user.Name, err)
	// Output: user_0000042 <nil>
}

func ExampleSafeToRetry() {
	client, err := handlersocket.Open(url)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})

	_, err = users.Insert(context.Background(), User{ID: 42, Name: "somebody", Email: "somebody@example.com"})
	switch {
	case errors.Is(err, handlersocket.ErrDuplicate):
		fmt.Println("there is one already")
	case handlersocket.MaybeExecuted(err):
		fmt.Println("nobody knows: ask before it is sent again")
	case handlersocket.SafeToRetry(err):
		fmt.Println("nothing was done")
	}
	// Output: there is one already
}
