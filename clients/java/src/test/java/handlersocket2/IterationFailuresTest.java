package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.ClientBuilder.WhenFull;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** However an iteration fails: it is told once, and another one may take its place. */
class IterationFailuresTest {
    private final Queue<RequestEvent> requests = new ConcurrentLinkedQueue<>();
    private final Queue<ConnectionEvent> connections = new ConcurrentLinkedQueue<>();
    private final ClientListener listener = new ClientListener() {
        @Override
        public void requestEnded(RequestEvent event) {
            requests.add(event);
        }

        @Override
        public void connectionChanged(ConnectionEvent event) {
            connections.add(event);
        }
    };

    private static Index<String> index(HandlerSocketClient client) {
        return client.index("t", "a").as(String.class).withTimeout(Duration.ofSeconds(5));
    }

    /** Only one may iterate, and a second one fails at once. */
    private ClientBuilder alone(FakeServer server) throws Exception {
        return server.client().listener(listener).maxStreams(1).whenFull(WhenFull.FAIL);
    }

    /** Sent to another server, it cannot log in there, nor at the first one again. */
    @Test
    void noConnectionToTheNextServer() throws Exception {
        AtomicInteger logIns = new AtomicInteger();
        FakeServer.Conversation once = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                boolean logsIn = line.startsWith("A\t");
                peer.send(!logsIn ? "1\t1\t1047\n" : logIns.getAndIncrement() == 0 ? "0\t1\n" : "3\t1\tunauth\n");
            }
        };
        try (FakeServer first = new FakeServer(once); FakeServer second = new FakeServer(once)) {
            List<Address> addresses = List.of(
                    Address.of("127.0.0.1", first.port(), first.port()),
                    Address.of("127.0.0.1", second.port(), second.port()));
            try (HandlerSocketClient client = alone(first).addresses(addresses).secret("s").build();
                    RowIterator<String> rows = index(client).iterate(Find.ge(1).limit(9))) {
                ReplyException refused = assertThrows(ReplyException.class, rows::hasNext);
                assertEquals("unauth", refused.text());
                assertFalse(rows.hasNext());
                assertEquals(1, requests.size());
                assertSame(refused, requests.element().error().orElseThrow());
                assertEquals(first.port(), requests.element().address().orElseThrow().readPort().orElseThrow());
                ReplyException again =
                        assertThrows(ReplyException.class, () -> index(client).iterate(Find.ge(1).limit(9)));
                assertEquals("unauth", again.text());
            }
            assertEquals(2, requests.size());
        }
    }

    @Test
    void anErrorWhileConnecting() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = alone(server).secret(() -> {
                    if (asked.getAndIncrement() < 2) {
                        throw new StackOverflowError();
                    }
                    throw new IllegalStateException();
                }).connectAttempts(1).build()) {
            for (int i = 0; i < 2; i++) {
                ConnectException ended = assertThrows(
                        ConnectException.class, () -> index(client).iterate(Find.ge(1).limit(9)));
                assertInstanceOf(StackOverflowError.class, ended.getCause());
            }
            assertThrows(ConnectException.class, () -> index(client).iterate(Find.ge(1).limit(9)));
            assertEquals(3, requests.size());
            assertInstanceOf(ConnectException.class, requests.element().error().orElseThrow());
        }
    }

    /** Other calls do not wait for ever for an attempt that an error has ended. */
    @Test
    void anErrorOfALoggerOrAListener() throws Exception {
        ClientListener angry = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                throw new StackOverflowError();
            }
        };
        System.Logger logger = new Angry();
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = alone(server).listener(angry).logger(logger).build()) {
            for (int i = 0; i < 2; i++) {
                assertEquals(Optional.of("x"), index(client).async().findOne("x").get(5, TimeUnit.SECONDS));
                try (RowIterator<String> rows = index(client).iterate(Find.eq("x"))) {
                    assertEquals("x", rows.next());
                }
            }
            server.close();
            CompletableFuture<Optional<String>> gone = index(client).async().findOne("x");
            assertThrows(ExecutionException.class, () -> gone.get(5, TimeUnit.SECONDS));
        }
    }

    /** The whole reply was an error, so the connection is kept, unless more has come behind it. */
    @Test
    void bytesBehindAnError() throws Exception {
        for (String more : List.of("", "0")) {
            connections.clear();
            FakeServer.Conversation refuses = peer -> {
                peer.line();
                peer.line();
                peer.send("0\t1\n1\t1\tlock_wait\n" + more);
                FakeServer.echo(peer);
            };
            try (FakeServer server = new FakeServer(refuses); HandlerSocketClient client = alone(server).build()) {
                RowIterator<String> rows = index(client).iterate(Find.ge(1).limit(9));
                assertThrows(ReplyException.class, rows::hasNext);
                boolean kept = more.isEmpty();
                assertEquals(kept ? 1 : 2, connections.size(), connections::toString);
                assertEquals(kept ? 0 : 1, client.counters().connectionsLost());
            }
        }
    }

    @Test
    void closedWhileItWaitsForTheNextAttempt() throws Exception {
        CountDownLatch refused = new CountDownLatch(1);
        FakeServer server = new FakeServer(FakeServer::echo);
        ClientListener waits = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                refused.countDown();
            }
        };
        try (HandlerSocketClient client = server.client().listener(waits)
                .backoff(Duration.ofDays(1), Duration.ofDays(1)).timeout(Duration.ofDays(3)).build()) {
            server.close();
            CompletableFuture<Object> ended = new CompletableFuture<>();
            Thread iterates = new Thread(() -> {
                try {
                    client.index("t", "a").iterate(Find.ge(1).limit(9));
                } catch (RuntimeException problem) {
                    ended.complete(problem);
                }
            });
            iterates.start();
            assertTrue(refused.await(5, TimeUnit.SECONDS));
            client.close();
            assertInstanceOf(ClientClosedException.class, ended.get(5, TimeUnit.SECONDS));
        }
    }

    /** It waits until its time is over, and not less. */
    @Test
    void itsTimeIsOverBeforeTheNextAttempt() throws Exception {
        FakeServer server = new FakeServer(FakeServer::echo);
        try (HandlerSocketClient client =
                server.client().backoff(Duration.ofDays(1), Duration.ofDays(1)).build()) {
            server.close();
            Index<String> index = index(client).withTimeout(Duration.ofMillis(300));
            long began = System.nanoTime();
            assertThrows(RequestTimeoutException.class, () -> index.iterate(Find.ge(1).limit(9)));
            assertTrue(System.nanoTime() - began >= 300_000_000);
        }
    }

    /** The second of two addresses answers; the first does what the test says. */
    private HandlerSocketClient twoAddresses(FakeServer first, FakeServer second) throws Exception {
        List<Address> addresses = List.of(
                Address.of("127.0.0.1", first.port(), first.port()),
                Address.of("127.0.0.1", second.port(), second.port()));
        return first.client().listener(listener).addresses(addresses).secret("s").build();
    }

    private boolean failedOver() {
        return connections.stream().anyMatch(event -> event.what() == ConnectionEvent.What.FAILED_OVER);
    }

    /** It had too little time, or was interrupted: that says nothing about the address, which other calls use. */
    @Test
    void itsOwnEndLeavesNoAddress() throws Exception {
        FakeServer.Conversation silent = peer -> {
            while (peer.line() != null) {}
        };
        try (FakeServer first = new FakeServer(silent);
                FakeServer second = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = twoAddresses(first, second)) {
            Index<String> hurried = index(client).withTimeout(Duration.ofMillis(200));
            assertThrows(RequestTimeoutException.class, () -> hurried.iterate(Find.ge(1).limit(9)));
            assertFalse(failedOver(), connections::toString);

            CompletableFuture<Throwable> ended = new CompletableFuture<>();
            Thread iterates = new Thread(() -> ended.complete(
                    assertThrows(Throwable.class, () -> index(client).iterate(Find.ge(1).limit(9)))));
            iterates.start();
            Thread.sleep(100);
            iterates.interrupt();
            assertInstanceOf(RequestCancelledException.class, ended.get(5, TimeUnit.SECONDS));
            assertFalse(failedOver(), connections::toString);
        }
    }

    /** While it logs in at the first address, a find learns that another one is meant. */
    @Test
    void theAddressIsLeftWhileItConnects() throws Exception {
        CountDownLatch logsIn = new CountDownLatch(1);
        AtomicInteger met = new AtomicInteger();
        CompletableFuture<String> further = new CompletableFuture<>();
        FakeServer.Conversation former = peer -> {
            peer.line();
            if (met.getAndIncrement() == 0) {
                peer.send("0\t1\n");
                peer.line();
                peer.send("0\t1\n");
                peer.line();
                logsIn.await(5, TimeUnit.SECONDS);
                peer.send("1\t1\t1290\n");
                return;
            }
            logsIn.countDown();
            for (int i = 0; i < 500 && !failedOver(); i++) {
                Thread.sleep(10);
            }
            peer.send("0\t1\n");
            further.complete(String.valueOf(peer.line()));
        };
        FakeServer.Conversation current = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(line.startsWith("A\t") || line.startsWith("P\t") ? "0\t1\n" : "0\t1\tcurrent\n");
            }
        };
        try (FakeServer first = new FakeServer(former);
                FakeServer second = new FakeServer(current);
                HandlerSocketClient client = twoAddresses(first, second)) {
            CompletableFuture<Optional<String>> found = index(client).async().findOne(1);
            for (int i = 0; i < 500 && met.get() == 0; i++) {
                Thread.sleep(10);
            }
            try (RowIterator<String> rows = index(client).iterate(Find.ge(1).limit(9))) {
                assertEquals("current", rows.next());
                assertFalse(rows.hasNext());
            }
            assertEquals(Optional.of("current"), found.get(5, TimeUnit.SECONDS));
            assertEquals("null", further.get(5, TimeUnit.SECONDS));
            // What was closed unused is not told.
            assertEquals(
                    1,
                    connections.stream()
                            .filter(event -> event.what() == ConnectionEvent.What.CONNECTED && event.route().equals("stream"))
                            .count(),
                    connections::toString);
        }
    }

    private static final class Angry implements System.Logger {
        @Override
        public String getName() {
            return "angry";
        }

        @Override
        public boolean isLoggable(Level level) {
            throw new IllegalStateException("not now");
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable problem) {
            throw new AssertionError(message);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... words) {
            throw new AssertionError(format);
        }
    }
}
