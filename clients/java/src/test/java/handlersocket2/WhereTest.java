package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The message of a server's error says what it is about: by names, and never by values. */
class WhereTest {
    /** What the server answers to a P, to the log-in, and to everything else. */
    private String opening = "0\t1\n";

    private String logIn = "0\t1\n";
    private String request = "1\t1\t121\n";

    private void answers(FakeServer.Peer peer) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            if (line.startsWith("G\t2")) {
                peer.line();
                peer.line();
                peer.send("1\t1\tundone\t2\n1\t1\tundone\t2\n" + request);
            } else {
                peer.send(line.startsWith("P\t") ? opening : line.startsWith("A\t") ? logIn : request);
            }
        }
    }

    private static void ends(String words, Executable call) {
        Throwable problem = assertThrows(RuntimeException.class, call);
        ReplyException reply = (ReplyException) (problem instanceof CompletionException ? problem.getCause() : problem);
        assertTrue(reply.getMessage().endsWith(": " + words), reply.getMessage());
        assertTrue(!reply.toString().contains("Ann"), reply.toString());
    }

    /** Every kind of call, which is about the index. */
    private static void allEnd(String words, HandlerSocketClient client, Index<Row> index) {
        ends(words, () -> index.findOne("Ann"));
        ends(words, () -> index.insert(List.of("Ann")));
        ends(words, () -> index.async().update(Find.eq("Ann"), List.of("Ann")).join());
        ends(words, () -> index.iterate(Find.eq("Ann")).hasNext());
        ends(words, () -> {
            Group group = client.group();
            group.on(client.index("other", "a")).insert(List.of("Ann"));
            group.on(index).insert(List.of("Ann"));
            group.run();
        });
    }

    @Test
    void anErrorOfARequest() throws Exception {
        try (FakeServer server = new FakeServer(this::answers);
                HandlerSocketClient client = server.client().build()) {
            allEnd("a row with the same unique key exists: db.user, index PRIMARY", client, client.index("user", "id", "name"));
            // A column that the request itself names need not be one of the index.
            request = "2\t1\tfld\n";
            ends("no such column: db.user, index PRIMARY", () -> client.index("user", "id")
                    .update(Find.eq(1), Map.of("nmae", Assign.append("Ann"))));
            ends("app", () -> client.tables("app"));
            ends("app.user", () -> client.indexes("app", "user"));
            ends("db.user, index PRIMARY", () -> client.table("user").describe());
            ends("no such column", client::hello);
        }
    }

    @Test
    void anIndexThatCannotBeOpened() throws Exception {
        opening = "2\t1\tfld\n";
        request = "2\t1\tstmtnum\n";
        try (FakeServer server = new FakeServer(this::answers);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.table("user").database("app").columns("id", "nmae").open();
            String words = "no such column: app.user, index PRIMARY, columns id, nmae";
            ends(words, () -> index.findOne("Ann"));
            ends(words, () -> index.update(Find.eq("Ann"), List.of("Ann")));
            ends(words, () -> index.iterate(Find.eq("Ann")).hasNext());
            ends("no such column: db.user, index by_name, columns id, filter columns aeg",
                    () -> client.table("user").index("by_name").columns("id").filterColumns("aeg").open().findOne("Ann"));
            ends("no such column: db.user, index PRIMARY", () -> client.table("user").describe());
            Group group = client.group();
            group.on(index).insert(List.of("Ann"));
            group.on(index).insert(List.of("Ann"));
            ends(words, group::run);
            opening = "2\t1\tidxnum\n";
            ends("no such index: app.user, index PRIMARY", () -> index.findOne("Ann"));
        }
    }

    /** That is about the server, and not about a table. */
    @Test
    void aLogIn() throws Exception {
        logIn = "1\t1\t1045\n";
        request = "3\t1\ttls\n";
        try (FakeServer server = new FakeServer(this::answers)) {
            String address = "127.0.0.1:" + server.port() + "," + server.port();
            try (HandlerSocketClient client = server.client().build()) {
                allEnd("the server wants TLS: " + address, client, client.index("user", "id"));
            }
            try (HandlerSocketClient client = server.client().user("ann").password("Ann").build()) {
                ends("wrong user or password: " + address, () -> client.index("user", "id").findOne(1));
                ends("wrong user or password: " + address, () -> client.index("user", "id").iterate(Find.eq(1)));
            }
            assertEquals("the server answered 1 121: a row with the same unique key exists",
                    new ReplyException(false, true, 1, "121").getMessage());
        }
    }
}
