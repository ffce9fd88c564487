package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the options of TLS do, and what is said when one side speaks TLS and the other does not. */
class TlsTest {
    @TempDir
    Path folder;

    private TestCertificate certificate;
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void makeCertificate() throws Exception {
        certificate = new TestCertificate(folder);
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text, StandardCharsets.ISO_8859_1);
    }

    private static void isRefused(String option, Path file, UnaryOperator<ClientBuilder> options) {
        ClientBuilder builder = options.apply(HandlerSocketClient.builder().tls(ClientBuilder.Tls.VERIFY));
        UsageException problem = assertThrows(UsageException.class, builder::build, option + " " + file);
        assertTrue(problem.getMessage().contains(option + ": "), problem.getMessage());
        assertTrue(problem.getMessage().contains(file.toString()), problem.getMessage());
    }

    @Test
    void filesThatCannotBeUsed() throws Exception {
        String key = "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n";
        for (Path file : List.of(
                folder.resolve("missing.pem"),
                folder,
                file("empty.pem", ""),
                file("words.pem", "no certificate, nor a key\n"),
                file("bytes.pem", "\u00ff\u00fe\0\1"),
                file("broken.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
                file("key.pem", key.formatted("MC4CAQAwBQYDK2VwBCIEIA==")))) {
            isRefused("tls_ca", file, builder -> builder.tlsCa(file));
            isRefused("tls_cert", file, builder -> builder.tlsCertificate(file, file));
            isRefused("tls_key", file, builder -> builder.tlsCertificate(certificate.pem, file));
        }
        Path half = file("half.pem", key.formatted("M"));
        isRefused("tls_key", half, builder -> builder.tlsCertificate(certificate.pem, half));
        isRefused("tls_key", certificate.pem, builder -> builder.tlsCertificate(certificate.pem, certificate.pem));
    }

    private SSLServerSocket listen() throws IOException {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        SSLServerSocket listener = (SSLServerSocket) certificate.context.getServerSocketFactory().createServerSocket(0, 5, here);
        FakeServer.start(() -> {
            while (true) {
                SSLSocket socket = (SSLSocket) listener.accept();
                FakeServer.start(() -> {
                    try (socket) {
                        echo(socket);
                    }
                });
            }
        });
        return listener;
    }

    private void echo(SSLSocket socket) throws IOException {
        socket.startHandshake();
        asked.add(((ExtendedSSLSession) socket.getSession()).getRequestedServerNames().toString());
        BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            socket.getOutputStream().write(FakeServer.echoOf(line).getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    private static ClientBuilder builder(int port) {
        return HandlerSocketClient.builder().address("127.0.0.1", port, port).database("db").connectAttempts(1);
    }

    /** A name of a host, one without a dot, and what no server can be asked by. */
    @Test
    void anUnverifiedServerIsAskedByTheName() throws Exception {
        try (SSLServerSocket listener = listen()) {
            for (String name : List.of("db.example", "db", "10.0.0.1", "::1", "a_b")) {
                asked.clear();
                try (HandlerSocketClient client = builder(listener.getLocalPort())
                        .tls(ClientBuilder.Tls.UNVERIFIED)
                        .tlsName(name)
                        .build()) {
                    assertEquals(Optional.of("1"), client.index("t", "a").as(String.class).findOne(1));
                }
                boolean isAsked = name.startsWith("db");
                assertEquals(isAsked ? "[type=host_name (0), value=" + name + "]" : "[]", asked.peek());
            }
        }
    }

    @Test
    void aVerifiedServerHasTheName() throws Exception {
        try (SSLServerSocket listener = listen()) {
            for (boolean right : new boolean[] {true, false}) {
                try (HandlerSocketClient client = builder(listener.getLocalPort())
                        .tls(ClientBuilder.Tls.VERIFY)
                        .tlsCa(certificate.pem)
                        .tlsName(right ? "127.0.0.1" : "db")
                        .build()) {
                    Index<String> index = client.index("t", "a").as(String.class);
                    if (right) {
                        assertEquals(Optional.of("1"), index.findOne(1));
                    } else {
                        ConnectException problem = assertThrows(ConnectException.class, () -> index.findOne(1));
                        assertTrue(problem.getMessage().contains("127.0.0.1:" + listener.getLocalPort()));
                    }
                }
            }
        }
    }

    private static final List<Function<Index<Row>, Object>> CALLS = List.of(
            index -> index.findOne(1), index -> index.update(Find.eq(1), List.of("b")), index -> index.stream(Find.eq(1)).toList());

    @Test
    void tlsToAPortWithoutIt() throws Exception {
        try (FakeServer server = new FakeServer(peer -> {
                    peer.in().read();
                    peer.send("2\t1\tcmd\n");
                    peer.in().transferTo(java.io.OutputStream.nullOutputStream());
                });
                HandlerSocketClient client =
                        builder(server.port()).tls(ClientBuilder.Tls.UNVERIFIED).build()) {
            for (Function<Index<Row>, Object> call : CALLS) {
                ConnectException problem =
                        assertThrows(ConnectException.class, () -> call.apply(client.index("t", "a")));
                assertTrue(problem.getMessage().startsWith("TLS with 127.0.0.1:" + server.port()), problem.getMessage());
                assertTrue(problem.getMessage().endsWith("looks like a port without it"), problem.getMessage());
            }
        }
    }

    @Test
    void noTlsToAPortWithIt() throws Exception {
        try (SSLServerSocket listener = listen()) {
            for (boolean logsIn : new boolean[] {true, false}) {
                ClientBuilder builder = builder(listener.getLocalPort());
                try (HandlerSocketClient client = (logsIn ? builder.user("ann").password("x") : builder).build()) {
                    for (Function<Index<Row>, Object> call : CALLS) {
                        HandlerSocketException problem =
                                assertThrows(HandlerSocketException.class, () -> call.apply(client.index("t", "a")));
                        assertTrue(problem.getMessage().contains("127.0.0.1:" + listener.getLocalPort()), problem.getMessage());
                        assertTrue(problem.getMessage().endsWith("looks like a port with TLS"), problem.getMessage());
                    }
                }
            }
        }
    }
}
