package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each method of an index sends, and what it makes of the answer. */
class RequestsTest {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private FakeServer server;
    private HandlerSocketClient client;
    private Index<Row> index;

    record Person(String name, int age) {}

    @BeforeEach
    void begin() throws Exception {
        server = new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                lines.add(line.replace('\t', ' ').replace('\0', '0'));
                String[] token = line.split("\t", -1);
                List<String> all = Arrays.asList(token);
                boolean rows = all.contains("U?") || all.contains("D?") || all.contains("+?") || all.contains("-?");
                boolean modifies = all.contains("U") || all.contains("D") || all.contains("-")
                        || all.lastIndexOf("+") > 1;
                peer.send(token[0].equals("P") || token[1].equals("+") ? "0\t1\n"
                        : rows ? "0\t3\tAnn\t3\t1\n" : modifies ? "0\t1\t2\n" : "0\t3\n");
            }
        });
        client = server.client().build();
        index = client.table("t").index("i").columns("name", "age", "id").filterColumns("x", "y")
                .keyColumns("k1", "k2").open();
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
    void finds() {
        index.findOne(1);
        sent("P 1 db t i name,age,id x,y", "1 = 1 1");
        index.findOne(1, "a");
        index.findOne((Object) null);
        index.findOne((Object[]) null);
        index.find(Find.ge(5).limit(10).offset(3));
        index.find(Find.gt(5).limit(10));
        index.find(Find.lt(5));
        index.find(Find.le(5).offset(1));
        index.findIn(List.of(7, 8, 9));
        index.find(Find.eq(1, 0).in(1, List.of("a", "b")).limit(5));
        index.find(Find.eq(1, 0).in("k2", List.of("a")));
        index.find(Find.named("=", Map.of("k2", "b", "k1", "a")));
        index.find(Find.ge(0).limit(9).filter("y", "!=", null).whilst("x", "<", 5));
        sent("1 = 2 1 a", "1 = 1 0", "1 = 1 0", "1 >= 1 5 10 3", "1 > 1 5 10", "1 < 1 5", "1 <= 1 5 1 1",
                "1 = 1  3 0 @ 0 3 7 8 9", "1 = 2 1 0 5 0 @ 1 2 a b", "1 = 2 1 0 1 0 @ 1 1 a", "1 = 2 a b",
                "1 >= 1 0 9 0 F != 1 0 W < 0 5");
        assertEquals(List.of(), index.findIn(List.of()));
        assertEquals(List.of(), index.async().findIn(List.of()).join());
        assertEquals(0, index.delete(Find.eq(1).in(0, List.of())));
        sent();
    }

    @Test
    void modifications() {
        assertEquals(2, index.update(Find.eq(1), List.of("Anna")));
        assertEquals(2, index.update(Find.eq(1).limit(7), Values.of("name", "Anna").and("age", null)));
        assertEquals(2, index.update(Find.eq(1), Map.of("age", 4)));
        assertEquals(2, index.delete(Find.eq(1).in(0, List.of(3, 4))));
        assertEquals(2, index.increment(Find.eq(1), Map.of("age", 1)));
        assertEquals(2, index.decrement(Find.eq(1), List.of(0, 1)));
        sent("P 1 db t i name,age,id x,y", "1 = 1 1 1 0 U Anna",
                "P 2 db t i name,age x,y", "2 = 1 1 7 0 U Anna 0",
                "P 3 db t i age x,y", "3 = 1 1 1 0 U 4",
                "1 = 1 1 2 0 @ 0 2 3 4 D", "3 = 1 1 1 0 + 1", "1 = 1 1 1 0 - 0 1");
    }

    @Test
    void rowsBefore() {
        assertEquals("Ann", index.fetchAndUpdate(Find.eq(1), List.of("B")).get(0).getString("name"));
        Row byName = index.fetchAndUpdate(Find.eq(1), Map.of("age", 5)).get(0);
        // The other columns stand behind those that are set.
        assertEquals("Ann", byName.getString("age"));
        assertEquals("3", byName.getString("name"));
        index.fetchAndIncrement(Find.eq(1), Map.of("name", 1));
        index.fetchAndDecrement(Find.eq(1), List.of(1));
        assertEquals("1", index.fetchAndDelete(Find.eq(1)).get(0).getString("id"));
        sent("P 1 db t i name,age,id x,y", "1 = 1 1 1 0 U? B",
                "P 2 db t i age,name,id x,y", "2 = 1 1 1 0 U? 5",
                "1 = 1 1 1 0 +? 1", "1 = 1 1 1 0 -? 1", "1 = 1 1 1 0 D?");
    }

    @Test
    void inserts() {
        assertEquals(OptionalLong.empty(), index.insert(Arrays.asList("Bob", null)));
        index.insert(new Person("Cleo", 3));
        Map<String, Object> named = new LinkedHashMap<>();
        named.put("id", 5);
        named.put("name", null);
        index.async().insert(named).join();
        sent("P 1 db t i name,age,id x,y", "1 + 2 Bob 0", "P 2 db t i name,age x,y", "2 + 2 Cleo 3",
                "P 3 db t i id,name x,y", "3 + 2 5 0");
    }

    @Test
    void whatCannotBeMeant() {
        assertThrows(UsageException.class, () -> index.findOne());
        assertThrows(UsageException.class, () -> Find.where("!=", 1));
        assertThrows(UsageException.class, () -> Find.eq(1).filter("x", "~", 1));
        assertThrows(UsageException.class, () -> Find.eq(1).limit(0));
        assertThrows(UsageException.class, () -> Find.eq(1).offset(-1));
        assertThrows(UsageException.class, () -> index.find(Find.eq(1).filter("name", "=", 1)));
        assertThrows(UsageException.class, () -> index.find(Find.eq(1).in(1, List.of(2))));
        assertThrows(UsageException.class, () -> index.find(Find.named("=", Map.of("k2", 1))));
        assertThrows(UsageException.class, () -> index.find(Find.named("=", Map.of("other", 1))));
        assertThrows(UsageException.class, () -> index.insert(List.of()));
        assertThrows(UsageException.class, () -> index.insert(List.of(1, 2, 3, 4)));
        assertThrows(UsageException.class, () -> index.update(Find.eq(1), List.of(1, 2, 3, 4)));
        assertThrows(UsageException.class, () -> index.findOne(Double.NaN));
        assertThrows(UsageException.class, () -> index.async().findOne(new Object()));
        assertThrows(UsageException.class, () -> client.index("a\tb", "x"));
        assertThrows(UsageException.class, () -> client.index("t", "x,y"));
        assertThrows(UsageException.class, () -> client.index("t", "x", "x"));
        assertThrows(UsageException.class, () -> HandlerSocketClient.builder().build().index("t", "a"));
        sent();
    }

    /** Connections know an index by a number, which each client counts for itself: it would be another table. */
    @Test
    void anIndexOfAnotherClient() throws Exception {
        try (FakeServer other = new FakeServer(FakeServer::echo);
                HandlerSocketClient foreign = other.client().build()) {
            Index<Row> stranger = foreign.index("elsewhere", "a");
            assertThrows(UsageException.class, () -> client.pipeline().on(stranger));
            assertThrows(UsageException.class, () -> client.group().on(stranger));
            assertThrows(UsageException.class, () -> client.group().some(stranger));
            assertThrows(UsageException.class, () -> client.group().none(stranger));
        }
        sent();
    }
}
