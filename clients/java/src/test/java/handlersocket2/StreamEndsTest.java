package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.ConnectionEvent.What;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The end of a connection for iterating is told, counted and logged as that of any other one. */
class StreamEndsTest {
    private final Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private final CountDownLatch hungUp = new CountDownLatch(1);

    private interface Use {
        void with(HandlerSocketClient client, RowIterator<String> rows) throws Exception;
    }

    /** What the server answers to the find, whether it hangs up then, and what becomes of it. */
    private void run(String answer, boolean hangsUp, Use use) throws Exception {
        FakeServer.Conversation conversation = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n" + answer);
            if (hangsUp) {
                peer.channel().close();
                hungUp.countDown();
            } else {
                FakeServer.echo(peer);
            }
        };
        ClientListener listener = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                events.add(event);
            }
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().listener(listener).logger(new Log()).build()) {
            Index<String> index = client.index("t", "a").as(String.class).withTimeout(Duration.ofSeconds(5));
            try (RowIterator<String> rows = index.iterate(Find.ge(1).limit(9))) {
                use.with(client, rows);
            }
        }
    }

    private void assertTold(What what, String reason) {
        assertEquals(List.of(What.CONNECTED, what), events.stream().map(ConnectionEvent::what).limit(2).toList());
        ConnectionEvent end = events.stream().skip(1).findFirst().orElseThrow();
        assertEquals("stream", end.route());
        assertEquals(events.element().address(), end.address());
        assertTrue(end.reason().contains(reason), end.reason());
        String line = what + " stream " + end.address().orElseThrow() + " " + end.reason();
        assertEquals(1, log.stream().filter(line::equals).count(), log::toString);
        assertFalse(log.toString().contains("first"));
    }

    private static void assertLost(int lost, HandlerSocketClient client) {
        assertEquals(lost, client.counters().connectionsLost());
    }

    @Test
    void aShutdownWaitsForIt() throws Exception {
        run("0\t1\tfirst\tsecond\n", false, (client, rows) -> {
            assertEquals("first", rows.next());
            CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> client.shutdown(Duration.ofSeconds(10)));
            assertThrows(TimeoutException.class, () -> ended.get(100, TimeUnit.MILLISECONDS));
            Index<String> index = client.index("t", "a").as(String.class);
            assertThrows(ClientClosedException.class, () -> index.iterate(Find.eq(1)));
            assertEquals("second", rows.next());
            assertFalse(rows.hasNext());
            ended.get(5, TimeUnit.SECONDS);
        });
    }

    @Test
    void aShutdownDoesNotWaitLongerThanItMay() throws Exception {
        run("0\t1\tfirst\tsecond\tthi", false, (client, rows) -> {
            assertEquals("first", rows.next());
            client.shutdown(Duration.ofMillis(100));
            assertEquals("second", rows.next());
            assertThrows(ClientClosedException.class, rows::hasNext);
        });
    }

    @Test
    void lostInTheMiddle() throws Exception {
        run("0\t1\tfirst\tsecond\tthi", true, (client, rows) -> {
            assertEquals("first", rows.next());
            assertEquals("second", rows.next());
            ConnectionLostException lost = assertThrows(ConnectionLostException.class, rows::hasNext);
            assertEquals("the server has closed the connection", lost.getMessage());
            assertLost(1, client);
            assertEquals(1, client.counters().connectionsMade());
        });
        assertTold(What.LOST, "the server has closed the connection");
        assertEquals(2, events.size());
    }

    @Test
    void whatComesIsNoReply() throws Exception {
        run("0\t1\tfirst\t\1\1\t", false, (client, rows) -> {
            assertEquals("first", rows.next());
            assertThrows(ProtocolException.class, rows::hasNext);
            assertLost(1, client);
        });
        assertTold(What.PROTOCOL_ERROR, "wrong escape");
    }

    @Test
    void bytesThatNobodyHasAskedFor() throws Exception {
        run("0\t1\tfirst\n0\t1\n", false, (client, rows) -> {
            assertEquals("first", rows.next());
            assertFalse(rows.hasNext());
            assertLost(1, client);
        });
        assertTold(What.PROTOCOL_ERROR, "bytes came while no request was in flight");
    }

    @Test
    void left() throws Exception {
        run("0\t1\tfirst\tsecond\t", false, (client, rows) -> {
            assertEquals("first", rows.next());
            rows.close();
            assertLost(0, client);
        });
        assertTold(What.CLOSED, "the iteration ended before its reply");
        assertEquals(2, events.size());
    }

    @Test
    void givenUp() throws Exception {
        run("0\t1\tfirst\tsecond", false, (client, rows) -> {
            assertEquals("first", rows.next());
            Thread.currentThread().interrupt();
            assertThrows(RequestCancelledException.class, rows::hasNext);
            assertTrue(Thread.interrupted());
            assertLost(0, client);
        });
        assertTold(What.CLOSED, "the thread was interrupted");
    }

    /** Nobody reads on a connection that is idle, so its end is seen when the next iteration wants it. */
    @Test
    void idle() throws Exception {
        run("0\t1\tfirst\n", true, (client, rows) -> {
            assertEquals("first", rows.next());
            assertFalse(rows.hasNext());
            assertTrue(hungUp.await(5, TimeUnit.SECONDS));
            Index<String> index = client.index("t", "a").as(String.class);
            try (RowIterator<String> next = index.iterate(Find.ge(1).limit(9))) {
                assertEquals("first", next.next());
            }
            assertLost(0, client);
            assertEquals(2, client.counters().connectionsMade());
        });
        assertTold(What.CLOSED, "the server has closed the connection");
    }

    @Test
    void closedWithTheClient() throws Exception {
        run("0\t1\tfirst\tsecond\t", false, (client, rows) -> {
            assertEquals("first", rows.next());
            client.close();
            assertEquals(2, events.size());
            assertEquals("second", rows.next());
            assertThrows(ClientClosedException.class, rows::hasNext);
            assertLost(0, client);
        });
        assertTold(What.CLOSED, "the client is closed");
        assertEquals(2, events.size());
    }

    @Test
    void closedWithTheClientWhileIdle() throws Exception {
        run("0\t1\tfirst\n", false, (client, rows) -> {
            assertEquals("first", rows.next());
            assertFalse(rows.hasNext());
            client.close();
            assertLost(0, client);
        });
        assertTold(What.CLOSED, "the client is closed");
        assertEquals(2, events.size());
    }

    private final class Log implements System.Logger {
        @Override
        public String getName() {
            return "log";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable problem) {
            throw new AssertionError(message);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... words) {
            log.add(String.join(" ", List.of(words).stream().map(String::valueOf).toList()));
        }
    }
}
