package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What the caller's own code throws while a row is made ends its own call. The connection stays, and others get their replies. */
class OwnCodeTest {

    /** Its constructor throws what its value says. */
    record Picky(@Column("a") String value) {
        Picky {
            problem(value);
        }
    }

    private static void problem(String value) {
        switch (value) {
            case "runtime" -> throw new IllegalStateException("not this one");
            case "error" -> throw new AssertionError("not this one");
            case "checked" -> OwnCodeTest.<RuntimeException>sneak(new java.io.IOException("not this one"));
            case "foreign" -> throw new ConnectionLostException("of another connection", null, true, true);
            default -> {}
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> void sneak(Exception problem) throws E {
        throw (E) problem;
    }

    private static final List<String> WRONG = List.of("runtime", "error", "checked", "foreign");

    private static void isItsOwn(Throwable problem) {
        DecodeException own = assertInstanceOf(DecodeException.class, problem);
        assertTrue(own.wasSent());
        assertFalse(own.maybeExecuted());
        assertTrue(own.getCause() != null && !(own.getCause() instanceof DecodeException));
    }

    private static void check(Function<Index<Row>, Index<?>> as) throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            Index<?> index = as.apply(client.index("t", "a"));
            for (String wrong : WRONG) {
                List<CompletableFuture<? extends Optional<?>>> futures = new ArrayList<>();
                for (String key : List.of("before", wrong, "behind")) {
                    futures.add(index.async().findOne(key));
                }
                assertTrue(futures.get(0).get(5, TimeUnit.SECONDS).isPresent());
                assertTrue(futures.get(2).get(5, TimeUnit.SECONDS).isPresent());
                ExecutionException failed =
                        assertThrows(ExecutionException.class, () -> futures.get(1).get(5, TimeUnit.SECONDS));
                isItsOwn(failed.getCause());
                isItsOwn(assertThrows(Throwable.class, () -> index.findOne(wrong)));
                isItsOwn(assertThrows(Throwable.class, () -> index.find(Find.eq(wrong))));
                try (RowIterator<?> rows = index.iterate(Find.eq(wrong))) {
                    isItsOwn(assertThrows(Throwable.class, rows::next));
                }
                assertTrue(index.findOne("after").isPresent());
            }
            // One for finds, and one for iterating.
            assertEquals(2, client.counters().connectionsMade());
        }
    }

    @Test
    void aFunctionOfTheCallers() throws Exception {
        check(index -> index.map(row -> {
            problem(row.getString(0));
            return row;
        }));
    }

    @Test
    void theConstructorOfARecord() throws Exception {
        check(index -> index.as(Picky.class));
    }

    @Test
    void aListenerThatThrows() throws Exception {
        ClientListener angry = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                throw new AssertionError("not now");
            }
        };
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().listener(angry).build()) {
            for (int i = 0; i < 3; i++) {
                Index<Row> index = client.index("t", "a");
                Optional<Row> row = index.async().findOne("x").get(5, TimeUnit.SECONDS);
                assertSame(true, row.isPresent());
                assertTrue(index.findOne("x").isPresent());
                assertEquals(1, index.stream(Find.eq("x")).count());
                Thread.currentThread().interrupt();
                assertThrows(RequestCancelledException.class, () -> index.findOne("x"));
                assertTrue(Thread.interrupted());
            }
            // One for finds, and one for iterating.
            assertEquals(2, client.counters().connectionsMade());
        }
    }

    /** What the function for a password or a secret throws ends the calls that wait for the connection. The next one asks it again. */
    @Test
    void theFunctionForAPassword() throws Exception {
        FakeServer.Conversation logsIn = peer -> {
            if (peer.line() != null) {
                peer.send("0\t1\n");
                FakeServer.echo(peer);
            }
        };
        try (FakeServer server = new FakeServer(logsIn)) {
            for (boolean isSecret : List.of(false, true)) {
                AtomicReference<String> wrong = new AtomicReference<>();
                Supplier<String> function = () -> {
                    problem(wrong.get());
                    return "x";
                };
                ClientBuilder builder = server.client().connectAttempts(1).timeout(Duration.ofSeconds(30));
                builder = isSecret ? builder.secret(function) : builder.user("ann").password(function);
                try (HandlerSocketClient client = builder.build()) {
                    for (String kind : WRONG) {
                        wrong.set(kind);
                        CompletableFuture<Optional<Row>> future = client.index("t", "a").async().findOne("x");
                        ExecutionException ended = assertThrows(ExecutionException.class, () -> future.get(10, TimeUnit.SECONDS));
                        ConnectException own = assertInstanceOf(ConnectException.class, ended.getCause());
                        assertTrue(own.getMessage().contains(String.valueOf(own.getCause())), own.getMessage());
                    }
                    wrong.set("");
                    assertTrue(client.index("t", "a").findOne("x").isPresent());
                }
            }
        }
    }
}
