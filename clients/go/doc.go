// Package handlersocket reads and changes rows of MariaDB and MySQL by an indexed key, over the
// HandlerSocket protocol and without SQL.
//
// A [Client] is shared by all goroutines of a program. Each call sends one request and waits for its
// reply, and the requests of many goroutines travel together over one connection: that is where the
// speed comes from. A call that is alone is served by its own goroutine.
//
// An [Index] is a table, an index of it, and the columns that are wanted. Its type parameter says
// what a row becomes: a struct, or [Row] for the bytes as the server sent them. [Eq], [Ge], [In] and
// the others say which rows are meant.
//
//	type User struct {
//		ID    uint64 `hs:"user_id"`
//		Name  string `hs:"user_name"`
//	}
//	users := handlersocket.IndexOf[User](client, handlersocket.IndexSpec{Table: "user"})
//	user, err := users.Get(ctx, 42)
//
// # Types from the server
//
// A program that does not know the types of the columns asks the server: [Client.Describe] gives a
// [Description], and an index that is made of it has rows whose [Row.Value], [Row.Values] and [Row.Map] give
// values of these types.
//
//	description, err := client.Describe(ctx, handlersocket.IndexSpec{Table: "user"})
//	users := client.Index(description.Spec())
//	row, err := users.Get(ctx, 42)
//	values, err := row.Map()
//
// [Client.Databases], [Client.Tables] and [Client.Indexes] say what there is, and [Client.Ping] whether the
// server is there.
//
// # Time-outs
//
// A context ends a call at once. What was sent is not called back: its reply is dropped when it
// comes. A context without a deadline gets Config.Timeout. With [Index.Within] and [Group.Within] the server
// itself ends what takes longer, and has done nothing then.
//
// # Errors
//
// Every error but [ErrNoRows] is an [*Error]. errors.Is compares it with a [Kind], such as [ErrDuplicate] or
// [ErrLost]. A write that may have been executed is never sent again; [MaybeExecuted] and
// [SafeToRetry] say what the program has to know. With Config.Texts an error has the server's
// [Error.Message].
//
// # What a find sees
//
// A find sees every write whose reply had arrived when the find was called. What is written by another
// goroutine at the same time may or may not be seen: finds and writes go different ways. Config.ReadYourWrites
// sends finds behind the writes that this client has not had answered.
package handlersocket

//go:generate go run gen_errors.go
