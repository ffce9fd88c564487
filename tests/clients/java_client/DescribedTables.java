import handlersocket2.DecodeException;
import handlersocket2.Description;
import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import handlersocket2.ReplyException;
import handlersocket2.Row;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32;

/** Descriptions, hello, error texts and a time for the server. It prints one line for each step. */
final class DescribedTables {
    private static final DateTimeFormatter MOMENT = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSSSS");

    private DescribedTables() {}

    private static void step(String name, Object result) {
        System.out.println(name + "\t" + result);
    }

    /**
     * All rows of the tables t0, t1 …, each value with its type. Large values are shown as their checksum. What has been
     * read is written to the tables c0, c1 ….
     */
    static void types(HandlerSocketClient client, int tables) {
        for (int i = 0; i < tables; i++) {
            Description description = client.table("t" + i).describe();
            step("type " + i, description.columns().get(1).type() + " " + description.key().get(0).name());
            Index<Row> copy = client.index("c" + i, "id", "v");
            for (Row row : client.index(description).find(Find.range().limit(1000))) {
                String shown = shown(row);
                step("row " + i, row.get("id") + " " + shown);
                if (!shown.startsWith("decode")) {
                    copy.insert(row.toMap());
                }
            }
        }
    }

    private static String shown(Row row) {
        Object value;
        try {
            value = row.get("v");
        } catch (DecodeException problem) {
            return "decode " + row.getString("v");
        }
        if (value instanceof String text) {
            return "String " + sum(text.getBytes(StandardCharsets.UTF_8));
        }
        if (value instanceof byte[] bytes) {
            return "byte[] " + sum(bytes);
        }
        if (value instanceof BigDecimal number) {
            return "BigDecimal " + number.toPlainString();
        }
        if (value instanceof LocalDateTime moment) {
            return "LocalDateTime " + MOMENT.format(moment);
        }
        if (value instanceof Duration time) {
            return "Duration " + time.toNanos();
        }
        return value == null ? "null" : value.getClass().getSimpleName() + " " + value;
    }

    private static long sum(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }

    /** After each line that comes in, the table has changed. */
    static void altered(HandlerSocketClient client) throws IOException {
        Description old = client.table("t").describe();
        Index<Row> index = client.index(old);
        step("first", index.findOne(1).map(Row::toMap));
        System.in.read();
        // Another column does not matter to an index that names its own.
        step("wider", index.findOne(1).map(Row::toMap) + " " + client.table("t").describe().columns().size());
        System.in.read();
        try {
            step("another type", index.findOne(1).map(Row::toMap));
        } catch (DecodeException problem) {
            step("another type", problem.kind() + " " + index.findOne(1).orElseThrow().getString("v"));
        }
        step("described again", client.index(client.table("t").describe()).findOne(1).map(Row::toMap));
        System.in.read();
        Optional<String> gone = error(() -> index.findOne(1));
        step("no column", gone.orElse("") + " " + client.table("t").columns("id").describe().columns().size());
        // What was opened and is gone has its name alone.
        Description.Column left = client.table("t").columns("id", "v").describe().columns().get(1);
        step("its name", left);
        System.in.read();
        // The server was started again.
        Index<Row> again = client.index(client.table("t").describe()).withTimeout(Duration.ofSeconds(20));
        Pipeline pipeline = client.pipeline();
        CompletableFuture<Optional<Row>> one = pipeline.on(again).findOne(1);
        CompletableFuture<List<Row>> both = pipeline.on(again).find(Find.range().limit(9));
        pipeline.run();
        step("restarted", one.join().map(Row::toMap) + " " + both.join().size());
    }

    private static Optional<String> error(Runnable call) {
        try {
            call.run();
            return Optional.empty();
        } catch (ReplyException problem) {
            return Optional.of(problem.text());
        }
    }

    /** What the server says of errors; one line each for what SQL is asked, too. */
    static void texts(HandlerSocketClient client) {
        Index<Row> t = client.index("t", "id", "small", "word");
        fail("duplicate", () -> t.insert(List.of(1, 0, "x")));
        fail("range", () -> t.insert(List.of(9, 400, "x")));
        fail("several", () -> t.insertMany(List.of(Map.of("id", 8, "word", "a"), Map.of("id", 1, "word", "b")),
                handlersocket2.Duplicate.FAIL));
        Group group = client.group();
        group.on(t).insert(List.of(5, 5, "e"));
        group.on(t).insert(List.of(1, 0, "x"));
        fail("group", group::run);
        fail("iterate", () -> client.index("t", "nosuch").iterate(Find.range()).hasNext());
        step("hello", client.hello());
    }

    private static void fail(String name, Runnable call) {
        try {
            call.run();
        } catch (ReplyException problem) {
            step(name, problem.number().orElse(0) + "\t" + problem.sqlState().orElse("-") + "\t"
                    + problem.serverMessage().orElse("-") + "\t" + problem.line());
        }
    }

    /** Row 1 is locked by another session. */
    static void within(HandlerSocketClient client) {
        Index<Row> t = client.index("t", "id", "v").within(Duration.ofMillis(150));
        long began = System.nanoTime();
        step("update", error(() -> t.update(Find.eq(1), Map.of("v", 9))));
        Group group = client.group().within(Duration.ofMillis(150));
        CompletableFuture<?> part = group.on(t).insert(List.of(3, 3));
        group.on(t).delete(Find.eq(1));
        step("group", error(group::run) + " " + part.handle((result, problem) -> problem != null).join());
        step("quick", System.nanoTime() - began < 5_000_000_000L);
        step("in time", t.findOne(1).map(Row::toMap) + " " + t.update(Find.eq(2), Map.of("v", 8)));
        step("iterated", t.stream(Find.range().limit(9)).count() + " " + t.count(Find.range()));
    }
}
