package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server ends TLS, and keeps the socket open. */
class TlsEndsTest {
    @TempDir
    Path folder;

    private SSLContext context;
    /** The server is about to end TLS. Its reply waits for that, so that the client reads both at once. */
    private final AtomicBoolean ending = new AtomicBoolean();

    @BeforeEach
    void makeCertificate() throws Exception {
        context = new TestCertificate(folder).context;
    }

    /**
     * As {@link FakeServer#echo} with TLS, which it ends instead of a reply to "end", and behind the replies to "last" and
     * "together".
     */
    private void echoToTheEnd(SSLServerSocket listener) throws IOException {
        try (SSLSocket socket = (SSLSocket) listener.accept()) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                boolean ends = line.endsWith("\tend");
                ending.set(line.endsWith("\ttogether"));
                if (!ends) {
                    socket.getOutputStream().write(FakeServer.echoOf(line).getBytes(ISO_8859_1));
                }
                if (ends || ending.get() || line.endsWith("\tlast")) {
                    socket.shutdownOutput();
                    ending.set(false);
                    // The client ends the socket.
                    in.readLine();
                    return;
                }
            }
        }
    }

    /** Hands the bytes on in both directions. When those of the server end, the client's socket stays open. */
    private void handOn(FakeServer.Peer peer, SSLServerSocket listener) throws Exception {
        try (Socket server = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            server.setTcpNoDelay(true);
            FakeServer.start(() -> echoToTheEnd(listener));
            FakeServer.start(() -> {
                InputStream in = server.getInputStream();
                byte[] bytes = new byte[1 << 16];
                for (int count = in.read(bytes); count > 0; count = in.read(bytes)) {
                    while (ending.get()) {
                        Thread.onSpinWait();
                    }
                    int more = in.available() > 0 ? in.read(bytes, count, bytes.length - count) : 0;
                    ByteBuffer left = ByteBuffer.wrap(bytes, 0, count + more);
                    while (left.hasRemaining()) {
                        peer.channel().write(left);
                    }
                }
            });
            peer.in().transferTo(server.getOutputStream());
        }
    }

    /** Each future is chained to the one before, so that the connection's thread stays awake. */
    @Test
    void theEndIsSeenWhileTheClientStaysAwake() throws Exception {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        try (SSLServerSocket listener =
                        (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 5, here);
                FakeServer server = new FakeServer(peer -> handOn(peer, listener));
                HandlerSocketClient client = server.client()
                        .tls(ClientBuilder.Tls.VERIFY)
                        .sslContext(context)
                        .timeout(Duration.ofSeconds(10))
                        .build()) {
            AsyncIndex<Row> index = client.index("t", "a").async();
            for (int round = 0; round < 20; round++) {
                CompletableFuture<Optional<Row>> end = findMany(index).thenCompose(row -> index.findOne("end"));
                Throwable problem = assertThrows(ExecutionException.class, () -> end.get(20, TimeUnit.SECONDS));
                assertInstanceOf(ConnectionLostException.class, problem.getCause());

                // It is luck whether a look meets the end, so there are several.
                for (String key : List.of("last", "last", "last", "together", "together", "together")) {
                    CompletableFuture<Optional<Row>> behind = findMany(index)
                            .thenCompose(row -> index.findOne(key))
                            .thenCompose(row -> {
                                if (key.equals("together")) {
                                    // Then nobody looks any more.
                                    index.findOne("beside");
                                }
                                return index.findOne("behind");
                            });
                    try {
                        assertEquals("behind", behind.get(20, TimeUnit.SECONDS).orElseThrow().getString(0));
                    } catch (ExecutionException lost) {
                        // It was in flight already when the end was seen.
                        assertInstanceOf(ConnectionLostException.class, lost.getCause());
                    }
                }
            }
        }
    }

    private static CompletableFuture<Optional<Row>> findMany(AsyncIndex<Row> index) {
        CompletableFuture<Optional<Row>> last = index.findOne("x");
        for (int i = 0; i < 60; i++) {
            last = last.thenCompose(row -> index.findOne("x"));
        }
        return last;
    }
}
