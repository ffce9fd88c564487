package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Listens on a port of 127.0.0.1 or on a Unix socket. A test says what happens on each connection. */
final class FakeServer implements AutoCloseable {

    /** What happens on a connection, on a thread of its own. It ends with the connection. */
    interface Conversation {
        void hold(Peer peer) throws Exception;
    }

    /** The client's end. */
    record Peer(SocketChannel channel, InputStream in) {

        /** The next line without LF, or null at the end. */
        String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int b = in.read(); b >= 0; b = in.read()) {
                if (b == '\n') {
                    return line.toString();
                }
                line.append((char) b);
            }
            return null;
        }

        void send(String latin) throws IOException {
            java.nio.ByteBuffer bytes = java.nio.ByteBuffer.wrap(latin.getBytes(ISO_8859_1));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        }
    }

    private final ServerSocketChannel listener;
    private final Thread accepting;
    private final Queue<SocketChannel> channels = new ConcurrentLinkedQueue<>();

    FakeServer(Conversation conversation) throws IOException {
        this(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), conversation);
    }

    FakeServer(SocketAddress address, Conversation conversation) throws IOException {
        boolean unix = address instanceof UnixDomainSocketAddress;
        listener = unix ? ServerSocketChannel.open(StandardProtocolFamily.UNIX) : ServerSocketChannel.open();
        listener.bind(address);
        accepting = start(() -> {
            while (true) {
                SocketChannel channel = listener.accept();
                channels.add(channel);
                if (!unix) {
                    Socket socket = channel.socket();
                    socket.setTcpNoDelay(true);
                }
                start(() -> {
                    try (channel) {
                        conversation.hold(new Peer(channel, new BufferedInputStream(Channels.newInputStream(channel))));
                    }
                });
            }
        });
    }

    interface Work {
        void run() throws Exception;
    }

    /** Does it on a thread of its own. What goes wrong there is for the client to see. */
    static Thread start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception problem) {
                // The client sees it.
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    /** Options of a client for it, by which everything goes over this one port. */
    ClientBuilder client() throws IOException {
        return HandlerSocketClient.builder()
                .address("127.0.0.1", port(), port())
                .database("db")
                .backoff(java.time.Duration.ofMillis(1), java.time.Duration.ofMillis(5));
    }

    /** Answers P, each find with a row of its key, and pings: what most tests need. */
    static void echo(Peer peer) throws IOException {
        for (String line = peer.line(); line != null; line = peer.line()) {
            peer.send(echoOf(line));
        }
    }

    /** What {@link #echo} answers to a line. */
    static String echoOf(String line) {
        String[] token = line.split("\t", -1);
        return token[0].equals("P") ? "0\t1\n" : "0\t1\t" + token[token[0].equals("echo") ? 1 : 3] + "\n";
    }

    @Override
    public void close() throws IOException {
        listener.close();
        try {
            // The kernel accepts as long as the thread is in accept().
            accepting.join(5000);
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
        }
        for (SocketChannel channel : channels) {
            channel.close();
        }
    }
}
