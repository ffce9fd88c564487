package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller that is alone reads its reply itself, and everything else is as it always is. */
class AloneTest {
    private static final int MANY = 3000;

    @BeforeEach
    void thereAreTwoProcessors() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "with one processor nobody stays awake");
    }

    static void callAlone(Index<Row> index, int times) {
        for (int i = 0; i < times; i++) {
            String key = "k" + i;
            assertEquals(Optional.of(key), index.findOne(key).map(row -> row.getString(0)));
        }
    }

    /**
     * Calls in hundreds, and looks 50 µs behind each request whether the caller sleeps.
     *
     * @return in how many of so many hundreds it was mostly awake; it ends with the first one if that is enough
     */
    private static int awakeHundreds(boolean staysAwake, int hundreds, boolean oneIsEnough) throws Exception {
        AtomicInteger awake = new AtomicInteger();
        Thread caller = Thread.currentThread();
        int found = 0;
        try (FakeServer server = new FakeServer(peer -> noteWhoIsAwake(peer, caller, awake));
                HandlerSocketClient client =
                        server.client().stayAwake(staysAwake).build()) {
            Index<Row> index = client.index("t", "a");
            for (int i = 0; i < hundreds && !(oneIsEnough && found > 0); i++) {
                awake.set(0);
                callAlone(index, 100);
                found += awake.get() > 50 ? 1 : 0;
            }
        }
        return found;
    }

    private static void noteWhoIsAwake(FakeServer.Peer peer, Thread caller, AtomicInteger awake) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            long until = System.nanoTime() + 50_000;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            if (caller.getState() == Thread.State.RUNNABLE) {
                awake.incrementAndGet();
            }
            peer.send(FakeServer.echoOf(line));
        }
    }

    @Test
    void itReadsItsReplyItself() throws Exception {
        // On a busy machine, most replies are looked for in vain.
        assertEquals(1, awakeHundreds(true, 3000, true));
    }

    @Test
    void itSleepsIfThatIsWanted() throws Exception {
        assertTrue(awakeHundreds(false, 20, false) < 10);
    }

    @Test
    void othersComeInBetween() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < 200; round++) {
                callAlone(index, 20);
                String key = "r" + round;
                CompletableFuture<Optional<Row>> future = index.async().findOne(key);
                callAlone(index, 1);
                assertEquals(key, future.get(5, TimeUnit.SECONDS).orElseThrow().getString(0));
            }
        }
    }

    /** What is called back belongs on the client's thread, also if both replies come while the caller looks for its own. */
    @Test
    void itCallsNobodyElseBack() throws Exception {
        int rounds = 1000;
        AtomicInteger held = new AtomicInteger();
        AtomicInteger calledBack = new AtomicInteger();
        AtomicBoolean onCaller = new AtomicBoolean();
        Thread caller = Thread.currentThread();
        try (FakeServer server = new FakeServer(peer -> answerInPairs(peer, held));
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            Thread other = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    while (held.get() <= round) {
                        Thread.onSpinWait();
                    }
                    index.async().findOne("x").thenRun(() -> {
                        calledBack.incrementAndGet();
                        if (Thread.currentThread() == caller) {
                            onCaller.set(true);
                        }
                    });
                }
            });
            other.start();
            for (int round = 0; round < rounds; round++) {
                callAlone(index, 12);
                assertEquals("pair", index.findOne("pair").orElseThrow().getString(0));
            }
            other.join();
            callAlone(index, 1);
        }
        assertEquals(rounds, calledBack.get());
        assertFalse(onCaller.get());
    }

    /** Whoever is told of a request is on the thread that reads, and would wait for itself. */
    @Test
    void aListenerMayNotWaitForTheClient() throws Exception {
        AtomicReference<Index<Row>> inside = new AtomicReference<>();
        Set<Class<?>> problems = ConcurrentHashMap.newKeySet();
        AtomicInteger waited = new AtomicInteger();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                try {
                    inside.get().findOne("nested");
                    waited.incrementAndGet();
                } catch (RuntimeException problem) {
                    problems.add(problem.getClass());
                }
            }
        };
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().listener(listener).build()) {
            inside.set(client.index("t", "a"));
            callAlone(inside.get(), MANY);
        }
        assertEquals(Set.of(UsageException.class), problems);
        assertEquals(0, waited.get());
    }

    /** Nobody waits for a future and reads for it, so the connection's thread has to know of it at once. */
    @Test
    void aFutureBehindItIsNotLate() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            List<Long> took = new ArrayList<>();
            for (int round = 0; round < 101; round++) {
                callAlone(index, 50);
                long begun = System.nanoTime();
                assertEquals("f", index.async().findOne("f").get(5, TimeUnit.SECONDS).orElseThrow().getString(0));
                took.add(System.nanoTime() - begun);
            }
            Collections.sort(took);
            assertTrue(took.get(50) < 3_000_000, "median " + took.get(50));
        }
    }

    /** Who waits for its turn gets it, also if a caller has read the reply before it. */
    @Test
    void whoWaitsForItsTurnIsNotForgotten() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().maxInFlight(1).build()) {
            Index<Row> index = client.index("t", "a");
            Thread other = new Thread(() -> callAlone(index, MANY));
            other.start();
            for (int round = 0; round < 300; round++) {
                callAlone(index, 20);
                Pipeline pipeline = client.pipeline();
                List<CompletableFuture<Optional<Row>>> futures = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    futures.add(pipeline.on(index).findOne("p" + i));
                }
                pipeline.run();
                for (int i = 0; i < 3; i++) {
                    assertEquals("p" + i, futures.get(i).get(0, TimeUnit.SECONDS).orElseThrow().getString(0));
                }
            }
            other.join();
        }
    }

    /** The JDK gives each thread that reads into an array memory of its own, and keeps it as long as the thread lives. */
    @Test
    void aCallerKeepsNoMemory() throws Exception {
        int threads = 100;
        CountDownLatch called = new CountDownLatch(threads);
        CountDownLatch over = new CountDownLatch(1);
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            callAlone(index, 100);
            long before = directMemory();
            for (int i = 0; i < threads; i++) {
                Thread caller = new Thread(() -> {
                    callAlone(index, 30);
                    called.countDown();
                    try {
                        over.await();
                    } catch (InterruptedException problem) {
                        Thread.currentThread().interrupt();
                    }
                });
                caller.setDaemon(true);
                caller.start();
                while (called.getCount() == threads - i) {
                    Thread.sleep(1);
                }
            }
            long more = directMemory() - before;
            assertTrue(more < 1 << 20, more + " bytes more");
        } finally {
            over.countDown();
        }
    }

    /** The client's module, to which this test belongs, does not need the module that knows it. */
    private static long directMemory() throws ReflectiveOperationException {
        Class<?> pools = Class.forName("java.lang.management.BufferPoolMXBean");
        Object found = Class.forName("java.lang.management.ManagementFactory")
                .getMethod("getPlatformMXBeans", Class.class)
                .invoke(null, pools);
        for (Object pool : (List<?>) found) {
            if (pools.getMethod("getName").invoke(pool).equals("direct")) {
                return (long) pools.getMethod("getMemoryUsed").invoke(pool);
            }
        }
        throw new IllegalStateException("this Java does not tell");
    }

    /** So many finds, as {@link FakeServer#echo}; then it reads one line more. */
    static void answerSome(FakeServer.Peer peer, AtomicInteger finds) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            if (!line.startsWith("P\t") && finds.getAndDecrement() <= 0) {
                return;
            }
            peer.send(FakeServer.echoOf(line));
        }
    }

    /** As {@link FakeServer#echo}, but the reply to "pair" is held until the next one, and sent together with it. */
    private static void answerInPairs(FakeServer.Peer peer, AtomicInteger held) throws Exception {
        String before = "";
        for (String line = peer.line(); line != null; line = peer.line()) {
            String reply = FakeServer.echoOf(line);
            if (reply.endsWith("\tpair\n")) {
                before = reply;
                held.incrementAndGet();
            } else {
                peer.send(before + reply);
                before = "";
            }
        }
    }
}
