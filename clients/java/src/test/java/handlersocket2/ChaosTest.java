package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Many callers, a server that breaks connections wherever it likes, callers that give up: no wrong row is seen, no
 * acknowledged write is lost, none is done twice, and one that is called safe to retry was not done.
 */
class ChaosTest {
    private static final long SECONDS = Long.getLong("chaos.seconds", 4);

    /** So much longer at most, until enough was done: a busy machine does little in its time. */
    private static final long MORE_SECONDS = 60;

    /** How often each value was inserted. */
    private final Map<String, AtomicInteger> executed = new ConcurrentHashMap<>();

    /** Writes whose error said that they can be tried again. */
    private final Set<String> safe = ConcurrentHashMap.newKeySet();

    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger seeds = new AtomicInteger();
    private final AtomicInteger found = new AtomicInteger();
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicInteger unsure = new AtomicInteger();
    private final AtomicInteger notDone = new AtomicInteger();
    private volatile boolean quiet;

    private void serve(FakeServer.Peer peer) throws Exception {
        Random random = new Random(seeds.incrementAndGet());
        for (String line = peer.line(); line != null; line = peer.line()) {
            String[] token = line.split("\t", -1);
            int fate = quiet ? 1000 : random.nextInt(1000);
            if (fate < 2) {
                return;
            }
            if (token[0].equals("within")) {
                token = Arrays.copyOfRange(token, 2, token.length);
            }
            String reply = "0\t1\n";
            if (token[0].equals("H")) {
                reply = "0\t2\ttexts\t1\n";
            } else if (token[0].equals("D")) {
                reply = "0\t7\tcolumn\ta\ttext\t1\t0\t0\tutf8mb4\tkey\ta\ttext\t1\t0\t0\tutf8mb4\n";
            } else if (token[1].equals("+")) {
                executed.computeIfAbsent(token[3], key -> new AtomicInteger()).incrementAndGet();
            } else if (!token[0].equals("P")) {
                reply = "0\t1\t" + token[3] + "\n";
            }
            if (fate < 4) {
                return;
            }
            if (fate < 6) {
                peer.send(reply.substring(0, random.nextInt(reply.length())));
                return;
            }
            if (fate < 30) {
                Thread.sleep(random.nextInt(4));
            }
            if (fate < 60) {
                int cut = random.nextInt(reply.length());
                peer.send(reply.substring(0, cut));
                Thread.yield();
                reply = reply.substring(cut);
            }
            peer.send(reply);
        }
    }

    @Test
    void chaos() throws Exception {
        List<Thread> threads = new ArrayList<>();
        try (FakeServer server = new FakeServer(this::serve);
                HandlerSocketClient client = server.client()
                        .retryReads(2).connectAttempts(20).maxInFlight(50).timeout(Duration.ofSeconds(10))
                        .texts(true).build()) {
            Index<String> index = client.index("t", "a").as(String.class);
            long end = System.nanoTime() + SECONDS * 1_000_000_000;
            for (int i = 0; i < 12; i++) {
                int number = i;
                Index<String> own = number % 2 == 0 ? index : index.within(Duration.ofSeconds(1));
                Thread thread = new Thread(() -> work(own, number, end));
                thread.start();
                threads.add(thread);
            }
            Thread describing = new Thread(() -> describe(client, end));
            describing.start();
            threads.add(describing);
            for (Thread thread : threads) {
                thread.join();
            }
            quiet = true;
            assertEquals(Optional.of("last"), index.findOne("last"));
            client.shutdown(Duration.ofSeconds(10));
        }
        executed.forEach((value, count) -> {
            if (count.get() > 1 || count.get() > 0 && safe.contains(value)) {
                wrong.add("the write " + value + " was done " + count + " times, safe to retry: " + safe.contains(value));
            }
        });
        assertEquals(List.of(), List.copyOf(wrong).subList(0, Math.min(5, wrong.size())));
        String counts = found + " found, " + written + " written, " + unsure + " unsure, " + notDone + " not done";
        assertTrue(hasDoneEnough(), counts);
    }

    private boolean hasDoneEnough() {
        return found.get() > 1000 && written.get() > 1000 && unsure.get() > 0 && notDone.get() > 0;
    }

    private boolean isOver(long end) {
        long late = System.nanoTime() - end;
        return late >= 0 && (hasDoneEnough() || late >= MORE_SECONDS * 1_000_000_000);
    }

    private void work(Index<String> index, int number, long end) {
        Random random = new Random(number);
        for (int i = 0; !isOver(end); i++) {
            String value = number + "-" + i;
            Duration time = random.nextInt(10) == 0 ? Duration.ofMillis(1 + random.nextInt(40)) : Duration.ofSeconds(10);
            Index<String> timed = index.withTimeout(time);
            try {
                switch (number % 3) {
                    case 0 -> read(value, timed.findOne(value));
                    case 1 -> {
                        timed.insert(List.of(value));
                        acknowledged(value);
                    }
                    default -> futures(timed, value, random);
                }
            } catch (RuntimeException problem) {
                failed(value, problem, number % 3 == 1);
            }
        }
    }

    /** Descriptions and hellos, of which some are given up. */
    private void describe(HandlerSocketClient client, long end) {
        Random random = new Random(99);
        for (int i = 0; !isOver(end); i++) {
            try {
                client.table("t" + random.nextInt(3)).describeAsync().cancel(true);
                Description description = client.table("t" + random.nextInt(3)).describe();
                if (!description.columns().get(0).javaType().equals(String.class)) {
                    wrong.add("the description is " + description);
                }
                Index<Row> index = client.index(description);
                read("d" + i, index.findOne("d" + i).map(row -> (String) row.get("a")));
                if (!client.hello().equals(Map.of("texts", "1"))) {
                    wrong.add("a hello was answered with something else");
                }
            } catch (RuntimeException problem) {
                failed("d" + i, problem, false);
            }
        }
    }

    /** Several at a time, of which some are given up. */
    private void futures(Index<String> index, String value, Random random) {
        List<CompletableFuture<Optional<String>>> finds = new ArrayList<>();
        List<CompletableFuture<?>> inserts = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            finds.add(index.async().findOne(value + "-" + i));
            inserts.add(index.async().insert(List.of(value + "-" + i)));
        }
        for (int i = 0; i < 20; i++) {
            if (random.nextInt(6) == 0) {
                finds.get(i).cancel(true);
                inserts.get(i).cancel(true);
            }
        }
        for (int i = 0; i < 20; i++) {
            String key = value + "-" + i;
            try {
                read(key, finds.get(i).join());
            } catch (CompletionException | java.util.concurrent.CancellationException problem) {
                failed(key, problem instanceof Failure ? problem : problem.getCause(), false);
            }
            try {
                inserts.get(i).join();
                acknowledged(key);
            } catch (CompletionException | java.util.concurrent.CancellationException problem) {
                failed(key, problem instanceof Failure ? problem : problem.getCause(), true);
            }
        }
    }

    private void read(String key, Optional<String> row) {
        found.incrementAndGet();
        if (!row.equals(Optional.of(key))) {
            wrong.add("the row of " + key + " is " + row);
        }
    }

    private void acknowledged(String value) {
        written.incrementAndGet();
        AtomicInteger count = executed.get(value);
        if (count == null || count.get() != 1) {
            wrong.add("the write " + value + " was acknowledged and done " + count + " times");
        }
    }

    private void failed(String value, Throwable problem, boolean write) {
        if (!(problem instanceof Failure failure)) {
            wrong.add(value + " failed with " + problem);
        } else if (write && failure.isSafeToRetry()) {
            notDone.incrementAndGet();
            safe.add(value);
            if (executed.containsKey(value)) {
                wrong.add("the write " + value + " was done, but is called safe to retry: " + problem);
            }
        } else if (write) {
            unsure.incrementAndGet();
            executed.computeIfAbsent(value, key -> new AtomicInteger());
        } else if (failure.maybeExecuted()) {
            wrong.add("the find " + value + " is called perhaps executed: " + problem);
        }
    }
}
