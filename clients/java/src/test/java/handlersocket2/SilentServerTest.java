package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A server that takes connections, and answers nothing on them: another one is asked then. */
class SilentServerTest {
    private static final FakeServer.Conversation FROZEN = peer -> {
        while (peer.line() != null) {
            // It says nothing.
        }
    };
    private static final FakeServer.Conversation ENDS = peer -> {
        peer.line();
        peer.line();
    };
    private static final FakeServer.Conversation NO_REPLY = peer -> {
        while (peer.line() != null) {
            peer.send("-ERR unknown command\r\n");
        }
    };
    /** What is found on the second server. */
    private static final FakeServer.Conversation SERVES = peer -> {
        for (String line = peer.line(); line != null; line = peer.line()) {
            peer.send(line.startsWith("P\t") ? "0\t1\n" : line.contains("\tU\t") ? "0\t1\t1\n" : "0\t1\tx\n");
        }
    };

    private final Queue<String> events = new ConcurrentLinkedQueue<>();

    private interface Request {
        Object ask(Index<String> index);
    }

    private HandlerSocketClient client(FakeServer... servers) throws Exception {
        List<Address> addresses = new ArrayList<>();
        for (FakeServer server : servers) {
            addresses.add(Address.of("127.0.0.1", server.port(), server.port()));
        }
        ClientListener listener = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                if (event.what() == ConnectionEvent.What.FAILED_OVER) {
                    events.add(event.reason());
                }
            }
        };
        return servers[0].client().addresses(addresses).deadAfter(Duration.ofSeconds(2)).listener(listener).build();
    }

    /** The first call has the error, and each one behind it goes to the second server. */
    private void isLeft(FakeServer.Conversation first, Failure.Kind kind, boolean modifies, Object result, Request request)
            throws Exception {
        events.clear();
        try (FakeServer one = new FakeServer(first);
                FakeServer two = new FakeServer(SERVES);
                HandlerSocketClient client = client(one, two)) {
            Index<String> index = client.index("t", "a").as(String.class);
            Failure problem = (Failure) assertThrows(RuntimeException.class, () -> request.ask(index));
            assertEquals(kind, problem.kind());
            assertEquals(modifies, problem.maybeExecuted());
            for (int i = 0; i < 3; i++) {
                assertEquals(result, request.ask(index));
            }
            assertEquals(1, events.size(), events::toString);
        }
    }

    private void isLeft(FakeServer.Conversation first, Failure.Kind kind) throws Exception {
        isLeft(first, kind, false, Optional.of("x"), index -> index.findOne(1));
        isLeft(first, kind, true, 1L, index -> index.update(Find.eq(1), List.of("y")));
        isLeft(first, kind, false, List.of("x"), index -> index.stream(Find.eq(1)).toList());
    }

    @Test
    void oneThatIsFrozen() throws Exception {
        isLeft(FROZEN, Failure.Kind.LOST);
    }

    @Test
    void oneThatEndsItsConnections() throws Exception {
        isLeft(ENDS, Failure.Kind.LOST);
    }

    @Test
    void oneThatSpeaksSomethingElse() throws Exception {
        isLeft(NO_REPLY, Failure.Kind.PROTOCOL);
    }

    @Test
    void anAddressAloneStays() throws Exception {
        try (FakeServer one = new FakeServer(ENDS);
                HandlerSocketClient client = client(one)) {
            Index<String> index = client.index("t", "a").as(String.class);
            for (int i = 0; i < 2; i++) {
                assertThrows(ConnectionLostException.class, () -> index.findOne(1));
                assertThrows(ConnectionLostException.class, () -> index.stream(Find.eq(1)).toList());
            }
            assertEquals(0, events.size(), events::toString);
        }
    }

    /** A server that has answered is there, and a connection to it may be lost. */
    @Test
    void oneThatHasAnsweredStays() throws Exception {
        FakeServer.Conversation answersOne = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1\tfirst\n");
            peer.line();
        };
        try (FakeServer one = new FakeServer(answersOne);
                FakeServer two = new FakeServer(SERVES);
                HandlerSocketClient client = client(one, two)) {
            Index<String> index = client.index("t", "a").as(String.class);
            for (int i = 0; i < 3; i++) {
                assertEquals(Optional.of("first"), index.findOne(1));
                assertThrows(ConnectionLostException.class, () -> index.findOne(1));
                assertEquals(List.of("first"), index.stream(Find.eq(1)).toList());
                assertThrows(ConnectionLostException.class, () -> index.stream(Find.eq(1)).toList());
            }
            assertEquals(0, events.size(), events::toString);
        }
    }
}
