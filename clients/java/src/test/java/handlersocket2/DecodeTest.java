package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.ClientBuilder.WhenFull;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A reply that is right, with a value that does not fit the caller's type: what is known of the request, and who is told. */
class DecodeTest {

    /** There is a row, and an Optional that is empty would say that there is none. */
    @Test
    void nullThatAnOptionalCannotHold() throws Exception {
        FakeServer.Conversation conversation = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(line.startsWith("P\t") ? "0\t1\n" : "0\t1\t\0\n");
            }
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> rows = client.index("t", "payload");
            for (Index<?> index : List.of(
                    rows.as(String.class), rows.as(Integer.class), rows.as(byte[].class), rows.map(row -> row.getString(0)))) {
                assertEquals("[null]", index.find(Find.eq(1)).toString());
                for (boolean named : new boolean[] {true, false}) {
                    isNull(assertThrows(
                            RuntimeException.class, () -> (named ? index.findOne(Find.eq(1)) : index.findOne(1)).isPresent()));
                    CompletableFuture<?> future = named ? index.async().findOne(Find.eq(1)) : index.async().findOne(1);
                    isNull(assertThrows(ExecutionException.class, () -> future.get(10, TimeUnit.SECONDS)).getCause());
                }
                try (RowIterator<?> iterator = index.iterate(Find.eq(1))) {
                    assertNull(iterator.next());
                }
            }
            assertEquals(Optional.of("Row[payload]"), rows.findOne(1).map(Row::toString));
        }
    }

    private static void isNull(Throwable problem) {
        String message = assertInstanceOf(DecodeException.class, problem).getMessage();
        assertTrue(
                message.contains("column payload is NULL") || message.contains("the function that makes rows has given null"),
                message);
        assertNull(problem.getCause());
    }
    private final Queue<RequestEvent> requests = new ConcurrentLinkedQueue<>();

    /** Rows of an integer, from a server whose rows have these values. */
    private void with(String values, Consumer<Both> use) throws Exception {
        FakeServer.Conversation answers = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                boolean isRow = !line.startsWith("P\t") && !line.startsWith("G\t");
                peer.send(isRow ? "0\t1\t" + values + "\n" : "0\t1\n");
            }
        };
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                requests.add(event);
            }
        };
        try (FakeServer server = new FakeServer(answers);
                HandlerSocketClient client =
                        server.client().listener(listener).maxStreams(1).whenFull(WhenFull.FAIL).build()) {
            use.accept(new Both(client, client.index("t", "a").as(Integer.class)));
        }
    }

    private record Both(HandlerSocketClient client, Index<Integer> index) {}

    private static Throwable causeOf(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> future.get(5, TimeUnit.SECONDS)).getCause();
    }

    private void check(Throwable problem, boolean executed) {
        DecodeException error = assertInstanceOf(DecodeException.class, problem);
        assertTrue(error.wasSent());
        assertEquals(executed, error.maybeExecuted());
        assertEquals(!executed, error.isSafeToRetry());
        assertTrue(error.getMessage().contains("column a"), error.getMessage());
    }

    private void isTold(HandlerSocketClient client, Throwable error) {
        // The listener hears of a future's end behind who waits for it.
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (requests.isEmpty() && System.nanoTime() < until) {
            Thread.onSpinWait();
        }
        assertEquals(1, requests.size(), requests::toString);
        assertSame(error, requests.element().error().orElseThrow());
        assertEquals(1, client.counters().errors());
    }

    @Test
    void aFindModifiesNothing() throws Exception {
        with("x", both -> {
            Throwable error = assertThrows(Throwable.class, () -> both.index.findOne(1));
            check(error, false);
            isTold(both.client, error);
        });
    }

    @Test
    void aWriteWasExecuted() throws Exception {
        with("x", both -> {
            Throwable error = assertThrows(Throwable.class, () -> both.index.fetchAndDelete(Find.eq(1)));
            check(error, true);
            isTold(both.client, error);
        });
    }

    @Test
    void aWriteWithAFutureWasExecuted() throws Exception {
        with("x", both -> {
            Throwable error = causeOf(both.index.async().fetchAndUpdate(Find.eq(1), Map.of("a", 2)));
            check(error, true);
            isTold(both.client, error);
        });
    }

    /** A row's values are read when they are asked for, and the row knows where it comes from. */
    @Test
    void aRowOfAWriteIsReadLater() throws Exception {
        with("x\tx", both -> {
            Index<Row> index = both.client.index("t", "a");
            for (Row row : index.fetchAndDelete(Find.ge(1).limit(2))) {
                check(assertThrows(Throwable.class, () -> row.getInt("a")), true);
            }
            for (Row row : index.async().fetchAndDelete(Find.ge(1).limit(2)).join()) {
                check(assertThrows(Throwable.class, () -> row.getInt("a")), true);
            }
            for (Row row : index.find(Find.ge(1).limit(2))) {
                check(assertThrows(Throwable.class, () -> row.getInt("a")), false);
            }
        });
    }

    /** Who waits is told of what fits, too. */
    @Test
    void whatFitsIsToldOnce() throws Exception {
        with("7", both -> {
            assertEquals(7, both.index.findOne(1).orElseThrow());
            assertEquals(1, requests.size());
            assertTrue(requests.element().error().isEmpty());
            assertEquals(1, requests.element().rows());
            assertEquals(6, requests.element().bytesIn());
        });
    }

    /** Who asks for all of a group again would do its modifications twice. */
    @Test
    void inAGroupWhatTheOthersDidCounts() throws Exception {
        with("x", both -> {
            Group group = both.client.group();
            CompletableFuture<?> find = group.on(both.index).findOne(1);
            group.on(both.index).fetchAndDelete(Find.eq(1));
            group.run();
            check(causeOf(find), true);

            Group reading = both.client.group();
            CompletableFuture<?> alone = reading.on(both.index).findOne(1);
            reading.run();
            check(causeOf(alone), false);
        });
    }

    @Test
    void anIterationEndsWithIt() throws Exception {
        for (String values : List.of("1\tx\t3", "1\tx")) {
            requests.clear();
            with(values, both -> {
                RowIterator<Integer> rows = both.index.iterate(Find.ge(1).limit(9));
                assertEquals(1, rows.next());
                assertTrue(requests.isEmpty());
                Throwable error = assertThrows(Throwable.class, rows::next);
                check(error, false);
                assertFalse(rows.hasNext());
                isTold(both.client, error);
                assertEquals(1, requests.element().rows());
                rows.close();
                assertEquals(1, requests.size());
                // Its place is free.
                both.index.iterate(Find.ge(1).limit(9)).close();
            });
        }
    }

    @Test
    void anIterationThatFitsIsToldOnce() throws Exception {
        with("1\t2", both -> {
            List<Integer> seen = new ArrayList<>();
            RowIterator<Integer> rows = both.index.iterate(Find.ge(1).limit(9));
            seen.add(rows.next());
            assertTrue(requests.isEmpty());
            seen.add(rows.next());
            assertEquals(List.of(1, 2), seen);
            assertEquals(1, requests.size());
            assertFalse(rows.hasNext());
            rows.close();
            assertEquals(1, requests.size());
            assertTrue(requests.element().error().isEmpty());
            assertEquals(2, requests.element().rows());
        });
    }
}
