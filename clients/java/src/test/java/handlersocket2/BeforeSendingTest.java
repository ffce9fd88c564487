package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** What ends before anything is sent: calls of threads that are interrupted already, and calls that cannot be meant. */
class BeforeSendingTest {
    /** All lines that have come to the server. */
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    private void recording(FakeServer.Peer peer) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            lines.add(line);
            peer.send(line.contains("\tU\t") ? "0\t1\t1\n" : FakeServer.echoOf(line));
        }
    }

    private interface Ask {
        void ask(HandlerSocketClient client, Index<Row> index);
    }

    /** Every call that waits. */
    private static Map<String, Ask> calls() {
        Map<String, Ask> calls = new LinkedHashMap<>();
        Find one = Find.eq(1);
        Map<String, Object> row = Map.of("a", 1);
        calls.put("findOne", (client, index) -> index.findOne(1));
        calls.put("findOne of a find", (client, index) -> index.findOne(one));
        calls.put("find", (client, index) -> index.find(one));
        calls.put("findIn", (client, index) -> index.findIn(List.of(1, 2)));
        calls.put("count", (client, index) -> index.count(one));
        calls.put("exists", (client, index) -> index.exists(one));
        calls.put("insert", (client, index) -> index.insert(row));
        calls.put("insertMany", (client, index) -> index.insertMany(List.of(row), Duplicate.IGNORE));
        calls.put("upsert", (client, index) -> index.upsert(Upsert.of(row).set("a", 2)));
        calls.put("update", (client, index) -> index.update(one, row));
        calls.put("delete", (client, index) -> index.delete(one));
        calls.put("increment", (client, index) -> index.increment(one, row));
        calls.put("decrement", (client, index) -> index.decrement(one, row));
        calls.put("fetchAndUpdate", (client, index) -> index.fetchAndUpdate(one, row));
        calls.put("updateAndFetch", (client, index) -> index.updateAndFetch(one, row));
        calls.put("group", (client, index) -> {
            Group group = client.group();
            CompletableFuture<Long> changed = group.on(index).update(one, row);
            try {
                group.run();
            } finally {
                assertTrue(changed.isCancelled());
            }
        });
        calls.put("pipeline", (client, index) -> {
            Pipeline pipeline = client.pipeline();
            CompletableFuture<Long> changed = pipeline.on(index).update(one, row);
            CompletableFuture<Optional<Row>> found = pipeline.on(index).findOne(1);
            pipeline.run();
            assertThrows(CancellationException.class, changed::join);
            found.join();
        });
        calls.put("iterate", (client, index) -> index.iterate(one).hasNext());
        calls.put("stream", (client, index) -> index.stream(one).toList());
        calls.put("describe", (client, index) -> client.table("t").describe());
        calls.put("hello", (client, index) -> client.hello());
        calls.put("ping", (client, index) -> client.ping());
        calls.put("databases", (client, index) -> client.databases());
        calls.put("tables", (client, index) -> client.tables());
        calls.put("indexes", (client, index) -> client.indexes("t"));
        return calls;
    }

    @Test
    void aThreadThatIsInterruptedAlready() throws Exception {
        Queue<String> told = new ConcurrentLinkedQueue<>();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                told.add(event.error().map(Object::getClass).map(Class::getSimpleName).orElse(""));
            }
        };
        try (FakeServer server = new FakeServer(this::recording);
                HandlerSocketClient client = server.client().listener(listener).build()) {
            Index<Row> index = client.index("t", "a");
            index.findOne(1);
            index.update(Find.eq(1), List.of("x"));
            int before = lines.size();
            told.clear();
            calls().forEach((name, call) -> {
                Thread.currentThread().interrupt();
                RequestCancelledException problem;
                try {
                    problem = assertThrows(RequestCancelledException.class, () -> call.ask(client, index), name);
                } finally {
                    assertTrue(Thread.interrupted(), name);
                }
                assertFalse(problem.wasSent(), name);
                assertFalse(problem.maybeExecuted(), name);
            });
            // A pipeline has two calls.
            assertEquals(calls().size() + 1, client.counters().givenUp());
            assertEquals(calls().size() + 1, told.stream().filter("RequestCancelledException"::equals).count());
            index.findOne("last");
            index.update(Find.eq("last"), List.of("x"));
            assertEquals(2, lines.stream().skip(before).filter(line -> line.contains("\tlast")).count(), lines::toString);
            assertEquals(before + 2, lines.size(), lines::toString);
        }
    }

    @Test
    void aTimeBelowNothing() throws Exception {
        Duration below = Duration.ofNanos(-1);
        try (FakeServer server = new FakeServer(this::recording);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            assertThrows(UsageException.class, () -> index.withTimeout(below).findOne(1));
            assertThrows(UsageException.class, () -> index.withTimeout(below).iterate(Find.eq(1)));
            assertThrows(UsageException.class, () -> client.group().timeout(below));
            assertThrows(UsageException.class, () -> client.table("t").timeout(below));
            assertThrows(UsageException.class, () -> server.client().timeout(below).build());
            assertEquals(0, client.counters().connectionsMade());
            // No limit, which is not the same as no time.
            assertTrue(index.withTimeout(Duration.ZERO).findOne(1).isPresent());
            assertEquals(1, index.withTimeout(Duration.ZERO).stream(Find.eq(1)).count());
        }
    }

    @Test
    void noDatabase() throws Exception {
        try (FakeServer server = new FakeServer(this::recording)) {
            for (String none : new String[] {null, ""}) {
                ClientBuilder builder = HandlerSocketClient.builder().address("127.0.0.1", server.port(), server.port());
                try (HandlerSocketClient client = (none == null ? builder : builder.database(none)).build()) {
                    assertThrows(UsageException.class, () -> client.index("t", "a").findOne(1));
                    assertThrows(UsageException.class, () -> client.table("t").open());
                    assertThrows(UsageException.class, () -> client.table("t").describe());
                    assertThrows(UsageException.class, () -> client.table("t").describeAsync());
                    assertThrows(UsageException.class, client::tables);
                    assertThrows(UsageException.class, () -> client.tables(""));
                    assertThrows(UsageException.class, () -> client.tablesAsync(""));
                    assertThrows(UsageException.class, () -> client.indexes("t"));
                    assertThrows(UsageException.class, () -> client.indexes("", "t"));
                    assertThrows(UsageException.class, () -> client.indexesAsync("", "t"));
                    assertEquals(0, client.counters().connectionsMade());
                    assertTrue(client.table("t").database("db").columns("a").open().findOne(1).isPresent());
                    if (none != null) {
                        assertThrows(UsageException.class, () -> client.table("t").database(none).open());
                    }
                }
            }
        }
    }
}
