package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Plays the servers of a scenario of tests/vectors/scenarios.json: a thread for each connection. */
final class PlayedServer implements AutoCloseable {
    private static final int PATIENCE_MS = 5000;

    /** What went wrong, in words. */
    final Queue<String> failures = new ConcurrentLinkedQueue<>();

    private final Map<String, CountDownLatch> signals = new ConcurrentHashMap<>();
    private final List<ServerSocket> listeners = new ArrayList<>();
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unplayed = new AtomicInteger();
    private final int cut;
    private volatile boolean over;

    PlayedServer(int cut) {
        this.cut = cut;
    }

    /** Listens, and returns the port; 0 if the address has none. */
    @SuppressWarnings("unchecked")
    int port(Map<String, Object> server, String name) throws IOException {
        if (!server.containsKey(name)) {
            return 0;
        }
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        int port = listener.getLocalPort();
        Object scripts = server.get(name);
        if (scripts == null) {
            listener.close();
            return port;
        }
        listeners.add(listener);
        List<Object> all = (List<Object>) scripts;
        unplayed.addAndGet(all.size());
        start(() -> {
            for (int i = 0; ; i++) {
                Socket socket = listener.accept();
                sockets.add(socket);
                if (i >= all.size()) {
                    failures.add("there was a connection too many to the port " + name);
                    socket.close();
                    continue;
                }
                List<Map<String, Object>> script = (List<Map<String, Object>>) all.get(i);
                start(() -> play(socket, script));
            }
        });
        return port;
    }

    private interface Work {
        void run() throws Exception;
    }

    private void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception | AssertionError problem) {
                if (!over) {
                    failures.add(problem.toString());
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void play(Socket socket, List<Map<String, Object>> script) throws Exception {
        socket.setTcpNoDelay(true);
        boolean closed = false;
        for (Map<String, Object> step : script) {
            if (step.containsKey("expect")) {
                expect(socket, ((String) step.get("expect")).getBytes(ISO_8859_1));
            } else if (step.containsKey("send")) {
                send(socket, step);
            } else if (step.containsKey("quiet_ms")) {
                quiet(socket, ((BigInteger) step.get("quiet_ms")).intValue());
            } else if (step.containsKey("close")) {
                socket.shutdownOutput();
                closed = true;
                start(() -> drain(socket));
            } else if (step.containsKey("reset")) {
                socket.setSoLinger(true, 0);
                socket.close();
                closed = true;
            } else if (step.containsKey("expect_end")) {
                expectEnd(socket);
                closed = true;
            } else if (step.containsKey("stop_reading")) {
                closed = true;
            } else if (step.containsKey("signal")) {
                signal((String) step.get("signal"));
            } else {
                await((String) step.get("await"));
            }
        }
        unplayed.decrementAndGet();
        if (!closed) {
            // Behind the end of a script the client may send nothing more.
            socket.setSoTimeout(0);
            int more = read(socket);
            if (more >= 0 && !over) {
                failures.add("bytes came behind the end of a script: " + (char) more);
            }
        }
    }

    private static int read(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read();
        } catch (SocketTimeoutException problem) {
            throw problem;
        } catch (IOException reset) {
            return -1;
        }
    }

    private static void expect(Socket socket, byte[] wanted) throws IOException {
        socket.setSoTimeout(PATIENCE_MS);
        byte[] got = socket.getInputStream().readNBytes(wanted.length);
        String both = "expected " + show(wanted) + ", got " + show(got);
        if (!java.util.Arrays.equals(wanted, got)) {
            throw new AssertionError(both);
        }
    }

    private static String show(byte[] bytes) {
        return new String(bytes, ISO_8859_1).replace("\t", "\\t").replace("\n", "\\n");
    }

    private void send(Socket socket, Map<String, Object> step) throws Exception {
        byte[] bytes = ((String) step.get("send")).getBytes(ISO_8859_1);
        int count = step.containsKey("cut") ? cut : bytes.length;
        if (!step.containsKey("pieces") && !step.containsKey("every_ms")) {
            socket.getOutputStream().write(bytes, 0, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            socket.getOutputStream().write(bytes, i, 1);
            if (step.containsKey("every_ms")) {
                Thread.sleep(((BigInteger) step.get("every_ms")).longValue());
            }
        }
    }

    private static void quiet(Socket socket, int millis) throws IOException {
        socket.setSoTimeout(millis);
        try {
            int got = socket.getInputStream().read();
            throw new AssertionError("it should have been quiet, but there came " + got);
        } catch (SocketTimeoutException quiet) {
            // As it has to be.
        }
    }

    private static void drain(Socket socket) throws IOException {
        socket.setSoTimeout(0);
        while (read(socket) >= 0) {
            // Thrown away.
        }
    }

    private static void expectEnd(Socket socket) throws IOException {
        socket.setSoTimeout(PATIENCE_MS);
        int got = read(socket);
        if (got >= 0) {
            throw new AssertionError("the connection should have ended, but there came " + (char) got);
        }
        socket.close();
    }

    private CountDownLatch latch(String name) {
        return signals.computeIfAbsent(name, key -> new CountDownLatch(1));
    }

    void signal(String name) {
        latch(name).countDown();
    }

    void await(String name) throws InterruptedException {
        if (!latch(name).await(PATIENCE_MS, TimeUnit.MILLISECONDS)) {
            throw new AssertionError("the signal " + name + " did not come");
        }
    }

    /** Waits for the ends of all scripts. */
    void finish() throws InterruptedException {
        for (int i = 0; i < PATIENCE_MS / 10 && unplayed.get() > 0 && failures.isEmpty(); i++) {
            Thread.sleep(10);
        }
        if (unplayed.get() > 0) {
            failures.add(unplayed.get() + " scripts have not come to their end");
        }
    }

    @Override
    public void close() throws IOException {
        over = true;
        for (ServerSocket listener : listeners) {
            listener.close();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
