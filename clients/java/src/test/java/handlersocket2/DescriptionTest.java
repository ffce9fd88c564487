package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Descriptions, and indexes that are made of them. */
@SuppressWarnings("unchecked")
class DescriptionTest {
    private static final String KEY = "\tkey\ta\tint(11)\t0\t0\t0\t\0\n";
    private static final String TWO_COLUMNS =
            "0\t7\tcolumn\ta\tint(11)\t0\t0\t0\t\0\tcolumn\tb\ttext\t1\t0\t0\tutf8mb4" + KEY;

    private static IndexBuilder table(HandlerSocketClient client, Map<String, Object> vector) {
        IndexBuilder table = client.table("t").filterColumns(names(vector.get("filter_columns")));
        return vector.get("columns") == null ? table : table.columns(names(vector.get("columns")));
    }

    private static String[] names(Object list) {
        return ((List<Object>) list).toArray(new String[0]);
    }

    /** Each of the vectors, and the good ones cut in two at each place. */
    @Test
    void vectorsCutAnywhere() throws Exception {
        int described = 0;
        for (Map<String, Object> vector : Json.vectors("descriptions.json")) {
            // No columns can be opened, but not be asked for: that asks for all of them.
            if (!List.of().equals(vector.get("columns"))) {
                described += vector(vector);
            }
        }
        assertTrue(described > 250);
    }

    private static int vector(Map<String, Object> vector) throws Exception {
        String why = (String) vector.get("why");
        String answer = (String) vector.get("line");
        AtomicInteger cut = new AtomicInteger();
        FakeServer.Conversation conversation = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                if (line.startsWith("P")) {
                    peer.send("0\t1\n");
                    continue;
                }
                int at = cut.getAndIncrement() % answer.length();
                peer.send(answer.substring(0, at));
                if (at % 3 == 0) {
                    Thread.sleep(1);
                }
                peer.send(answer.substring(at));
            }
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().build()) {
            Object columns = vector.get("columns");
            if (columns != null && ((List<String>) columns).contains("a\tb")) {
                assertThrows(UsageException.class, () -> table(client, vector).describe(), why);
                return 0;
            }
            if (vector.containsKey("no_reply")) {
                ProtocolException wrong =
                        assertThrows(ProtocolException.class, () -> table(client, vector).describe(), why);
                assertTrue(wrong.wasSent() && wrong.isSafeToRetry());
                return 0;
            }
            if (vector.containsKey("error")) {
                Map<String, Object> error = (Map<String, Object>) vector.get("error");
                ReplyException reply = assertThrows(ReplyException.class, () -> table(client, vector).describe(), why);
                assertEquals(error.get("text"), reply.text());
                assertEquals(error.get("code"), BigInteger.valueOf(reply.code()));
                return 0;
            }
            for (int i = 0; i < answer.length(); i++) {
                IndexBuilder table = table(client, vector);
                Description got = i % 2 == 0 ? table.describe() : table.describeAsync().get(5, TimeUnit.SECONDS);
                assertEquals(vector.get("described"), ScenarioResults.described(got), why);
            }
            assertEquals(1, client.counters().connectionsMade());
            return answer.length();
        }
    }

    @Test
    void aColumnBetweenPartsOfTheKey() throws Exception {
        String key = KEY.substring(0, KEY.length() - 1);
        try (FakeServer server = answering("0\t7" + key + "\tcolumn\ta\tint(11)\t0\t0\t0\t\0" + KEY);
                HandlerSocketClient client = server.client().build()) {
            assertThrows(ProtocolException.class, () -> client.table("t").columns("a").describe());
            assertThrows(ProtocolException.class, () -> client.table("t").describe());
        }
    }

    @Test
    void types() {
        Map<Object, Class<?>> classes = Map.of(
                "integer", Long.class, "decimal", BigDecimal.class, "float", Double.class, "text", String.class,
                "bytes", byte[].class, "date", LocalDate.class, "moment", LocalDateTime.class,
                "time", Duration.class, "uuid", UUID.class);
        for (Map<String, Object> vector : Json.vectors("types.json")) {
            String type = (String) vector.get("type");
            String charset = (String) vector.get("charset");
            assertEquals(classes.get(vector.get("is")), column("c", type, false, charset).javaType(), type);
        }
        assertEquals(BigInteger.class, column("c", "bigint(20) unsigned", true, null).javaType());
        assertEquals(Long.class, column("c", "int(10) unsigned", true, null).javaType());
        assertEquals(String.class, column("c", "VARCHAR(3)", false, null).javaType());
    }

    private static Description.Column column(String name, String type, boolean unsigned, String charset) {
        return new Description.Column(name, type, true, unsigned, 0, charset);
    }

    private static Description described(Description.Column... columns) {
        return new Description("db", "t", "PRIMARY", List.of(columns), List.of(), List.of(columns[0]));
    }

    /** A client of a server that opens everything and answers each find with this row. */
    private static FakeServer answering(String row) throws Exception {
        return new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(line.startsWith("P") ? "0\t1\n" : row);
            }
        });
    }

    private static final Description EVERY_TYPE = described(
            column("i", "int(11)", false, null), column("u", "bigint(20) unsigned", true, null),
            column("d", "decimal(10,2)", false, null), column("f", "double", false, null),
            column("s", "varchar(9)", false, "utf8mb4"), column("b", "blob", false, null),
            column("day", "date", false, null), column("moment", "datetime(6)", false, null),
            column("span", "time(6)", false, null), column("uuid", "uuid", false, null),
            column("y", "year(4)", false, null), new Description.Column("unseen", null, null, null, null, null));

    @Test
    void valuesHaveTheirTypes() throws Exception {
        String uuid = "123e4567-e89b-12d3-a456-426655440000";
        try (FakeServer server = answering("0\t12\t-5\t18446744073709551615\t1.50\t0.1\t\u00c3\u00a9\u0001I\t\u0001@\u00ff"
                        + "\t2024-02-29\t2024-02-29 23:59:59.5\t-26:30:00.5\t" + uuid + "\t1901\tx\n");
                HandlerSocketClient client = server.client().build()) {
            Row row = client.index(EVERY_TYPE).findOne(1).orElseThrow();
            Map<String, Object> map = row.toMap();
            assertEquals(EVERY_TYPE.columns().stream().map(Description.Column::name).toList(), List.copyOf(map.keySet()));
            assertArrayEquals(new byte[] {0, -1}, (byte[]) map.get("b"));
            assertArrayEquals(new byte[] {'x'}, (byte[]) row.get("unseen"));
            assertEquals(
                    List.of(-5L, new BigInteger("18446744073709551615"), new BigDecimal("1.50"), 0.1, "\u00e9\t",
                            LocalDate.of(2024, 2, 29), LocalDateTime.of(2024, 2, 29, 23, 59, 59, 500_000_000),
                            Duration.ofSeconds(-95401, 500_000_000), UUID.fromString(uuid), 1901L),
                    map.values().stream().filter(value -> !(value instanceof byte[])).toList());
            // A caller may still say another type, and records go on top of it.
            assertEquals("-5", row.getString("i"));
            record Two(short i, String s) {}
            assertEquals(new Two((short) -5, "\u00e9\t"), client.index(EVERY_TYPE).as(Two.class).findOne(1).orElseThrow());
        }
    }

    @Test
    void nullIsNull() throws Exception {
        try (FakeServer server = answering("0\t12" + "\t\0".repeat(12) + "\n");
                HandlerSocketClient client = server.client().build()) {
            Row row = client.index(EVERY_TYPE).findOne(1).orElseThrow();
            assertEquals(Collections.nCopies(12, null), new ArrayList<>(row.toMap().values()));
        }
    }

    /** As after an ALTER TABLE: the call fails, the connection stays. */
    @Test
    void whatDoesNotFitItsOldType() throws Exception {
        try (FakeServer server = answering("0\t12\tx\t-1\tNaN\t1,5\ts\tb\t0000-00-00\t2024-02-29T01:00:00\t1\tu\t\t\n");
                HandlerSocketClient client = server.client().build()) {
            Row row = client.index(EVERY_TYPE).findOne(1).orElseThrow();
            for (String column : List.of("i", "u", "d", "f", "day", "moment", "span", "uuid", "y")) {
                if (column.equals("u")) {
                    assertEquals(BigInteger.ONE.negate(), row.get(column));
                } else {
                    DecodeException wrong = assertThrows(DecodeException.class, () -> row.get(column), column);
                    assertTrue(wrong.getMessage().contains(column));
                }
            }
            assertThrows(DecodeException.class, row::toMap);
            assertEquals("0000-00-00", row.getString("day"));
            CompletableFuture<?> mapped = client.index(EVERY_TYPE).map(Row::toMap).async().findOne(1).toCompletableFuture();
            Throwable reason = mapped.handle((value, error) -> error).get(5, TimeUnit.SECONDS);
            assertTrue(reason instanceof DecodeException, String.valueOf(reason));
            assertEquals(1, client.counters().connectionsMade());
        }
    }

    /** Filters and parts of the key are those of the description; a part that is an expression has no name. */
    @Test
    void namesOfTheDescription() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        Description description = new Description(
                "other", "t", "by_b", List.of(column("a", "int", false, null)), List.of(column("f", "int", false, null)),
                List.of(column("b", "int", false, null), column(null, "bigint", false, null), column("a", "int", false, null)));
        try (FakeServer server = new FakeServer(peer -> {
                    for (String line = peer.line(); line != null; line = peer.line()) {
                        lines.add(line.replace('\t', ' '));
                        peer.send("0\t1\n");
                    }
                });
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index(description);
            assertEquals(List.of(), index.find(Find.named("=", Map.of("b", 1)).filter("f", "<", 2)));
            assertEquals(List.of("P 1 other t by_b a f", "1 = 1 1 1 0 F < 0 2"), List.copyOf(lines));
            assertThrows(UsageException.class, () -> index.find(Find.named("=", Map.of("c", 1))));
        }
    }

    /** Answers P, D and finds, and ends the connection behind so many finds. */
    private static FakeServer shortLived(Queue<String> lines, int finds) throws Exception {
        return new FakeServer(peer -> {
            int left = finds;
            for (String line = peer.line(); line != null && left > 0; line = peer.line()) {
                lines.add(line.replace('\t', ' '));
                boolean find = Character.isDigit(line.charAt(0));
                left -= find ? 1 : 0;
                peer.send(find ? "0\t2\t7\tseven\n" : line.startsWith("P") ? "0\t1\n" : TWO_COLUMNS);
            }
        });
    }

    @Test
    void anIndexWithTypesIsOpenedAgain() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        try (FakeServer server = shortLived(lines, 2);
                HandlerSocketClient client = server.client().retryReads(1).build()) {
            Index<Row> index = client.index(client.table("t").describe());
            for (int i = 0; i < 5; i++) {
                assertEquals(Map.of("a", 7L, "b", "seven"), index.findOne(7).orElseThrow().toMap());
                Thread.sleep(5);
            }
        }
        assertEquals(
                List.of("P 1 db t PRIMARY *", "D 1", "P 2 db t PRIMARY a,b", "2 = 1 7", "2 = 1 7", "P 1 db t PRIMARY a,b",
                        "1 = 1 7", "1 = 1 7", "P 1 db t PRIMARY a,b", "1 = 1 7"),
                List.copyOf(lines));
    }

    @Test
    void pipelinesOfIndexesWithTypes() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        try (FakeServer server = shortLived(lines, 100);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> all = client.index(client.table("t").describe());
            Index<Row> same = client.index(client.table("t").columns("a", "b").describe());
            Pipeline pipeline = client.pipeline();
            List<CompletableFuture<Optional<Row>>> rows = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                rows.add(pipeline.on(i % 2 == 0 ? all : same).findOne(i));
            }
            pipeline.run();
            for (CompletableFuture<Optional<Row>> row : rows) {
                assertEquals(7L, row.join().orElseThrow().get("a"));
            }
            // All columns are another index than some; of those that are named there is one.
            assertEquals(2, lines.stream().filter(line -> line.startsWith("P")).count());
        }
    }

    /** A description that was given up is answered all the same, and nobody gets that answer. */
    @Test
    void aDescriptionIsGivenUp() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (FakeServer server = new FakeServer(peer -> {
                    for (String line = peer.line(); line != null; line = peer.line()) {
                        if (line.startsWith("D")) {
                            go.await(20, TimeUnit.SECONDS);
                        }
                        peer.send(switch (line.charAt(0)) {
                            case 'P' -> "0\t1\n";
                            case 'D' -> TWO_COLUMNS;
                            case 'H' -> "0\t2\ta\tb\n";
                            case 'e' -> "0\t1\tping\n";
                            default -> "0\t1\t5\n";
                        });
                    }
                });
                HandlerSocketClient client = server.client().build()) {
            // The connection is there, so that the hasty one has its time for being sent.
            client.ping();
            CompletableFuture<Description> given = client.table("t").describeAsync();
            IndexBuilder hasty = client.table("t").timeout(Duration.ofSeconds(1));
            CompletableFuture<Description> late = hasty.describeAsync();
            CompletableFuture<Map<String, String>> hello = client.helloAsync();
            CompletableFuture<Optional<Row>> find = client.index("t", "c").async().findOne(5);
            for (int i = 0; i < 5000 && client.counters().inFlight() < 4; i++) {
                Thread.sleep(1);
            }
            assertTrue(given.cancel(true));
            assertTrue(hello.cancel(true));
            Throwable reason = late.handle((value, error) -> error).get(5, TimeUnit.SECONDS);
            assertTrue(reason instanceof RequestTimeoutException time && time.wasSent() && time.isSafeToRetry());
            RequestCancelledException cancelled = assertThrows(RequestCancelledException.class, given::join);
            assertTrue(cancelled.wasSent() && cancelled.isSafeToRetry());
            assertThrows(RequestTimeoutException.class, () -> hasty.columns("c").open().findOne(5));
            go.countDown();
            assertEquals("5", find.get(5, TimeUnit.SECONDS).orElseThrow().get(0));
            assertEquals(2, client.table("t").describe().columns().size());
            assertEquals(4, client.counters().repliesDropped());
            assertEquals(1, client.counters().connectionsMade());
        }
    }

    /** The server keeps the columns of an index that is open, also if the table has others now. */
    @Test
    void allColumnsAreThoseOfNow() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        try (FakeServer server = shortLived(lines, 1);
                HandlerSocketClient client = server.client().build()) {
            for (int i = 0; i < 2; i++) {
                client.table("t").describe();
                client.table("t").columns("a", "b").describe();
            }
        }
        assertEquals(
                List.of("P 1 db t PRIMARY *", "D 1", "P 2 db t PRIMARY a,b", "D 2", "P 1 db t PRIMARY *", "D 1", "D 2"),
                List.copyOf(lines));
    }

    @Test
    void manyOpenIndexes() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        try (FakeServer server = shortLived(lines, Integer.MAX_VALUE);
                HandlerSocketClient client = server.client().build()) {
            List<CompletableFuture<Description>> descriptions = new ArrayList<>();
            for (int i = 0; i < 2500; i++) {
                descriptions.add(client.table("t" + i).describeAsync());
            }
            for (int i = 0; i < 2500; i++) {
                Description description = descriptions.get(i).get(20, TimeUnit.SECONDS);
                assertEquals("t" + i, description.table());
                assertEquals(7L, client.index(description).findOne(7).orElseThrow().get("a"));
            }
            List<String> all = List.copyOf(lines);
            assertEquals(10_000, all.size());
            assertTrue(all.contains("P 2500 db t2499 PRIMARY *") && all.contains("P 5000 db t2499 PRIMARY a,b"));
            assertTrue(all.contains("D 2500") && all.contains("5000 = 1 7"));
        }
    }

    /** Without a port for reading they go over the connection for writing; else over that for reading. */
    @Test
    void theWayOfQuestions() throws Exception {
        LinkedBlockingQueue<RequestEvent> events = new LinkedBlockingQueue<>();
        List<RequestEvent> told = new ArrayList<>();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                events.add(event);
            }
        };
        try (FakeServer server = new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(line.startsWith("P") ? "0\t1\n" : line.startsWith("H") ? "0\t2\ta\tb\n" : TWO_COLUMNS);
            }
        })) {
            for (int readPort : new int[] {0, server.port()}) {
                try (HandlerSocketClient client = HandlerSocketClient.builder()
                        .address("127.0.0.1", readPort, server.port())
                        .database("db")
                        .listener(listener)
                        .build()) {
                    client.table("t").describe();
                    assertEquals(Map.of("a", "b"), client.hello());
                    assertEquals(1, client.counters().connectionsMade());
                    // A caller may have its result before the listener is called.
                    told.add(events.poll(5, TimeUnit.SECONDS));
                    told.add(events.poll(5, TimeUnit.SECONDS));
                }
            }
        }
        assertEquals(
                List.of("write describe t", "write hello", "read describe t", "read hello"),
                told.stream().map(event -> event.route() + " " + event.spanName()).toList());
        assertEquals(List.of(), List.copyOf(events));
        RequestEvent hello = told.get(1);
        assertEquals("hello", hello.attributes().get("db.operation.name"));
        assertFalse(hello.attributes().containsKey("db.collection.name"));
        assertEquals(1, hello.rows());
    }

    /** An address that does not serve is left, and the question goes to the next. */
    @Test
    void anotherAddressAnswers() throws Exception {
        try (FakeServer leaving = new FakeServer(peer -> {
                    for (String line = peer.line(); line != null; line = peer.line()) {
                        peer.send(line.startsWith("P") ? "0\t1\n" : "1\t1\t1047\n");
                    }
                });
                FakeServer serving = shortLived(new ConcurrentLinkedQueue<>(), 9)) {
            for (boolean readPorts : new boolean[] {true, false}) {
                List<Address> addresses = List.of(
                        Address.of("127.0.0.1", readPorts ? leaving.port() : 0, leaving.port()),
                        Address.of("127.0.0.1", readPorts ? serving.port() : 0, serving.port()));
                for (ClientBuilder.ReadFrom from : ClientBuilder.ReadFrom.values()) {
                    try (HandlerSocketClient client =
                            HandlerSocketClient.builder().addresses(addresses).database("db").readFrom(from).build()) {
                        assertEquals(2, client.table("t").describe().columns().size());
                    }
                }
            }
        }
    }

    @Test
    void whatCannotBeMeant() throws Exception {
        CountDownLatch chained = new CountDownLatch(1);
        FakeServer.Conversation waiting = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                if (line.startsWith("D")) {
                    chained.await(5, TimeUnit.SECONDS);
                }
                peer.send(line.startsWith("P") ? "0\t1\n" : TWO_COLUMNS);
            }
        };
        try (FakeServer server = new FakeServer(waiting);
                HandlerSocketClient client = server.client().build();
                HandlerSocketClient nameless = HandlerSocketClient.builder().build()) {
            assertThrows(UsageException.class, () -> client.index("t", "*"));
            assertThrows(UsageException.class, () -> client.table("t").columns("*").describe());
            assertThrows(UsageException.class, () -> client.table("t").columns("a,b").describe());
            assertThrows(UsageException.class, () -> nameless.table("t").describe());
            assertThrows(UsageException.class, () -> client.table("t").timeout(Duration.ofMillis(-1)));
            Description comma = described(column("a,b", "int", false, null));
            assertThrows(UsageException.class, () -> client.index(comma));
            assertThrows(UsageException.class, () -> client.index(described(column(null, "int", false, null))));
            // It would change the first column of the table.
            assertThrows(UsageException.class, () -> client.index("t", "a").update(Find.eq(1), Map.of("*", 1)));
            assertThrows(UsageException.class, () -> client.index("t", "a").insert(Map.of("*", 1)));
            // The reply comes when the next step is there, so that it runs on the client's thread.
            CompletableFuture<?> own = client.table("t").describeAsync().thenAccept(done -> client.table("t").describe());
            chained.countDown();
            Throwable reason = own.handle((value, error) -> error).get(5, TimeUnit.SECONDS);
            assertTrue(reason.getCause() instanceof UsageException, String.valueOf(reason));
        }
    }
}
