import handlersocket2.Failure;
import handlersocket2.HandlerSocketClient;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * The Java client's program of the clients' soak: {@code Soak URL SEED CALLERS}. The README of the soak says what it
 * does. Callers with an even number wait for replies, those with an odd one join futures. All of them share one client.
 */
public final class Soak {
    private final HandlerSocketClient client;
    private final LongAdder succeeded = new LongAdder();
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<Caller> callers = new ArrayList<>();
    private final CountDownLatch working;

    private Soak(HandlerSocketClient client, long seed, int count) {
        this.client = client;
        working = new CountDownLatch(count);
        for (int number = 0; number < count; number++) {
            Calls calls = number % 2 == 0 ? new BlockingCalls() : new FutureCalls();
            callers.add(new Caller(client, calls, number, seed, succeeded));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        long seed = Long.parseLong(arguments[1]);
        int count = Integer.parseInt(arguments[2]);
        try (HandlerSocketClient client = HandlerSocketClient.open(arguments[0])) {
            new Soak(client, seed, count).run();
        }
    }

    private void run() throws InterruptedException {
        start("input", this::awaitEndOfInput);
        for (Caller caller : callers) {
            start("caller", () -> work(caller));
        }
        while (!working.await(1, TimeUnit.SECONDS)) {
            say("alive " + succeeded);
        }
        say("report " + Json.of(report()));
    }

    /** No thread keeps the program from ending. */
    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void awaitEndOfInput() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException problem) {
            // It has ended, too.
        }
        over.set(true);
    }

    private void work(Caller caller) {
        try {
            while (!over.get()) {
                caller.step();
            }
            working.countDown();
        } catch (Throwable problem) {
            // Whatever it is: a thread that ends in silence would look like a success.
            problem.printStackTrace();
            sayWrong(caller + ": " + problem);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Nothing is said behind it. */
    private static synchronized void sayWrong(String words) {
        say("wrong " + Json.escape(words));
        System.exit(1);
    }

    private Map<String, Object> report() {
        Map<String, Integer> errors = new LinkedHashMap<>();
        int unsure = 0;
        List<Object> rows = new ArrayList<>();
        List<Object> logs = new ArrayList<>();
        List<Object> joint = new ArrayList<>();
        for (Caller caller : callers) {
            caller.errors().forEach((kind, count) -> errors.merge(word(kind), count, Integer::sum));
            unsure += caller.unsure();
            rows.addAll(caller.book().rows());
            logs.add(caller.book().log());
            joint.addAll(caller.book().joint());
        }
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("calls", succeeded.sum());
        report.put("errors", errors);
        report.put("unsure", unsure);
        report.put("connections_lost", client.counters().connectionsLost());
        report.put("rows", rows);
        report.put("log", logs);
        report.put("joint", joint);
        return report;
    }

    private static String word(Failure.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
