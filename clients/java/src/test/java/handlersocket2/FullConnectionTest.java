package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server that opens few indexes on a connection. What it refuses to open goes to a new one. */
class FullConnectionTest {
    /** What the server has executed, by the names of the tables. */
    private final Queue<String> executed = new ConcurrentLinkedQueue<>();

    /** Opens so many indexes on a connection, and answers each request for one of these with the name of its table. */
    private FakeServer.Conversation opens(int most) {
        return peer -> {
            Map<String, String> tables = new HashMap<>();
            int left = 0;
            boolean whole = true;
            List<String> group = new ArrayList<>();
            for (String line = peer.line(); line != null; line = peer.line()) {
                String[] token = line.split("\t", -1);
                if (token[0].equals("P")) {
                    boolean fits = tables.size() < most;
                    if (fits) {
                        tables.put(token[1], token[3]);
                    }
                    peer.send(fits ? "0\t1\n" : "2\t1\tstmtnum\n");
                } else if (token[0].equals("G")) {
                    left = Integer.parseInt(token[1]);
                    whole = true;
                    group.clear();
                } else if (left > 0) {
                    whole &= tables.containsKey(token[0]);
                    group.add(tables.get(token[0]));
                    if (--left == 0) {
                        if (whole) {
                            executed.addAll(group);
                        }
                        peer.send(whole ? "0\t1\n" + "0\t1\t1\n".repeat(group.size())
                                : "2\t1\tstmtnum\n" + "2\t1\tstmtnum\n".repeat(group.size()));
                    }
                } else if (tables.containsKey(token[0])) {
                    executed.add(tables.get(token[0]));
                    peer.send(line.contains("\tU\t") ? "0\t1\t1\n" : "0\t1\t" + tables.get(token[0]) + "\n");
                } else {
                    peer.send("2\t1\tstmtnum\n");
                }
            }
        };
    }

    private static Index<String> index(HandlerSocketClient client, String table) {
        return client.index(table, "a").as(String.class);
    }

    private static <T> T end(CompletableFuture<T> future) throws Exception {
        return future.get(10, TimeUnit.SECONDS);
    }

    @Test
    void moreIndexesThanAConnectionOpens() throws Exception {
        try (FakeServer server = new FakeServer(opens(2));
                HandlerSocketClient client = server.client().build()) {
            for (String table : List.of("t", "u", "v", "w", "t", "x")) {
                assertEquals(Optional.of(table), index(client, table).findOne(1));
                assertEquals(1, index(client, table).update(Find.eq(1), List.of("b")));
            }
            for (String table : List.of("x", "t", "y")) {
                assertEquals(Optional.of(table), end(index(client, table).async().findOne(1)));
            }
            assertEquals(0, client.counters().connectionsLost());
            assertEquals(0, client.counters().errors());
        }
    }

    /** Each is executed once, also those that come behind one that was refused. */
    @Test
    void whatWasSentTogether() throws Exception {
        try (FakeServer server = new FakeServer(opens(2));
                HandlerSocketClient client = server.client().build()) {
            Pipeline pipeline = client.pipeline();
            List<String> tables = List.of("t", "u", "v", "t", "v", "u");
            List<CompletableFuture<Long>> changed = new ArrayList<>();
            for (String table : tables) {
                changed.add(pipeline.on(index(client, table)).update(Find.eq(1), List.of("b")));
            }
            pipeline.run();
            for (CompletableFuture<Long> each : changed) {
                assertEquals(1, end(each));
            }
            assertEquals(tables.stream().sorted().toList(), executed.stream().sorted().toList());
            assertEquals(2, client.counters().connectionsMade());
        }
    }

    @Test
    void aGroup() throws Exception {
        try (FakeServer server = new FakeServer(opens(2));
                HandlerSocketClient client = server.client().build()) {
            assertEquals(1, index(client, "t").update(Find.eq(1), List.of("b")));
            Group group = client.group();
            for (String table : List.of("u", "v")) {
                group.on(index(client, table)).update(Find.eq(1), List.of("b"));
            }
            group.run();
            assertEquals(List.of("t", "u", "v"), List.copyOf(executed));
            for (String table : List.of("x", "y", "z")) {
                group.on(index(client, table)).update(Find.eq(1), List.of("b"));
            }
            ReplyException problem = assertThrows(ReplyException.class, group::run);
            assertEquals("stmtnum", problem.text());
            assertEquals(3, problem.line());
            assertFalse(problem.maybeExecuted());
            assertEquals(List.of("t", "u", "v"), List.copyOf(executed));
        }
    }

    /** The new connection is full, too, when its turn comes. */
    @Test
    void oneThatIsRefusedTwice() throws Exception {
        try (FakeServer server = new FakeServer(opens(1));
                HandlerSocketClient client = server.client().build()) {
            Pipeline pipeline = client.pipeline();
            List<CompletableFuture<Long>> changed = new ArrayList<>();
            for (String table : List.of("t", "u", "v")) {
                changed.add(pipeline.on(index(client, table)).update(Find.eq(1), List.of("b")));
            }
            pipeline.run();
            assertEquals(1, end(changed.get(0)));
            assertEquals(1, end(changed.get(1)));
            ExecutionException problem = assertThrows(ExecutionException.class, () -> end(changed.get(2)));
            ReplyException refused = (ReplyException) problem.getCause();
            assertEquals("stmtnum", refused.text());
            assertTrue(refused.wasSent());
            assertFalse(refused.maybeExecuted());
            assertEquals(List.of("t", "u"), List.copyOf(executed));
            assertEquals(Optional.of("w"), index(client, "w").findOne(1));
        }
    }

    /** Its request was not executed, for its index was not open. */
    @Test
    void lostBehindTheRefusal() throws Exception {
        FakeServer.Conversation cuts = peer -> {
            peer.line();
            boolean first = peer.line().contains("\tfirst");
            peer.send(first ? "0\t1\n0\t1\t1\n" : "0\t1\n0\t1\t2\n");
            peer.line();
            peer.line();
            if (first) {
                peer.send("2\t1\tstmtnum\n");
            }
        };
        try (FakeServer server = new FakeServer(cuts);
                HandlerSocketClient client = server.client().build()) {
            assertEquals(1, index(client, "t").update(Find.eq("first"), List.of("b")));
            assertEquals(2, index(client, "u").update(Find.eq("second"), List.of("b")));
        }
    }

    @Test
    void iterating() throws Exception {
        try (FakeServer server = new FakeServer(opens(2));
                HandlerSocketClient client = server.client().build()) {
            for (String table : List.of("t", "u", "v", "w", "t", "x")) {
                assertEquals(List.of(table), index(client, table).stream(Find.eq(1)).toList());
            }
            assertEquals(3, client.counters().connectionsMade());
            assertEquals(0, client.counters().connectionsLost());
        }
        try (FakeServer server = new FakeServer(opens(0));
                HandlerSocketClient client = server.client().build()) {
            ReplyException problem =
                    assertThrows(ReplyException.class, () -> index(client, "t").stream(Find.eq(1)).toList());
            assertEquals("stmtnum", problem.text());
            assertEquals(1, client.counters().connectionsMade());
        }
    }
}
