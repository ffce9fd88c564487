package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Where requests of a client go: addresses, several connections, and how much of it is written at once. */
class AddressesTest {

    private static Index<String> index(HandlerSocketClient client) {
        return client.index("t", "a").as(String.class);
    }

    @Test
    void aPasswordIsNotSentOverPlainTcp() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = HandlerSocketClient.builder()
                        .address("0.0.0.0", server.port(), server.port()).database("db").user("ann")
                        .password("secret").build()) {
            ConnectException problem = assertThrows(ConnectException.class, () -> index(client).findOne(1));
            assertTrue(problem.getMessage().contains("TLS is needed"));
            assertFalse(problem.wasSent());
        }
    }

    @Test
    void findsGoToReplicasAndToTheWriterIfNoneIsReached() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        try (FakeServer writer = new FakeServer(peer -> {
                    seen.add("writer");
                    FakeServer.echo(peer);
                });
                FakeServer replica = new FakeServer(peer -> {
                    seen.add("replica");
                    FakeServer.echo(peer);
                })) {
            Address first = Address.of("127.0.0.1", writer.port(), writer.port());
            Address second = Address.of("127.0.0.1", replica.port(), replica.port());
            ClientBuilder builder = writer.client().readFrom(ClientBuilder.ReadFrom.REPLICAS);
            try (HandlerSocketClient client = builder.addresses(List.of(first, second)).build()) {
                assertEquals(Optional.of("1"), index(client).findOne(1));
                assertEquals(Set.of("replica"), seen);
                replica.close();
                seen.clear();
                for (int i = 0; i < 3; i++) {
                    try {
                        assertEquals(Optional.of("2"), index(client).findOne(2));
                    } catch (ConnectionLostException once) {
                        continue;
                    }
                }
                assertEquals(Set.of("writer"), seen);
            }
        }
    }

    /** The others are tried. If all refuse, the first one's error is that of the call. */
    @Test
    void aLogInThatIsRefusedAtOneOfThem() throws Exception {
        FakeServer.Conversation refuses = peer -> {
            peer.line();
            peer.send("3\t1\tunauth\n");
        };
        FakeServer.Conversation refusesInOtherWords = peer -> {
            peer.line();
            peer.send("3\t1\t1045\n");
        };
        FakeServer.Conversation letsIn = peer -> {
            peer.line();
            peer.send("0\t1\n");
            FakeServer.echo(peer);
        };
        for (FakeServer.Conversation second : List.of(letsIn, refusesInOtherWords)) {
            try (FakeServer one = new FakeServer(refuses); FakeServer two = new FakeServer(second)) {
                List<Address> addresses = List.of(
                        Address.of("127.0.0.1", one.port(), one.port()), Address.of("127.0.0.1", two.port(), two.port()));
                try (HandlerSocketClient client = one.client().secret("s").addresses(addresses).build()) {
                    if (second == refusesInOtherWords) {
                        assertEquals("unauth", assertThrows(ReplyException.class, () -> index(client).findOne(1)).text());
                        assertEquals(
                                "unauth",
                                assertThrows(ReplyException.class, () -> index(client).iterate(Find.eq(1))).text());
                    } else {
                        assertTrue(index(client).findOne(1).isPresent());
                    }
                }
            }
        }
    }

    /** A server in offline mode has executed nothing: finds and iterations go to the next one. */
    @Test
    void whatOneServerRefusesGoesToTheNext() throws Exception {
        FakeServer.Conversation offline = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                peer.send("1\t1\t3032\n");
            }
        };
        for (boolean iterates : new boolean[] {false, true}) {
            try (FakeServer first = new FakeServer(offline);
                    FakeServer second = new FakeServer(FakeServer::echo);
                    HandlerSocketClient client = first.client().addresses(List.of(
                            Address.of("127.0.0.1", first.port(), first.port()),
                            Address.of("127.0.0.1", second.port(), second.port()))).build()) {
                for (int i = 0; i < 3; i++) {
                    Find find = Find.eq(i);
                    assertEquals(List.of("" + i), iterates ? index(client).stream(find).toList() : index(client).find(find));
                }
                assertEquals(2, client.counters().connectionsMade());
            }
            try (FakeServer only = new FakeServer(offline);
                    HandlerSocketClient client = only.client().build()) {
                ReplyException problem = assertThrows(ReplyException.class,
                        () -> (iterates ? index(client).stream(Find.eq(1)) : index(client).find(Find.eq(1)).stream()).toList());
                assertEquals("3032", problem.text());
            }
        }
    }

    /** It is in flight at the first server, which ends while nothing is in flight at the second one. */
    @Test
    void aCallThatIsSentAgainStopsNobody() throws Exception {
        CountDownLatch ends = new CountDownLatch(1);
        FakeServer.Conversation first = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                if (line.endsWith("\tslow")) {
                    ends.await();
                    return;
                }
                peer.send(line.startsWith("P\t") ? "0\t1\n" : "1\t1\t3032\n");
            }
        };
        try (FakeServer one = new FakeServer(first);
                FakeServer two = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = one.client().retryReads(1).addresses(List.of(
                        Address.of("127.0.0.1", one.port(), one.port()),
                        Address.of("127.0.0.1", two.port(), two.port()))).build()) {
            AsyncIndex<String> index = index(client).async();
            CompletableFuture<Optional<String>> elsewhere = index.findOne("elsewhere");
            CompletableFuture<Optional<String>> slow = index.findOne("slow");
            assertEquals(Optional.of("elsewhere"), elsewhere.get(5, TimeUnit.SECONDS));
            // Now the connection to the second server sleeps.
            Thread.sleep(50);
            ends.countDown();
            assertEquals(Optional.of("slow"), slow.get(5, TimeUnit.SECONDS));
            assertEquals(Optional.of("next"), index.findOne("next").get(5, TimeUnit.SECONDS));
            assertEquals(2, client.counters().connectionsMade());
        }
    }

    @Test
    void severalConnectionsShareTheWork() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(3);
        FakeServer.Conversation counting = peer -> {
            connections.incrementAndGet();
            peer.line();
            peer.line();
            all.countDown();
            all.await();
            peer.send("0\t1\n0\t1\tx\n");
            peer.line();
        };
        try (FakeServer server = new FakeServer(counting);
                HandlerSocketClient client = server.client().readConnections(3).build()) {
            List<CompletableFuture<Optional<String>>> futures = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                futures.add(index(client).async().findOne(i));
            }
            for (CompletableFuture<Optional<String>> future : futures) {
                assertEquals(Optional.of("x"), future.get(5, TimeUnit.SECONDS));
            }
            assertEquals(3, connections.get());
        }
    }

    @Test
    void aPipelineLargerThanTheBoundKeepsItsOrder() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        FakeServer.Conversation recording = peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                lines.add(line);
                String[] token = line.split("\t");
                peer.send(token[0].equals("P") ? "0\t1\n" : "0\t1\t" + token[3] + "\n");
            }
        };
        try (FakeServer server = new FakeServer(recording);
                HandlerSocketClient client = server.client().maxInFlight(7).build()) {
            Pipeline pipeline = client.pipeline();
            List<CompletableFuture<Optional<String>>> futures = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                futures.add(pipeline.on(index(client)).findOne(i));
            }
            pipeline.run();
            lines.poll();
            for (int i = 0; i < 100; i++) {
                assertEquals(Optional.of("" + i), futures.get(i).join());
                assertEquals("1\t=\t1\t" + i, lines.poll());
            }
        }
    }

    @Test
    void aLargeRequestIsWrittenWhileOthersWait() throws Exception {
        try (FakeServer server = new FakeServer(FakeServer::echo);
                HandlerSocketClient client = server.client().build()) {
            String large = "x".repeat(20_000_000);
            CompletableFuture<Optional<String>> one = index(client).async().findOne(large);
            CompletableFuture<Optional<String>> two = index(client).async().findOne("2");
            assertEquals(large, one.get(30, TimeUnit.SECONDS).orElseThrow());
            assertEquals(Optional.of("2"), two.get(5, TimeUnit.SECONDS));
        }
    }

    @Test
    void aServerThatWasRestartedIsFoundAgain() throws Exception {
        FakeServer server = new FakeServer(FakeServer::echo);
        int port = server.port();
        CountDownLatch ended = new CountDownLatch(1);
        ClientListener listener = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                if (event.what() == ConnectionEvent.What.CLOSED) {
                    ended.countDown();
                }
            }
        };
        try (HandlerSocketClient client = server.client().listener(listener).build()) {
            assertEquals(Optional.of("1"), index(client).findOne(1));
            server.close();
            assertTrue(ended.await(10, TimeUnit.SECONDS));
            assertThrows(ConnectException.class, () -> index(client).findOne(2));
            try (FakeServer again =
                    new FakeServer(new java.net.InetSocketAddress("127.0.0.1", port), FakeServer::echo)) {
                assertEquals(Optional.of("3"), index(client).findOne(3));
                assertTrue(again.port() == port);
            }
        }
    }
}
