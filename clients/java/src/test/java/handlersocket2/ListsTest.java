package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Lists and pings: what the scenarios do not ask of them. */
class ListsTest {
    private static final String PART = "k\t0\t1\ta\t0\t0";
    private static final Map<String, String> ANSWERS = Map.of(
            "L", "0\t1\tdb\tj\u00c3\u00a4rn\n",
            "L\tdb", "0\t1\tt\tu\n",
            "L\tdb\tt", "0\t6\tk\t0\t1\ta\t1\t0\tk\t0\t1\t\0\t0\t1\th\t1\t0\tb\t0\t0\n",
            "L\tdb\tu", "0\t6\n",
            "echo\tping", "0\t1\tping\n");
    private static final List<ListedIndex> LISTED = List.of(
            new ListedIndex(
                    "k", false, true,
                    List.of(new ListedIndex.Part("a", true, false), new ListedIndex.Part(null, false, true))),
            new ListedIndex("h", true, false, List.of(new ListedIndex.Part("b", false, false))));

    private static FakeServer server(String answer) throws Exception {
        return new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(answer == null ? ANSWERS.get(line) : answer);
            }
        });
    }

    /** Without a port for reading they go over the connection for writing; else over that for reading. */
    @Test
    void theirWay() throws Exception {
        BlockingQueue<RequestEvent> events = new LinkedBlockingQueue<>();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                events.add(event);
            }
        };
        try (FakeServer server = server(null)) {
            for (int readPort : new int[] {0, server.port()}) {
                try (HandlerSocketClient client = HandlerSocketClient.builder()
                        .address("127.0.0.1", readPort, server.port())
                        .database("db")
                        .listener(listener)
                        .build()) {
                    assertEquals(List.of("db", "j\u00e4rn"), client.databases());
                    assertEquals(List.of("t", "u"), client.tables());
                    assertEquals(LISTED, client.indexes("t"));
                    assertEquals(List.of(), client.indexes("u"));
                    client.ping();
                    assertEquals(1, client.counters().connectionsMade());
                }
            }
        }
        List<RequestEvent> each = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            each.add(events.poll(5, TimeUnit.SECONDS)); // a caller may go on before its event is there
        }
        assertEquals(
                List.of("write list 2", "write list 2", "write list t 3", "write list u 0", "write ping 1",
                        "read list 2", "read list 2", "read list t 3", "read list u 0", "read ping 1"),
                each.stream().map(event -> event.route() + " " + event.spanName() + " " + event.rows()).toList());
        assertFalse(each.get(0).attributes().containsKey("db.namespace"));
        assertEquals("db", each.get(1).attributes().get("db.namespace"));
        assertFalse(each.get(1).attributes().containsKey("db.collection.name"));
        assertEquals("t", each.get(2).attributes().get("db.collection.name"));
        assertEquals("ping", each.get(4).attributes().get("db.operation.name"));
    }

    @Test
    void futures() throws Exception {
        try (FakeServer server = server(null);
                HandlerSocketClient client = server.client().build()) {
            assertEquals(List.of("db", "j\u00e4rn"), client.databasesAsync().get(5, TimeUnit.SECONDS));
            assertEquals(List.of("t", "u"), client.tablesAsync("db").get(5, TimeUnit.SECONDS));
            assertEquals(LISTED, client.indexesAsync("db", "t").get(5, TimeUnit.SECONDS));
            assertNull(client.pingAsync().get(5, TimeUnit.SECONDS));
        }
    }

    @Test
    void namesThatCannotBeSent() throws Exception {
        try (FakeServer server = server(null);
                HandlerSocketClient client = server.client().build();
                HandlerSocketClient nameless = HandlerSocketClient.builder()
                        .address("127.0.0.1", server.port(), server.port())
                        .build()) {
            for (String name : List.of("a\tb", "a\nb", "a\rb", "a\0b")) {
                assertThrows(UsageException.class, () -> client.tables(name));
                assertThrows(UsageException.class, () -> client.indexes(name));
                assertThrows(UsageException.class, () -> client.indexesAsync(name, "t"));
            }
            assertThrows(UsageException.class, nameless::tables);
            assertThrows(UsageException.class, () -> nameless.indexes("t"));
            assertEquals(0, client.counters().connectionsMade() + nameless.counters().connectionsMade());
        }
    }

    /** Wherever a connection is cut, a list is asked for again if that is wanted: it changes nothing. */
    @Test
    void cutReplies() throws Exception {
        String answer = ANSWERS.get("L\tdb\tt");
        for (int cut = 0; cut < answer.length(); cut++) {
            String first = answer.substring(0, cut);
            AtomicInteger connections = new AtomicInteger();
            try (FakeServer server = new FakeServer(peer -> {
                        boolean whole = connections.getAndIncrement() > 0;
                        peer.line();
                        peer.send(whole ? answer : first);
                        if (whole) {
                            peer.line();
                        }
                    });
                    HandlerSocketClient client = server.client().retryReads(1).build()) {
                assertEquals(LISTED, client.indexes("t"));
            }
        }
    }

    @Test
    void aServerThatDoesNotAnswer() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer.Peer::line);
                HandlerSocketClient client = server.client().build()) {
            ConnectionLostException lost = assertThrows(ConnectionLostException.class, client::ping);
            assertTrue(lost.wasSent() && lost.isSafeToRetry());
        }
    }

    /** Only the answer of a server that does not know a ping is that of one that is there. */
    @Test
    void refusals() throws Exception {
        for (String answer : List.of("1\t1\tcmd\n", "2\t1\tcmdx\n", "2\t1\n")) {
            try (FakeServer server = server(answer);
                    HandlerSocketClient client = server.client().build()) {
                assertThrows(ReplyException.class, client::ping);
            }
        }
        try (FakeServer server = server("2\t1\tcmd\n");
                HandlerSocketClient client = server.client().build()) {
            client.ping();
            assertEquals("cmd", assertThrows(ReplyException.class, client::databases).text());
            // The caller may be free a moment before its error is counted.
            for (int i = 0; i < 500 && client.counters().errors() == 0; i++) {
                Thread.sleep(10);
            }
            assertEquals(1, client.counters().errors());
        }
    }

    @Test
    void wrongReplies() throws Exception {
        for (String line : List.of("0\t0", "0\t2\ta\tb", "0\t1\t\0", "0\t1\ta\t\0", "0\t1\ta\u0001", "0\t6\t" + PART)) {
            assertWrong(line, HandlerSocketClient::databases);
            assertWrong(line, HandlerSocketClient::tables);
        }
        for (String line : List.of(
                "0\t1\tk", "0\t5\tk\t0\t1\ta\t0", "0\t6\tk", "0\t6\t" + PART + "\tk", "0\t7\t" + PART + "\t0", "0\t6\t",
                "0\t6\t\0\t0\t1\ta\t0\t0", "0\t6\tk\t2\t1\ta\t0\t0", "0\t6\tk\t0\tyes\ta\t0\t0",
                "0\t6\tk\t0\t1\ta\t\0\t0", "0\t6\tk\t0\t1\ta\t0\t", "0\t6\tk\t0\t1\ta\u0001\t0\t0")) {
            assertWrong(line, client -> client.indexes("t"));
        }
        for (String line : List.of(
                "0\t1", "0\t1\t", "0\t1\t\0", "0\t1\tpong", "0\t1\tping\tping", "0\t2\tping", "0\t0\tping", "0\t1\tpings")) {
            assertWrong(line, HandlerSocketClient::ping);
        }
    }

    private interface Asks {
        void ask(HandlerSocketClient client);
    }

    private static void assertWrong(String line, Asks asks) throws Exception {
        try (FakeServer server = server(line + "\n");
                HandlerSocketClient client = server.client().build()) {
            ProtocolException wrong = assertThrows(ProtocolException.class, () -> asks.ask(client), line);
            assertTrue(wrong.wasSent() && wrong.isSafeToRetry());
        }
    }
}
