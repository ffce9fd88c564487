import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures lookups of random rows by many callers that share one client. Each asks for one row at a time and compares
 * what it gets with its key. A caller is a virtual thread (where Java has them), or a chain of futures.
 *
 * <pre>java -cp CLASSES Bench CLIENT CALLERS WARM_UP SECONDS READ_PORT REDIS_PORT SQL_PORT ROWS</pre>
 *
 * It writes the line "begin" after warming up, and then the result as a line of JSON; bench/clients/measure.py reads
 * both.
 */
public final class Bench {
    /** One of so many requests is timed. */
    private static final int TIMED_ONE_OF = 8;

    private static final int SAMPLES = 1 << 22;

    private final int callers;
    private final int rows;
    private final LongAdder requests = new LongAdder();
    private final float[] times = new float[SAMPLES];
    private final AtomicInteger timed = new AtomicInteger();
    private volatile boolean over;

    private Bench(int callers, int rows) {
        this.callers = callers;
        this.rows = rows;
    }

    public static void main(String[] arguments) throws Exception {
        int callers = Integer.parseInt(arguments[1]);
        int rows = Integer.parseInt(arguments[7]);
        Clients clients = new Clients(callers, arguments[4], arguments[5], arguments[6]);
        Object lookup = clients.open(arguments[0]);
        new Bench(callers, rows).run(lookup, Double.parseDouble(arguments[2]));
        System.out.println("begin");
        System.out.println(new Bench(callers, rows).run(lookup, Double.parseDouble(arguments[3])));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Looks up one row, and ends the program if it is a wrong one. */
    interface Lookup {
        void find(int key) throws Exception;
    }

    /** The same with a future. */
    interface AsyncLookup {
        CompletionStage<?> find(int key);
    }

    private String run(Object lookup, double seconds) throws Exception {
        CountDownLatch ended = new CountDownLatch(callers);
        Executor threads = threads();
        long began = System.nanoTime();
        for (int i = 0; i < callers; i++) {
            SplittableRandom random = new SplittableRandom(began + i);
            if (lookup instanceof AsyncLookup async) {
                next(async, random, 0, ended);
            } else {
                threads.execute(() -> loop((Lookup) lookup, random, ended));
            }
        }
        Thread.sleep((long) (seconds * 1000));
        over = true;
        ended.await();
        double took = (System.nanoTime() - began) / 1e9;
        int count = Math.min(SAMPLES, timed.get());
        Arrays.sort(times, 0, count);
        return String.format(
                "{\"requests\": %d, \"seconds\": %f, \"p50\": %f, \"p99\": %f}",
                requests.sum(), took, percentile(count, 50), percentile(count, 99));
    }

    private float percentile(int count, int percent) {
        return count == 0 ? 0 : times[(int) ((long) count * percent / 100)];
    }

    /** Starts a thread for each task, a virtual one if this Java has them. */
    private static Executor threads() {
        try {
            var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return task -> {
                try {
                    start.invoke(null, task);
                } catch (ReflectiveOperationException problem) {
                    throw new IllegalStateException(problem);
                }
            };
        } catch (NoSuchMethodException older) {
            return task -> new Thread(task).start();
        }
    }

    private void loop(Lookup lookup, SplittableRandom random, CountDownLatch ended) {
        try {
            int count = 0;
            for (; !over; count++) {
                int key = 1 + random.nextInt(rows);
                if (count % TIMED_ONE_OF != 0) {
                    lookup.find(key);
                    continue;
                }
                long asked = System.nanoTime();
                lookup.find(key);
                note(asked);
            }
            requests.add(count);
        } catch (Throwable problem) {
            fail(problem);
        }
        ended.countDown();
    }

    private void next(AsyncLookup lookup, SplittableRandom random, int count, CountDownLatch ended) {
        if (over) {
            requests.add(count);
            ended.countDown();
            return;
        }
        int key = 1 + random.nextInt(rows);
        long asked = count % TIMED_ONE_OF == 0 ? System.nanoTime() : 0;
        lookup.find(key).whenComplete((row, problem) -> {
            if (problem != null) {
                fail(problem);
            }
            if (asked != 0) {
                note(asked);
            }
            next(lookup, random, count + 1, ended);
        });
    }

    private void note(long asked) {
        int place = timed.getAndIncrement();
        if (place < SAMPLES) {
            times[place] = (System.nanoTime() - asked) / 1000f;
        }
    }

    private static void fail(Throwable problem) {
        problem.printStackTrace();
        Runtime.getRuntime().halt(1);
    }
}
