import handlersocket2.AsyncIndex;
import handlersocket2.Column;
import handlersocket2.Failure;
import handlersocket2.Find;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import handlersocket2.ReplyException;
import handlersocket2.Row;
import handlersocket2.RowIterator;
import handlersocket2.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Year;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What applications do with the Java client; test_java_client.py starts it. The first argument says what, the second is
 * the client's URL. It prints one line for each step, and fails if a result is wrong.
 */
public final class Application {

    enum Size {
        small,
        large
    }

    record Everything(
            int id,
            @Column("u64") BigInteger unsigned,
            long i64,
            BigDecimal dec,
            double dbl,
            String txt,
            byte[] bin,
            LocalDate day,
            LocalDateTime moment,
            Duration span,
            Year year,
            Size size,
            boolean flag,
            UUID uuid) {}

    record Employee(int id, String name, Integer salary) {}

    public static void main(String[] arguments) throws Exception {
        try (HandlerSocketClient client = HandlerSocketClient.open(arguments[1])) {
            switch (arguments[0]) {
                case "types" -> types(client);
                case "work" -> work(client, arguments.length > 2);
                case "load" -> load(client, Integer.parseInt(arguments[2]));
                case "stream" -> stream(client, Integer.parseInt(arguments[2]));
                case "faults" -> faults(client, Integer.parseInt(arguments[2]));
                case "one" -> one(client);
                case "new" -> NewRequests.run(client);
                case "groups" -> GroupRequests.run(client);
                case "described" -> DescribedTables.types(client, Integer.parseInt(arguments[2]));
                case "altered" -> DescribedTables.altered(client);
                case "lists" -> ListedTables.run(client, arguments[2]);
                case "texts" -> DescribedTables.texts(client);
                case "within" -> DescribedTables.within(client);
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }
    }

    private static void step(String name, Object result) {
        System.out.println(name + "\t" + result);
    }

    private static void same(Object expected, Object got) {
        if (!Objects.deepEquals(expected, got)) {
            throw new AssertionError(expected + " is " + got);
        }
    }

    private static void types(HandlerSocketClient client) {
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426655440000");
        Everything wanted = new Everything(
                1, new BigInteger("18446744073709551615"), Long.MIN_VALUE, new BigDecimal("-1234567890123456789.0123456789"),
                0.1, "j\u00fcrgen \ud83d\ude00\t\n\0\u0001", new byte[] {0, 1, 9, 10, 13, -1}, LocalDate.of(2024, 2, 29),
                LocalDateTime.of(2024, 2, 29, 23, 59, 59, 123_456_000), Duration.ofSeconds(-95400, -500_000_000),
                Year.of(2155), Size.large, true, uuid);
        Index<Everything> table = client.table("everything").open(Everything.class);
        // A BIT is bytes, so it is written as bytes.
        Values values = Values.of("id", 1).and("u64", wanted.unsigned()).and("i64", wanted.i64()).and("dec", wanted.dec())
                .and("dbl", wanted.dbl()).and("txt", wanted.txt()).and("bin", wanted.bin()).and("day", wanted.day())
                .and("moment", wanted.moment()).and("span", wanted.span()).and("year", wanted.year())
                .and("size", wanted.size()).and("flag", new byte[] {1}).and("uuid", uuid);
        same(OptionalLong.empty(), table.insert(values));
        Everything got = table.findOne(1).orElseThrow();
        step("types", got.unsigned() + " " + got.i64() + " " + got.dec() + " " + got.dbl() + " " + got.day() + " "
                + got.moment() + " " + got.span() + " " + got.year() + " " + got.size() + " " + got.flag() + " " + got.uuid());
        same(wanted.txt(), got.txt());
        same(wanted.bin(), got.bin());
        Index<Row> rows = client.table("everything").index("by_moment").columns("id", "u64", "txt").open();
        same(1, rows.find(Find.eq(wanted.moment())).get(0).getInt("id"));
        same(-1L, rows.findOne(wanted.moment()).orElseThrow().getUnsignedLong("u64"));
        table.insert(Values.of("id", 2).and("u64", null));
        same(null, rows.findOne((Object) null).orElseThrow().getBigInteger("u64"));
        step("null", rows.findOne((Object) null).orElseThrow().isNull("txt"));
        Index<Row> counted = client.index("counted", "id", "v");
        step("ids", counted.insert(Values.of("v", "a")) + " " + counted.insert(Values.of("id", Long.toUnsignedString(-2)).and("v", "b")));
        step("unsigned id", Long.toUnsignedString(counted.findOne("18446744073709551614").orElseThrow().getUnsignedLong("id")));
    }

    private static void work(HandlerSocketClient client, boolean original) {
        client.ping();
        Index<Employee> employees = client.table("employee").filterColumns("salary").open(Employee.class);
        step("find", employees.findOne(1));
        step("nothing", employees.findOne(99));
        step("range", employees.find(Find.ge(2).limit(10)));
        step("down", employees.find(Find.lt(3).limit(10)));
        step("offset", employees.find(Find.ge(1).limit(2).offset(1)));
        step("in", employees.findIn(List.of(3, 1, 99)));
        step("filter", employees.find(Find.ge(1).limit(10).filter("salary", ">", 200).filter("salary", "!=", 400)));
        step("while", employees.find(Find.ge(1).limit(10).whilst("salary", "<", 300)));
        Index<Employee> byName = client.table("employee").index("by_name").keyColumns("name").open(Employee.class);
        step("by name", byName.find(Find.named("=", Map.of("name", "Bob"))));
        step("insert", employees.insert(new Employee(10, "J\u00fcrgen\t\n\0", 5000)));
        step("insert null", employees.insert(Arrays.asList(11, null, null)));
        try {
            employees.insert(new Employee(1, "x", 1));
        } catch (ReplyException duplicate) {
            step("duplicate", duplicate.category() + " " + duplicate.text() + " " + duplicate.isSafeToRetry());
        }
        step("update", employees.update(Find.eq(2), Map.of("name", "Bobby")));
        step("update in front", employees.update(Find.eq(3), List.of(3, "Chloe", 1)));
        step("increment", employees.increment(Find.eq(1), Map.of("salary", 12)));
        step("decrement", employees.decrement(Find.eq(2), Map.of("salary", 50)));
        if (original) {
            // It would change the columns that get no value, too.
            employees.increment(Find.eq(4), Map.of("salary", 1));
        } else {
            step("fetch and increment", employees.fetchAndIncrement(Find.eq(4), Map.of("salary", 1)));
            step("fetch and update", employees.fetchAndUpdate(Find.ge(1).limit(2), Map.of("name", "Both")));
        }
        step("update both", employees.update(Find.eq(1), Map.of("name", "Ann")) + employees.update(Find.eq(2), Map.of("name", "Bobby")));
        step("delete", employees.delete(Find.eq(11)));
        step("fetch and delete", employees.fetchAndDelete(Find.eq(10)).get(0).salary());
        Pipeline pipeline = client.pipeline();
        AsyncIndex<Employee> piped = pipeline.on(employees);
        CompletableFuture<OptionalLong> inserted = piped.insert(new Employee(12, "Eve", null));
        CompletableFuture<Optional<Employee>> seen = piped.findOne(12);
        CompletableFuture<?> wrong = piped.findOne(1, 2, 3);
        pipeline.run();
        step("pipeline", inserted.join() + " " + seen.join() + " " + wrong.isCompletedExceptionally());
        try {
            client.index("missing", "a").findOne(1);
        } catch (ReplyException missing) {
            step("missing", missing.category() + " " + missing.text());
        }
    }

    private static void load(HandlerSocketClient client, int rows) throws Exception {
        Index<Row> table = client.index("numbers", "id", "v");
        AtomicReference<Throwable> problem = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Random random = new Random(i);
            Thread thread = thread(i, () -> {
                try {
                    for (int n = 0; n < 300; n++) {
                        int key = 1 + random.nextInt(rows);
                        check(key, table.findOne(key));
                        List<CompletableFuture<Optional<Row>>> futures = new ArrayList<>();
                        for (int f = 0; f < 10; f++) {
                            futures.add(table.async().findOne(key + f));
                        }
                        for (int f = 0; f < 10; f++) {
                            if (key + f <= rows) {
                                check(key + f, futures.get(f).get());
                            }
                        }
                        done.addAndGet(11);
                    }
                } catch (Throwable failure) {
                    problem.set(failure);
                }
            });
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (problem.get() != null) {
            throw new AssertionError(problem.get());
        }
        step("load", done + " " + client.counters().connectionsMade() + " " + client.counters().errors());
    }

    private static void check(int key, Optional<Row> row) {
        same(key, row.orElseThrow().getInt("id"));
        same("value of " + key, row.orElseThrow().getString("v"));
    }

    /** Every second thread is a virtual one, where there are any. */
    private static Thread thread(int number, Runnable work) throws Exception {
        if (number % 2 == 1 && Runtime.version().feature() >= 21) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        }
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    private static void stream(HandlerSocketClient client, int rows) throws Exception {
        Index<Row> table = client.index("numbers", "id", "v");
        int next = 1;
        try (RowIterator<Row> iterator = table.iterate(Find.ge(1).limit(rows))) {
            while (iterator.hasNext()) {
                Row row = iterator.next();
                check(next, Optional.of(row));
                if (next % 50_000 == 1) {
                    Thread.sleep(50);
                    check(next, table.findOne(next));
                }
                next++;
            }
        }
        step("stream", next - 1);
        step("some", table.stream(Find.ge(1).limit(rows)).limit(3).map(row -> row.getInt("id")).toList());
        step("long find", table.find(Find.ge(1).limit(rows)).size());
    }

    /** Writes until the time is over, whatever happens to the server, and says what became of each write. */
    private static void faults(HandlerSocketClient client, int seconds) throws Exception {
        Index<Row> table = client.index("ledger", "v").withTimeout(Duration.ofSeconds(5));
        step("ready", "");
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            threads.add(thread(i, () -> {
                for (int n = 0; System.nanoTime() < end; n++) {
                    String value = number + "-" + n;
                    String fate;
                    try {
                        if (number % 4 < 2) {
                            table.insert(List.of(value));
                        } else {
                            table.async().insert(List.of(value)).join();
                        }
                        fate = "done";
                    } catch (RuntimeException problem) {
                        Throwable cause = problem instanceof CompletionException ? problem.getCause() : problem;
                        fate = ((Failure) cause).isSafeToRetry() ? "not done" : "unsure";
                    }
                    synchronized (Application.class) {
                        step(fate, value);
                    }
                    if (fate.equals("not done")) {
                        pause();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
        }
    }

    private static void one(HandlerSocketClient client) {
        try {
            step("found", client.index("employee", "id", "name").findOne(1).map(row -> row.getString("name")));
            step("updated", client.index("employee", "id", "name").update(Find.eq(2), Map.of("name", "new")));
        } catch (RuntimeException problem) {
            String text = problem instanceof ReplyException reply ? reply.text() : "";
            step("failed", ((Failure) problem).kind() + " " + text);
        }
    }
}
