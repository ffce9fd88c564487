import handlersocket2.AsyncIndex;
import handlersocket2.Counters;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures lookups of random rows by many callers that share one client. Each asks for one row at a time, gets a record
 * and compares its key. The table bench has the columns id (1 to ROWS), name and n.
 *
 * <pre>java -cp CLASSES:. Lookups URL ROWS SECONDS futures|threads|virtual CALLERS</pre>
 *
 * It measures after as many seconds of warming up, and prints one line: requests a second, the median and the 99th
 * percentile in microseconds, this process's CPU time for a request in microseconds, and requests for each write.
 */
public final class Lookups {
    private static final int SAMPLES = 1 << 20;
    /** One of so many requests is timed. */
    private static final int EVERY = 16;

    record Item(int id, String name, long n) {}

    private final Index<Item> table;
    private final int rows;
    private final LongAdder done = new LongAdder();
    private final int[] micros = new int[SAMPLES];
    private final AtomicInteger samples = new AtomicInteger();

    private Lookups(Index<Item> table, int rows) {
        this.table = table;
        this.rows = rows;
    }

    public static void main(String[] arguments) throws Exception {
        int rows = Integer.parseInt(arguments[1]);
        int seconds = Integer.parseInt(arguments[2]);
        int callers = Integer.parseInt(arguments[4]);
        try (HandlerSocketClient client = HandlerSocketClient.open(arguments[0])) {
            Index<Item> table = client.table("bench").open(Item.class);
            new Lookups(table, rows).run(arguments[3], callers, seconds);
            Counters before = client.counters();
            Duration cpu = cpu();
            Lookups measured = new Lookups(table, rows);
            double took = measured.run(arguments[3], callers, seconds);
            Counters after = client.counters();
            measured.print(took, cpu().minus(cpu), before, after);
        }
    }

    private static Duration cpu() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private double run(String kind, int callers, int seconds) throws Exception {
        CountDownLatch ended = new CountDownLatch(callers);
        long begin = System.nanoTime();
        long end = begin + seconds * 1_000_000_000L;
        for (int i = 0; i < callers; i++) {
            SplittableRandom random = new SplittableRandom(i);
            switch (kind) {
                case "futures" -> next(table.async(), random, end, ended);
                case "threads" -> new Thread(() -> wait(random, end, ended)).start();
                case "virtual" -> {
                    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                    start.invoke(null, (Runnable) () -> wait(random, end, ended));
                }
                default -> throw new IllegalArgumentException(kind);
            }
        }
        ended.await();
        return (System.nanoTime() - begin) / 1e9;
    }

    private void wait(SplittableRandom random, long end, CountDownLatch ended) {
        for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
            int key = 1 + random.nextInt(rows);
            check(key, table.findOne(key).orElseThrow(), now);
        }
        ended.countDown();
    }

    private void next(AsyncIndex<Item> async, SplittableRandom random, long end, CountDownLatch ended) {
        long now = System.nanoTime();
        if (now >= end) {
            ended.countDown();
            return;
        }
        int key = 1 + random.nextInt(rows);
        async.findOne(key).whenComplete((row, problem) -> {
            if (problem != null) {
                problem.printStackTrace();
                System.exit(1);
            }
            check(key, row.orElseThrow(), now);
            next(async, random, end, ended);
        });
    }

    private void check(int key, Item item, long began) {
        if (item.id() != key) {
            System.err.println("a wrong row");
            System.exit(1);
        }
        done.increment();
        if (key % EVERY == 0) {
            int sample = samples.getAndIncrement();
            if (sample < SAMPLES) {
                micros[sample] = (int) ((System.nanoTime() - began) / 1000);
            }
        }
    }

    private void print(double took, Duration cpu, Counters before, Counters after) {
        int count = Math.min(SAMPLES, samples.get());
        Arrays.sort(micros, 0, count);
        double requests = done.sum();
        System.out.printf(
                "%.0f/s p50 %d p99 %d cpu %.2f requests/write %.1f%n",
                requests / took,
                count == 0 ? 0 : micros[count / 2],
                count == 0 ? 0 : micros[count * 99 / 100],
                cpu.toNanos() / 1e3 / requests,
                (after.requests() - before.requests()) / (double) Math.max(1, after.writes() - before.writes()));
    }
}
