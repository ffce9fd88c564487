package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** What ports of other protocols answer to a log-in. */
class LogInTest {
    private static final String SQL = "J\0\0\0\n10.11.6-MariaDB\0\5\0\0\0salt";

    /** How a port of something else behaves. */
    private static final Map<String, FakeServer.Conversation> FOREIGN = Map.of(
            "Redis", peer -> {
                while (peer.line() != null) {
                    peer.send("-ERR unknown command 'A'\r\n");
                }
            },
            "memcached", peer -> {
                while (peer.line() != null) {
                    peer.send("ERROR\r\n");
                }
            },
            "SQL", peer -> {
                peer.send(SQL);
                while (peer.line() != null) {
                    // It waits for the rest of a packet.
                }
            },
            "SQL that hangs up", peer -> {
                peer.send(SQL);
                peer.line();
            },
            "HTTP", peer -> {
                peer.line();
                peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            },
            "a word without an end", peer -> {
                peer.line();
                peer.send("SSH-2.0");
            },
            "a word and a reset", peer -> {
                peer.send("SSH-2.0");
                peer.line();
                peer.channel().setOption(StandardSocketOptions.SO_LINGER, 0);
            });

    private final AtomicInteger connections = new AtomicInteger();

    private FakeServer server(FakeServer.Conversation conversation) throws Exception {
        return new FakeServer(peer -> {
            connections.incrementAndGet();
            conversation.hold(peer);
        });
    }

    private void isRefused(String name, UnaryOperator<ClientBuilder> logIn, Consumer<Index<Row>> call) throws Exception {
        connections.set(0);
        try (FakeServer server = server(FOREIGN.get(name));
                HandlerSocketClient client = logIn.apply(server.client()).build()) {
            Throwable problem = assertThrows(RuntimeException.class, () -> call.accept(client.index("t", "a")), name);
            ProtocolException own = (ProtocolException) (problem instanceof CompletionException ? problem.getCause() : problem);
            assertEquals(Failure.Kind.PROTOCOL, own.kind(), name);
            assertFalse(own.wasSent(), name);
            assertFalse(own.maybeExecuted(), name);
            assertEquals(name.startsWith("SQL"), own.getMessage().contains("the port of SQL"), own.getMessage());
            // A second attempt would give the same.
            assertEquals(1, connections.get(), name);
        }
    }

    @Test
    void portsOfSomethingElse() throws Exception {
        for (String name : FOREIGN.keySet()) {
            for (UnaryOperator<ClientBuilder> logIn : List.<UnaryOperator<ClientBuilder>>of(
                    builder -> builder.user("ann").password("x"), builder -> builder.secret("x"))) {
                isRefused(name, logIn, index -> index.findOne(1));
                isRefused(name, logIn, index -> index.update(Find.eq(1), List.of("b")));
                isRefused(name, logIn, index -> index.async().findOne(1).join());
                isRefused(name, logIn, index -> index.iterate(Find.eq(1)));
            }
        }
    }

    @Test
    void theNextAddressIsTried() throws Exception {
        try (FakeServer foreign = new FakeServer(FOREIGN.get("Redis"));
                FakeServer right = new FakeServer(peer -> {
                    peer.line();
                    peer.send("0\t1\n");
                    FakeServer.echo(peer);
                });
                HandlerSocketClient client = foreign.client().user("ann").password("x").addresses(List.of(
                        Address.of("127.0.0.1", foreign.port(), foreign.port()),
                        Address.of("127.0.0.1", right.port(), right.port()))).build()) {
            assertEquals(Optional.of("1"), client.index("t", "a").as(String.class).findOne(1));
        }
    }

    /** It can be a server that was stopped at this moment. */
    @Test
    void aReplyThatIsCutIsTriedAgain() throws Exception {
        try (FakeServer server = server(peer -> {
                    peer.line();
                    peer.send(connections.get() == 1 ? "0\t" : "0\t1\n");
                    if (connections.get() > 1) {
                        FakeServer.echo(peer);
                    }
                });
                HandlerSocketClient client = server.client().user("ann").password("x").timeout(Duration.ofSeconds(20)).build()) {
            assertTrue(client.index("t", "a").findOne(1).isPresent());
            assertEquals(2, connections.get());
        }
    }
}
