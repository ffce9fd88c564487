package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time that a server is given stands in front of each kind of request, and nowhere else. */
class WithinTest {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private FakeServer server;
    private HandlerSocketClient client;
    private Index<Row> index;

    @BeforeEach
    void begin() throws Exception {
        server = new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                lines.add(line.replace('\t', ' '));
                String answer = line.contains("\tinsert\t") ? "0\t2\tinserted\t1\n" : "0\t1\t1\n";
                peer.send(line.startsWith("P") || line.contains("G\t") ? "0\t1\n" : answer);
            }
        });
        client = server.client().build();
        index = client.index("t", "a");
        index.findOne(1);
        index.insert(List.of(1));
        lines.clear();
    }

    @AfterEach
    void end() throws Exception {
        client.close();
        server.close();
    }

    private void sent(String... expected) {
        assertEquals(List.of(expected), List.copyOf(lines));
        lines.clear();
    }

    @Test
    void eachRequest() {
        Index<Row> timed = index.within(Duration.ofMillis(500));
        timed.findOne(1);
        timed.find(Find.ge(1).limit(5));
        timed.exists(Find.eq(1));
        timed.insert(List.of(1));
        timed.insertMany(List.of(List.of(1)), Duplicate.IGNORE);
        timed.upsert(Upsert.of(List.of(1)).set("a", 2));
        timed.update(Find.eq(1), List.of(2));
        timed.update(Find.eq(1), Map.of("a", Assign.add(1)));
        timed.delete(Find.eq(1));
        timed.fetchAndIncrement(Find.eq(1), List.of(2));
        timed.async().findOne(1).join();
        timed.withTimeout(Duration.ofSeconds(1)).as(String.class).findOne(1);
        index.findOne(1);
        sent("within 500 1 = 1 1", "within 500 1 >= 1 1 5", "within 500 1 = 1 1 E", "within 500 1 + 1 1",
                "within 500 1 insert 1 1 1 else ignore", "within 500 1 insert 1 1 1 else update 1 0 = 2",
                "within 500 1 = 1 1 1 0 U 2", "within 500 1 = 1 1 1 0 set 1 0 + 1", "within 500 1 = 1 1 1 0 D",
                "within 500 1 = 1 1 1 0 +? 2", "within 500 1 = 1 1", "within 500 1 = 1 1", "1 = 1 1");
        timed.count(Find.range());
        sent("P 1 db t PRIMARY a", "within 500 1 up 0 C");
    }

    @Test
    void pipelinesIterationsAndGroups() {
        Index<Row> timed = index.within(Duration.ofMillis(20));
        Pipeline pipeline = client.pipeline();
        pipeline.on(timed).findOne(1);
        pipeline.on(index).findOne(2);
        pipeline.run();
        sent("within 20 1 = 1 1", "1 = 1 2");
        try (RowIterator<Row> rows = timed.iterate(Find.ge(1).limit(9))) {
            assertTrue(rows.hasNext());
            rows.next();
            assertFalse(rows.hasNext());
        }
        sent("P 1 db t PRIMARY a", "within 20 1 >= 1 1 9");
        Group group = client.group().within(Duration.ofMillis(700));
        group.on(timed).findOne(1);
        group.on(index).insert(List.of(1));
        group.run();
        sent("within 700 G 2", "1 = 1 1", "1 + 1 1");
        group.on(index).insert(List.of(1));
        group.run();
        sent("within 700 G 1", "1 + 1 1");
        Group plain = client.group();
        plain.on(timed).insert(List.of(1));
        plain.run();
        sent("G 1", "1 + 1 1");
    }

    @Test
    void roundedToMilliseconds() {
        for (Duration time : List.of(
                Duration.ofNanos(1), Duration.ofNanos(1_499_999), Duration.ofNanos(1_500_000), Duration.ofSeconds(2),
                Duration.ofMillis(1L << 31), Duration.ofMillis(1L << 31).plusNanos(400_000))) {
            index.within(time).findOne(1);
        }
        sent("within 1 1 = 1 1", "within 1 1 = 1 1", "within 2 1 = 1 1", "within 2000 1 = 1 1",
                "within 2147483648 1 = 1 1", "within 2147483648 1 = 1 1");
    }

    @Test
    void whatIsRefused() {
        for (Duration time : List.of(
                Duration.ZERO, Duration.ofNanos(-1), Duration.ofMillis((1L << 31) + 1), Duration.ofDays(999_999),
                Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ofSeconds(Long.MIN_VALUE))) {
            assertThrows(UsageException.class, () -> index.within(time), time.toString());
            assertThrows(UsageException.class, () -> client.group().within(time), time.toString());
        }
        sent();
    }

    /** It counts for the bound of bytes: two requests would fit without it. */
    @Test
    void itsBytesCount() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (FakeServer slow = new FakeServer(peer -> {
                    for (String line = peer.line(); line != null; line = peer.line()) {
                        go.await(5, TimeUnit.SECONDS);
                        peer.send(line.startsWith("P") ? "0\t1\n" : "0\t1\tx\n");
                    }
                });
                HandlerSocketClient other = slow.client().maxInFlightBytes(20).build()) {
            AsyncIndex<Row> timed = other.index("t", "a").within(Duration.ofMillis(5)).async();
            List<CompletableFuture<?>> both = List.of(timed.findOne(1), timed.findOne(2));
            while (other.counters().inFlight() == 0) {
                Thread.sleep(1);
            }
            Thread.sleep(20);
            assertEquals(1, other.counters().inFlight());
            go.countDown();
            for (CompletableFuture<?> each : both) {
                each.get(5, TimeUnit.SECONDS);
            }
        }
    }
}
