package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller that is alone reads its reply itself, and none comes: its time, its connection or its patience ends. */
class AloneEndsTest {
    @BeforeEach
    void thereAreTwoProcessors() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "with one processor nobody stays awake");
    }

    @Test
    void itsTimeEnds() throws Exception {
        AtomicInteger answers = new AtomicInteger(200);
        try (FakeServer server = new FakeServer(peer -> {
                    AloneTest.answerSome(peer, answers);
                    peer.line();
                });
                HandlerSocketClient client =
                        server.client().timeout(Duration.ofMillis(200)).build()) {
            Index<Row> index = client.index("t", "a");
            AloneTest.callAlone(index, 200);
            long begun = System.nanoTime();
            assertThrows(RequestTimeoutException.class, () -> index.findOne("silence"));
            assertTrue(System.nanoTime() - begun >= 190_000_000);
        }
    }

    /** The connection's thread waits for bytes again as soon as no caller reads, so it sees the end. */
    @Test
    void aConnectionThatEndsBetweenCallsIsNoError() throws Exception {
        AtomicReference<FakeServer.Peer> last = new AtomicReference<>();
        AtomicInteger ended = new AtomicInteger();
        ClientListener listener = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                if (event.what() == ConnectionEvent.What.CLOSED) {
                    ended.incrementAndGet();
                }
            }
        };
        try (FakeServer server = new FakeServer(peer -> echoTo(peer, last));
                HandlerSocketClient client = server.client().listener(listener).build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < 5; round++) {
                AloneTest.callAlone(index, 200);
                last.get().channel().close();
                for (int i = 0; i < 500 && ended.get() <= round; i++) {
                    Thread.sleep(10);
                }
                assertEquals(round + 1, ended.get());
            }
            AloneTest.callAlone(index, 1);
            assertEquals(6, client.counters().connectionsMade());
        }
    }

    @Test
    void aConnectionThatEndsBeforeTheReplyIsLost() throws Exception {
        AtomicInteger answers = new AtomicInteger();
        try (FakeServer server = new FakeServer(peer -> {
                    AloneTest.answerSome(peer, answers);
                    peer.channel().close();
                });
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < 20; round++) {
                answers.set(50);
                AloneTest.callAlone(index, 50);
                assertThrows(ConnectionLostException.class, () -> index.findOne("lost"));
            }
        }
    }

    @Test
    void bytesThatAreNoReplyEndTheConnection() throws Exception {
        try (FakeServer server = new FakeServer(peer -> {
                    AloneTest.answerSome(peer, new AtomicInteger(50));
                    peer.send("nonsense\n");
                });
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            AloneTest.callAlone(index, 50);
            assertThrows(ProtocolException.class, () -> index.findOne("wrong"));
            AloneTest.callAlone(index, 50);
        }
    }

    /** A line too many behind a reply ends the connection. No other call takes it for its own, nor goes there. */
    @Test
    void aLineTooManyAnswersNobody() throws Exception {
        try (FakeServer server = new FakeServer(AloneEndsTest::answerOneTooMany);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            int failed = 0;
            for (int round = 0; round < 50; round++) {
                AloneTest.callAlone(index, 50);
                assertEquals("last", index.findOne("last").orElseThrow().getString(0));
                for (int i = 0; i < 5; i++) {
                    try {
                        assertEquals("k", index.findOne("k").orElseThrow().getString(0));
                    } catch (ConnectionLostException | ProtocolException ended) {
                        failed++;
                    }
                }
            }
            // A call may be there before the line that is too many.
            assertTrue(failed < 25, failed + " calls failed");
        }
    }

    /** A reply that comes in pieces is no reason to stay awake for longer, nor to overlook an interrupt. */
    @Test
    void anInterruptIsSeenWhileBytesCome() throws Exception {
        AtomicInteger answers = new AtomicInteger(200);
        try (FakeServer server = new FakeServer(peer -> {
                    AloneTest.answerSome(peer, answers);
                    long until = System.nanoTime() + 3_000_000_000L;
                    peer.send("0\t1\t");
                    while (System.nanoTime() < until) {
                        peer.send("x");
                    }
                });
                HandlerSocketClient client =
                        server.client().timeout(Duration.ofSeconds(30)).build()) {
            Index<Row> index = client.index("t", "a");
            AloneTest.callAlone(index, 200);
            AtomicLong interrupted = new AtomicLong();
            Thread other = interruptThisIn(20, interrupted);
            assertThrows(RequestCancelledException.class, () -> index.findOne("in pieces"));
            long took = System.nanoTime() - interrupted.get();
            assertTrue(Thread.interrupted());
            other.join();
            assertTrue(took < 1_000_000_000, took + " ns");
        }
    }

    @Test
    void anInterruptGivesTheCallUp() throws Exception {
        AtomicInteger answers = new AtomicInteger(200);
        try (FakeServer server = new FakeServer(peer -> {
                    AloneTest.answerSome(peer, answers);
                    peer.line();
                });
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            AloneTest.callAlone(index, 200);
            Thread other = interruptThisIn(50, new AtomicLong());
            assertThrows(RequestCancelledException.class, () -> index.findOne("silence"));
            assertTrue(Thread.interrupted());
            other.join();
        }
    }

    /** While callers read, the connection's thread does not see such an end. The next call looks for it. */
    @Test
    void aConnectionThatHasJustEndedIsNotUsed() throws Exception {
        int rounds = 40;
        int lost = 0;
        AtomicReference<FakeServer.Peer> last = new AtomicReference<>();
        try (FakeServer server = new FakeServer(peer -> echoTo(peer, last));
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < rounds; round++) {
                AloneTest.callAlone(index, 200);
                if (round % 2 == 1) {
                    // So the client reads an error, and not the end.
                    last.get().channel().setOption(StandardSocketOptions.SO_LINGER, 0);
                }
                last.get().channel().close();
                Thread.sleep(2);
                try {
                    AloneTest.callAlone(index, 1);
                } catch (ConnectionLostException ended) {
                    lost++;
                }
            }
            AloneTest.callAlone(index, 1);
            assertEquals(rounds + 1, client.counters().connectionsMade());
        }
        // A thread that is to see it may be held up.
        assertTrue(lost < rounds / 4, lost + " calls were lost");
    }

    /** The same with a bound that one call reaches: it is no reason to refuse the next call. */
    @Test
    void aConnectionThatHasJustEndedIsNotFull() throws Exception {
        AtomicReference<FakeServer.Peer> last = new AtomicReference<>();
        try (FakeServer server = new FakeServer(peer -> echoTo(peer, last));
                HandlerSocketClient client = server.client()
                        .maxInFlight(1)
                        .whenFull(ClientBuilder.WhenFull.FAIL)
                        .build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < 20; round++) {
                AloneTest.callAlone(index, 50);
                last.get().channel().close();
                Thread.sleep(2);
                try {
                    AloneTest.callAlone(index, 1);
                } catch (ConnectionLostException ended) {
                    // A thread that is to see it may be held up.
                }
            }
        }
    }

    /** It would read the reply itself, and not see that it is interrupted. */
    @Test
    void whoIsInterruptedAlreadyGivesTheCallUp() throws Exception {
        int rounds = 40;
        int givenUp = 0;
        try (FakeServer server = new FakeServer(AloneEndsTest::answerSlowly);
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < rounds; round++) {
                AloneTest.callAlone(index, 50);
                Thread.currentThread().interrupt();
                try {
                    index.findOne("slow");
                } catch (RequestCancelledException interrupted) {
                    givenUp++;
                }
                Thread.interrupted();
            }
        }
        // On a busy machine, the caller may be held up until the reply has come.
        assertTrue(givenUp > rounds / 2, "only " + givenUp + " were given up");
    }

    /** Nobody reads the reply to a call that was given up, but whoever waits for its turn behind it gets it. */
    @Test
    void whoWaitsBehindACallThatWasGivenUpIsNotLate() throws Exception {
        List<Long> took = new ArrayList<>();
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().maxInFlight(1).build()) {
            Index<Row> index = client.index("t", "a");
            for (int round = 0; round < 51; round++) {
                AloneTest.callAlone(index, 50);
                Thread.currentThread().interrupt();
                try {
                    index.findOne("k");
                } catch (RequestCancelledException interrupted) {
                    // It is still in flight.
                }
                Thread.interrupted();
                long begun = System.nanoTime();
                assertEquals("f", index.async().findOne("f").get(5, TimeUnit.SECONDS).orElseThrow().getString(0));
                took.add(System.nanoTime() - begun);
            }
        }
        Collections.sort(took);
        assertTrue(took.get(25) < 3_000_000, "median " + took.get(25));
    }

    /** As {@link FakeServer#echo}. The test can end the latest of such connections. */
    private static void echoTo(FakeServer.Peer peer, AtomicReference<FakeServer.Peer> last) throws Exception {
        last.set(peer);
        FakeServer.echo(peer);
    }

    /** As {@link FakeServer#echo}, but the reply to "slow" comes after 50 µs. */
    private static void answerSlowly(FakeServer.Peer peer) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            String reply = FakeServer.echoOf(line);
            long until = System.nanoTime() + (reply.endsWith("\tslow\n") ? 50_000 : 0);
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            peer.send(reply);
        }
    }

    /** As {@link FakeServer#echo}, but behind the reply to "last" comes a line that answers nothing. */
    private static void answerOneTooMany(FakeServer.Peer peer) throws Exception {
        for (String line = peer.line(); line != null; line = peer.line()) {
            String reply = FakeServer.echoOf(line);
            peer.send(reply.endsWith("\tlast\n") ? reply + "0\t1\ttoo many\n" : reply);
        }
    }

    /** Interrupts the thread that asks for it, after so many ms, and notes when. */
    private static Thread interruptThisIn(int ms, AtomicLong when) {
        Thread caller = Thread.currentThread();
        return FakeServer.start(() -> {
            Thread.sleep(ms);
            when.set(System.nanoTime());
            caller.interrupt();
        });
    }
}
