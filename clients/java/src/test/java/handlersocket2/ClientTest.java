package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The life of a client: threads, hooks, closing, addresses. */
class ClientTest {

    /** Answers P alone, so that finds stay in flight. */
    private static void silent(FakeServer.Peer peer) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            if (line.startsWith("P")) {
                peer.send("0\t1\n");
            }
        }
    }

    private static Index<String> index(HandlerSocketClient client) {
        return client.index("t", "a").as(String.class);
    }

    @Test
    void manyThreadsShareOneConnection() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            Queue<String> wrong = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                int number = i;
                Thread thread = new Thread(() -> {
                    for (int n = 0; n < 300; n++) {
                        String key = number + "/" + n;
                        if (!index(client).findOne(key).equals(Optional.of(key))) {
                            wrong.add(key);
                        }
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(0, wrong.size());
            Counters counters = client.counters();
            assertEquals(9600, counters.requests());
            assertEquals(9600, counters.replies());
            assertEquals(1, counters.connectionsMade());
            assertEquals(0, counters.inFlight() + counters.errors() + counters.connectionsLost());
            assertTrue(counters.writes() < 9600, "nothing was sent together");
        }
    }

    /** All are answered together. The server need not wait until all have asked again. */
    @Test
    void theServerBeginsBeforeAllHaveAsked() throws Exception {
        int callers = 16;
        int rounds = 10;
        FakeServer.Conversation together = peer -> {
            StringBuilder replies = new StringBuilder();
            int asked = 0;
            for (String line = peer.line(); line != null; line = peer.line()) {
                if (line.startsWith("P")) {
                    peer.send("0\t1\n");
                    continue;
                }
                replies.append("0\t1\t").append(line.split("\t")[3]).append('\n');
                if (++asked % callers == 0) {
                    peer.send(replies.toString());
                    replies.setLength(0);
                }
            }
        };
        try (FakeServer server = new FakeServer(together);
                HandlerSocketClient client = server.client().build()) {
            AsyncIndex<String> index = index(client).async();
            List<CompletableFuture<Optional<String>>> ended = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                CompletableFuture<Optional<String>> answer = index.findOne(caller);
                for (int n = 1; n < rounds; n++) {
                    answer = answer.thenCompose(key -> index.findOne(key.get()));
                }
                ended.add(answer);
            }
            for (int caller = 0; caller < callers; caller++) {
                assertEquals(Optional.of("" + caller), ended.get(caller).get(20, TimeUnit.SECONDS));
            }
            long writes = client.counters().writes();
            assertTrue(writes >= 4 * rounds && writes < callers * rounds, writes + " writes");
        }
    }

    @Test
    void anInterruptGivesUp() throws Exception {
        try (FakeServer server = new FakeServer(ClientTest::silent);
                HandlerSocketClient client = server.client().build()) {
            AtomicReference<Throwable> problem = new AtomicReference<>();
            CountDownLatch stillInterrupted = new CountDownLatch(1);
            Thread thread = new Thread(() -> {
                try {
                    index(client).findOne(1);
                } catch (RuntimeException expected) {
                    problem.set(expected);
                    if (Thread.currentThread().isInterrupted()) {
                        stillInterrupted.countDown();
                    }
                }
            });
            thread.start();
            while (client.counters().inFlight() == 0) {
                Thread.sleep(1);
            }
            thread.interrupt();
            thread.join(5000);
            assertTrue(problem.get() instanceof RequestCancelledException);
            assertEquals(0, stillInterrupted.getCount());
            assertEquals(1, client.counters().givenUp());
            assertEquals(1, client.counters().inFlight());
        }
    }

    /** A thread that was interrupted before can still ask for a future, and nobody's connection is closed by it. */
    @Test
    void anInterruptedThreadBreaksNoConnection() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            assertEquals(Optional.of("1"), index(client).findOne(1));
            Thread.currentThread().interrupt();
            CompletableFuture<Optional<String>> future = index(client).async().findOne(2);
            assertFalse(assertThrows(RequestCancelledException.class, () -> index(client).findOne(3)).wasSent());
            assertTrue(Thread.interrupted());
            assertEquals(Optional.of("2"), future.get(5, TimeUnit.SECONDS));
            assertEquals(1, client.counters().connectionsMade());
        }
    }

    @Test
    void aCallThatWaitsIsRefusedOnTheClientsThread() throws Exception {
        CountDownLatch chained = new CountDownLatch(1);
        FakeServer.Conversation waiting = peer -> {
            chained.await();
            FakeServer.echo(peer);
        };
        try (FakeServer server = new FakeServer(waiting);
                HandlerSocketClient client = server.client().build()) {
            CompletableFuture<Optional<String>> inside =
                    index(client).async().findOne(1).thenApply(row -> index(client).findOne(2));
            chained.countDown();
            ExecutionException problem = assertThrows(ExecutionException.class, () -> inside.get(5, TimeUnit.SECONDS));
            assertTrue(problem.getCause() instanceof UsageException);
            CompletableFuture<Optional<String>> composed =
                    index(client).async().findOne(1).thenCompose(row -> index(client).async().findOne(row.get() + "2"));
            assertEquals(Optional.of("12"), composed.get(5, TimeUnit.SECONDS));
        }
    }

    @Test
    void errorsShowTheCallersStack() throws Exception {
        FakeServer.Conversation refusing = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send(line.startsWith("P") ? "0\t1\n" : "2\t1\tkpnum\n");
            }
        };
        try (FakeServer server = new FakeServer(refusing);
                HandlerSocketClient client = server.client().build()) {
            ReplyException problem = assertThrows(ReplyException.class, () -> index(client).findOne(1));
            assertTrue(List.of(problem.getStackTrace()).toString().contains("errorsShowTheCallersStack"));
        }
    }

    @Test
    void hooksSeeRequestsAndConnections() throws Exception {
        LinkedBlockingQueue<RequestEvent> requests = new LinkedBlockingQueue<>();
        Queue<ConnectionEvent> connections = new ConcurrentLinkedQueue<>();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                requests.add(event);
                throw new IllegalStateException("a listener may not break the client");
            }

            @Override
            public void connectionChanged(ConnectionEvent event) {
                connections.add(event);
                throw new IllegalStateException("a listener may not break the client");
            }
        };
        AtomicInteger connection = new AtomicInteger();
        // The second connection is the one for writing.
        FakeServer.Conversation conversation = peer -> {
            if (connection.getAndIncrement() == 0) {
                FakeServer.echo(peer);
            } else {
                silent(peer);
            }
        };
        try (FakeServer server = new FakeServer(conversation)) {
            try (HandlerSocketClient client = server.client().listener(listener).build()) {
                assertEquals(Optional.of("secret"), index(client).findOne("secret"));
                assertThrows(RequestTimeoutException.class,
                        () -> index(client).withTimeout(Duration.ofNanos(1)).insert(List.of("secret")));
            }
            // A caller may have its result before the hook is called.
            RequestEvent find = requests.poll(5, TimeUnit.SECONDS);
            assertEquals("find t", find.spanName());
            assertEquals(1, find.rows());
            assertEquals("0\t1\tsecret\n".length(), find.bytesIn());
            assertEquals("handlersocket", find.attributes().get("db.system.name"));
            assertEquals((long) server.port(), find.attributes().get("server.port"));
            assertFalse(find.attributes().containsKey("error.type"));
            RequestEvent insert = requests.poll(5, TimeUnit.SECONDS);
            assertEquals("timeout", insert.attributes().get("error.type"));
            assertFalse((find.toString() + insert).contains("secret"));
            assertEquals(ConnectionEvent.What.CONNECTED, connections.poll().what());
        }
    }

    @Test
    void pingAndUnixSockets() throws Exception {
        Path folder = Files.createTempDirectory("hs");
        Path path = folder.resolve("s");
        try (FakeServer server = new FakeServer(UnixDomainSocketAddress.of(path), FakeServer::echo);
                HandlerSocketClient client =
                        HandlerSocketClient.builder().sockets(path, path).database("db").build()) {
            client.ping();
            assertEquals(1, client.counters().connectionsMade());
            assertEquals(Optional.of("1"), index(client).findOne(1));
            assertEquals(1, client.counters().connectionsMade());
        } finally {
            Files.deleteIfExists(path);
            Files.delete(folder);
        }
        try (HandlerSocketClient client =
                HandlerSocketClient.builder().sockets(path, null).database("db").connectAttempts(1).build()) {
            assertThrows(ConnectException.class, client::ping);
            assertThrows(UsageException.class, () -> index(client).insert(List.of(1)));
        }
    }

    @Test
    void shutdownWaitsForWhatIsOwed() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        FakeServer.Conversation slow = peer -> {
            peer.line();
            peer.line();
            answer.await();
            peer.send("0\t1\n0\t1\tx\n");
            peer.line();
        };
        try (FakeServer server = new FakeServer(slow)) {
            HandlerSocketClient client = server.client().build();
            CompletableFuture<Optional<String>> owed = index(client).async().findOne(1);
            CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> client.shutdown(Duration.ofSeconds(10)));
            while (true) {
                try {
                    index(client).async().findOne(2).get(1, TimeUnit.MILLISECONDS);
                } catch (ExecutionException closed) {
                    assertTrue(closed.getCause() instanceof ClientClosedException);
                    break;
                } catch (java.util.concurrent.TimeoutException early) {
                    // It has not begun to leave.
                }
            }
            assertFalse(owed.isDone());
            answer.countDown();
            assertEquals(Optional.of("x"), owed.get(5, TimeUnit.SECONDS));
            ended.get(5, TimeUnit.SECONDS);
            assertThrows(ClientClosedException.class, () -> index(client).findOne(1));
        }
    }

    @Test
    void closingEndsEverythingAndItsThreads() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (FakeServer server = new FakeServer(round % 2 == 0 ? ClientTest::silent : FakeServer::echo)) {
                HandlerSocketClient client = server.client().build();
                List<CompletableFuture<?>> futures = new ArrayList<>();
                for (int i = 0; i < round * 5; i++) {
                    futures.add(index(client).async().findOne(i));
                }
                client.close();
                client.close();
                for (CompletableFuture<?> future : futures) {
                    try {
                        future.get(5, TimeUnit.SECONDS);
                    } catch (ExecutionException closed) {
                        assertTrue(closed.getCause() instanceof ClientClosedException, closed.toString());
                    }
                }
                assertThrows(ClientClosedException.class, () -> index(client).iterate(Find.ge(1)));
            }
        }
        for (int i = 0; i < 500; i++) {
            if (Thread.getAllStackTraces().keySet().stream().noneMatch(t -> t.getName().startsWith("handlersocket2"))) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("threads of closed clients are left");
    }

    @Test
    void closingEndsAnIteration() throws Exception {
        FakeServer.Conversation endless = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1\t1\t2\t");
            peer.line();
        };
        try (FakeServer server = new FakeServer(endless);
                HandlerSocketClient client = server.client().build()) {
            RowIterator<String> rows = index(client).iterate(Find.ge(1).limit(9));
            assertEquals("1", rows.next());
            CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(client::close);
            assertEquals("2", rows.next());
            assertThrows(ClientClosedException.class, rows::hasNext);
            assertFalse(rows.hasNext());
        }
    }

    @Test
    void soManyMayIterate() throws Exception {
        FakeServer.Conversation endless = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1\t1\t");
            peer.line();
        };
        try (FakeServer server = new FakeServer(endless);
                HandlerSocketClient client = server.client().maxStreams(2).build()) {
            Index<String> index = index(client).withTimeout(Duration.ofSeconds(1));
            RowIterator<String> one = index.iterate(Find.ge(1).limit(9));
            try (RowIterator<String> two = index.iterate(Find.ge(1).limit(9))) {
                assertThrows(RequestTimeoutException.class, () -> index.iterate(Find.ge(1).limit(9)));
                one.close();
                try (RowIterator<String> three = index.iterate(Find.ge(1).limit(9))) {
                    assertEquals("1", two.next());
                    assertEquals("1", three.next());
                    assertThrows(RequestTimeoutException.class, three::hasNext);
                }
            }
        }
    }

    /** Whoever iterates holds their connection, and does nothing. */
    @Test
    void closingEndsThoseThatWaitForAnIteration() throws Exception {
        FakeServer.Conversation endless = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1\t1\t");
            peer.line();
        };
        try (FakeServer server = new FakeServer(endless);
                HandlerSocketClient client = server.client().maxStreams(1).build();
                RowIterator<String> held = index(client).iterate(Find.ge(1).limit(9))) {
            assertEquals("1", held.next());
            List<CompletableFuture<?>> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(CompletableFuture.runAsync(
                        () -> index(client).iterate(Find.ge(1)).close(), task -> new Thread(task).start()));
            }
            CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(client::close);
            for (CompletableFuture<?> one : waiting) {
                ExecutionException closed = assertThrows(ExecutionException.class, () -> one.get(5, TimeUnit.SECONDS));
                assertTrue(closed.getCause() instanceof ClientClosedException, closed.toString());
            }
        }
    }

    /** A connection that was read to its end is used again, with its open indexes. */
    @Test
    void anIterationLeavesItsConnectionToTheNext() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        FakeServer.Conversation counting = peer -> {
            connections.incrementAndGet();
            FakeServer.echo(peer);
        };
        try (FakeServer server = new FakeServer(counting);
                HandlerSocketClient client = server.client().build()) {
            for (int i = 0; i < 5; i++) {
                assertEquals(List.of("" + i), index(client).stream(Find.eq(i)).toList());
            }
            assertEquals(1, connections.get());
            assertEquals(0, index(client).stream(Find.eq(1).in(0, List.of())).count());
        }
    }
}
