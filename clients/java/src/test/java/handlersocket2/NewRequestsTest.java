package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the original does not have: what each method sends, and what it makes of the answer. */
class NewRequestsTest {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private FakeServer server;
    private HandlerSocketClient client;
    private Index<Row> index;
    private volatile String answer = "0\t3\tAnn\t3\t1\n";

    record Person(String name, int age) {}

    @BeforeEach
    void begin() throws Exception {
        server = new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                lines.add(line.replace('\t', ' ').replace('\0', '0'));
                peer.send(line.startsWith("P") ? "0\t1\n" : answer);
            }
        });
        client = server.client().build();
        index = client.table("t").index("i").columns("name", "age", "id").filterColumns("x").keyColumns("k1", "k2").open();
        index.findOne(1);
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
    void ranges() {
        index.find(Find.range());
        index.findOne(Find.range(4).down().limit(3));
        index.find(Find.range().from(null).before("b").limit(9));
        index.find(Find.range().to(3).after(1).offset(2));
        index.find(Find.range().prefix("a%"));
        index.find(Find.range("").in(0, List.of(1, 2)).after(3));
        index.find(Find.named("down", Map.of("k1", 1)).from(2));
        sent("1 up 0", "1 down 1 4 3", "1 up 0 >= 0 < b 9", "1 up 0 > 1 <= 3 1 2", "1 up 0 ^ a%",
                "1 up 1  > 3 2 0 @ 0 2 1 2", "1 down 1 1 >= 2");
        assertThrows(UsageException.class, () -> Find.eq(1).down());
        assertThrows(UsageException.class, () -> Find.eq(1).from(1));
        assertThrows(UsageException.class, () -> Find.range().from(1).after(1));
        assertThrows(UsageException.class, () -> Find.range().to(1).before(1));
        assertThrows(UsageException.class, () -> Find.range().prefix("a").to("b"));
        assertThrows(UsageException.class, () -> Find.range().to("b").prefix("a"));
        assertThrows(UsageException.class, () -> Find.eq(1).filter("x", "up", 1));
    }

    @Test
    void counts() {
        answer = "0\t1\t1\n";
        assertEquals(1, index.count(Find.range().limit(5)));
        assertTrue(index.exists(Find.eq(1).filter("x", "<", 3)));
        sent("1 up 0 5 C", "1 = 1 1 1 0 F < 0 3 E");
        // Without a limit it goes over another connection.
        assertEquals(1, index.async().count(Find.eq("").in(0, List.of(1, 2))).join());
        sent("P 1 db t i name,age,id x", "1 = 1  0 0 @ 0 2 1 2 C");
        answer = "0\t1\t0\n";
        assertFalse(index.async().exists(Find.range()).join());
        sent("1 up 0 E");
        assertEquals(0, index.count(Find.eq(1).in(0, List.of())));
        assertFalse(index.exists(Find.eq(1).in(0, List.of())));
        sent();
        assertThrows(UsageException.class, () -> index.exists(Find.eq(1).limit(2)));
    }

    @Test
    void assignments() {
        answer = "0\t1\t1\n";
        assertEquals(1, index.update(Find.eq(1), Values.of("age", Assign.add(3)).and("name", "a")));
        index.update(Find.eq(1), Arrays.asList("a", Assign.toDefault()));
        index.update(Find.eq(1), Values.of("age", Assign.subtract(9, 0, null)).and("name", Assign.append("\t")));
        index.async().update(Find.eq(1), Map.of("seen", Assign.now())).join();
        assertTrue(List.copyOf(lines).containsAll(List.of(
                "1 = 1 1 1 0 set 2 1 + 3 0 = a",
                "1 = 1 1 1 0 set 2 0 = a 1 default ",
                "1 = 1 1 1 0 set 2 1 -[ 9 0 0 0 append \u0001I",
                "P 2 db t i name,age,id,seen x",
                "2 = 1 1 1 0 set 1 3 now ")), lines.toString());
        lines.clear();
        answer = "0\t3\tAnn\t3\t1\n";
        assertEquals("Ann", index.fetchAndUpdate(Find.eq(1), Map.of("age", Assign.max(3))).get(0).getString("name"));
        assertEquals("Ann", index.updateAndFetch(Find.eq(1), Map.of("age", Assign.min(3))).get(0).getString("name"));
        index.updateAndFetch(Find.eq(1), List.of("B"));
        index.incrementAndFetch(Find.eq(1), Map.of("name", 1));
        index.decrementAndFetch(Find.eq(1), List.of(1));
        index.async().updateAndFetch(Find.eq(1), List.of("B", Assign.bitAnd(6))).join();
        sent("1 = 1 1 1 0 set? 1 1 max 3", "1 = 1 1 1 0 set! 1 1 min 3", "1 = 1 1 1 0 U! B", "1 = 1 1 1 0 +! 1",
                "1 = 1 1 1 0 -! 1", "1 = 1 1 1 0 set! 2 0 = B 1 & 6");
        assertEquals(0, index.update(Find.eq(1).in(0, List.of()), Map.of("age", Assign.bitOr(1))));
        assertThrows(UsageException.class, () -> index.update(Find.eq(1), Map.of("age", Assign.inserted())));
        assertThrows(UsageException.class, () -> index.update(Find.eq(1), List.of(1, 2, 3, Assign.now())));
        assertThrows(UsageException.class, () -> index.insert(List.of(Assign.now())));
        assertThrows(UsageException.class, () -> index.increment(Find.eq(1), List.of(Assign.add(1))));
        assertThrows(UsageException.class, () -> index.findOne(Assign.bitXor(1)));
        sent();
    }

    @Test
    void severalRows() {
        answer = "0\t2\tinserted\t1\tignored\t\0\n";
        List<Outcome> wanted = List.of(
                new Outcome(Outcome.Done.INSERTED, OptionalLong.of(1)),
                new Outcome(Outcome.Done.IGNORED, OptionalLong.empty()));
        assertEquals(wanted, index.insertMany(List.of(Arrays.asList("a", null), List.of("b", 2)), Duplicate.IGNORE));
        List<Map<String, Object>> named = List.of(Values.of("id", 5).and("name", "a"), Values.of("name", "b").and("id", 6));
        assertEquals(wanted, index.insertMany(named, Duplicate.FAIL));
        assertEquals(wanted, index.async().insertMany(List.of(new Person("c", 3), new Person("d", 4)), Duplicate.REPLACE).join());
        List<String> all = List.copyOf(lines);
        assertTrue(all.contains("1 insert 2 2 a 0 b 2 else ignore"), all.toString());
        assertTrue(all.containsAll(List.of("P 2 db t i id,name x", "2 insert 2 2 5 a 6 b")), all.toString());
        assertTrue(all.containsAll(List.of("P 3 db t i name,age x", "3 insert 2 2 c 3 d 4 else replace")), all.toString());
        List<List<?>> wrong = List.of(
                List.of(),
                List.of(List.of()),
                List.of(List.of(1), List.of(1, 2)),
                List.of(List.of(1, 2, 3, 4)),
                List.of(Map.of("id", 1), Map.of("name", 1)),
                List.of(Map.of("id", 1), List.of(1)),
                List.of(1));
        for (List<?> rows : wrong) {
            assertThrows(UsageException.class, () -> index.insertMany(rows, Duplicate.FAIL), rows.toString());
        }
    }

    @Test
    void upserts() {
        answer = "0\t2\tunmet\t7\n";
        Outcome wanted = new Outcome(Outcome.Done.UNMET, OptionalLong.of(7));
        Upsert upsert = Upsert.of(Values.of("id", 1).and("age", 1)).set("age", Assign.inserted()).set("seen", 2).filter("x", "<", 9);
        assertEquals(wanted, index.upsert(upsert));
        assertEquals(List.of(wanted), index.async().upsertMany(upsert).join());
        assertEquals(wanted, index.async().upsert(Upsert.of(List.of("a")).set("age", Assign.bitXor(1))).join());
        assertEquals(wanted, index.upsert(Upsert.of(new Person("a", 3)).set("age", null)));
        assertTrue(List.copyOf(lines).containsAll(List.of(
                "P 1 db t i id,age,seen x",
                "1 insert 1 2 1 1 else update 2 1 new  2 = 2 F < 0 9",
                "2 insert 1 1 a else update 1 1 ^ 1",
                "3 insert 1 2 a 3 else update 1 1 = 0")), lines.toString());
        assertThrows(UsageException.class, () -> index.upsert(Upsert.of(List.of(1))));
        assertThrows(UsageException.class, () -> index.upsert(Upsert.ofAll(List.of(List.of(1), List.of(2))).set("age", 1)));
        assertThrows(UsageException.class, () -> index.upsertMany(Upsert.ofAll(List.of()).set("age", 1)));
        assertThrows(UsageException.class, () -> index.upsert(Upsert.of(List.of(1)).set("age", 1).filter("age", "=", 1)));
        assertThrows(UsageException.class, () -> Upsert.of(List.of(1)).filter("x", "~", 1));
    }

    @Test
    void inAPipeline() {
        answer = "0\t1\t1\n";
        Pipeline pipeline = client.pipeline();
        CompletableFuture<Long> count = pipeline.on(index).count(Find.range());
        CompletableFuture<Long> changed = pipeline.on(index).update(Find.eq(1), List.of(Assign.add(1)));
        pipeline.run();
        assertEquals(2, count.join() + changed.join());
    }
}
