package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ConnectException;
import handlersocket2.HandlerSocketException;
import handlersocket2.ProtocolException;
import handlersocket2.ReplyException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Makes a connection on the thread that asks for it: socket, TLS, log-in. All of it has one deadline. Its errors are a
 * {@link ConnectException}, a {@link ReplyException}, or a {@link ProtocolException} if a port of something else answers.
 */
final class Connector {
    private static final int LONGEST_LOG_IN_REPLY = 4096;

    private final Settings settings;
    private final @Nullable TlsContexts tls;

    Connector(Settings settings) {
        this.settings = settings;
        this.tls = TlsContexts.of(settings);
    }

    /** A connection that is ready for requests, with the selector for which it is registered. */
    record Ready(Transport transport, Selector selector, SelectionKey key) {
        void close() {
            transport.close();
            Connector.close(selector);
        }
    }

    /** Why a connection could not be had, and whether a second attempt would give the same. */
    static final class Refused extends Exception {
        final HandlerSocketException reason;
        final boolean forGood;

        private final Supplier<HandlerSocketException> maker;

        Refused(Supplier<HandlerSocketException> maker, boolean forGood) {
            super(null, null, false, false);
            this.maker = maker;
            this.reason = maker.get();
            this.forGood = forGood;
        }

        /** Each caller gets an error of its own, since it becomes the caller's stack trace. */
        HandlerSocketException copy() {
            return maker.get();
        }
    }

    /**
     * Connects.
     *
     * @param toWrite which of the two ports
     * @param until a moment of the {@link Clock}
     * @param closed whether the client is closed, so that it is of no use to go on
     */
    Ready connect(Address address, boolean toWrite, long until, BooleanSupplier closed) throws Refused {
        Selector selector = null;
        SocketChannel channel = null;
        try {
            SocketAddress target = resolve(address, toWrite);
            selector = Selector.open();
            channel = target instanceof UnixDomainSocketAddress
                    ? SocketChannel.open(StandardProtocolFamily.UNIX)
                    : SocketChannel.open();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0);
            if (target instanceof InetSocketAddress) {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            }
            if (!channel.connect(target)) {
                do {
                    await(selector, key, SelectionKey.OP_CONNECT, until, closed);
                } while (!channel.finishConnect());
            }
            Transport transport = transport(channel, address, target);
            if (transport instanceof TlsTransport secure) {
                shakeHands(secure, selector, key, until, closed);
            }
            Ready ready = new Ready(transport, selector, key);
            logIn(ready, address, target, until, closed);
            return ready;
        } catch (SSLException problem) {
            close(channel, selector);
            throw refused("TLS with " + address + ": " + problem.getMessage(), problem, true);
        } catch (IOException | RuntimeException problem) {
            close(channel, selector);
            throw refused("connecting to " + address + ": " + reason(problem), problem, false);
        } catch (Refused | Error problem) {
            close(channel, selector);
            throw problem;
        }
    }

    private static Refused refused(String words, @Nullable Throwable cause, boolean forGood) {
        return new Refused(() -> new ConnectException(words, cause), forGood);
    }

    private static String reason(Exception problem) {
        return problem.getMessage() == null ? problem.getClass().getSimpleName() : problem.getMessage();
    }

    private static SocketAddress resolve(Address address, boolean toWrite) throws IOException {
        if (address.isUnix()) {
            Optional<Path> path = toWrite ? address.writeSocket() : address.readSocket().or(address::writeSocket);
            return UnixDomainSocketAddress.of(path.orElseThrow());
        }
        OptionalInt port = !toWrite && address.readPort().isPresent() ? address.readPort() : address.writePort();
        return new InetSocketAddress(InetAddress.getByName(address.host()), port.orElseThrow());
    }

    private Transport transport(SocketChannel channel, Address address, SocketAddress target) throws SSLException {
        if (tls == null) {
            return new Transport.Plain(channel);
        }
        return new TlsTransport(channel, tls.engine(address.host(), ((InetSocketAddress) target).getPort()));
    }

    private static void shakeHands(
            TlsTransport transport, Selector selector, SelectionKey key, long until, BooleanSupplier closed)
            throws IOException {
        try {
            while (!transport.handshake()) {
                int wanted = transport.holdsUnwritten() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ;
                await(selector, key, wanted, until, closed);
            }
        } catch (SSLException problem) {
            throw transport.isPlain() ? new SSLException("what comes is no TLS; this looks like a port without it", problem) : problem;
        }
    }

    /** The application's function may fail in any way. Who waits for the connection is told so. */
    private static String ask(Supplier<String> function, Address address) throws Refused {
        try {
            return function.get();
        } catch (Throwable problem) {
            String words = "connecting to " + address + ": the function for the password or the secret: " + problem;
            throw refused(words, problem, false);
        }
    }

    private void logIn(Ready ready, Address address, SocketAddress target, long until, BooleanSupplier closed)
            throws IOException, Refused {
        LineWriter line = new LineWriter();
        if (settings.user != null) {
            String password = settings.password == null ? "" : ask(settings.password, address);
            boolean local =
                    !(target instanceof InetSocketAddress inet) || inet.getAddress().isLoopbackAddress();
            if (!local && tls == null && !password.isEmpty()) {
                String words = ": a password is not sent over plain TCP: TLS is needed";
                throw refused("connecting to " + address + words, null, true);
            }
            line.raw("A\t2").value(settings.user).value(password).raw('\n');
        } else if (settings.secret != null) {
            line.raw("A\t1").value(ask(settings.secret, address)).raw('\n');
        } else {
            return;
        }
        send(ready, line, until, closed);
        Reply reply = receive(ready, address, until, closed);
        if (reply.code != 0) {
            String where = address.toString();
            throw new Refused(
                    () -> new ReplyException(true, false, reply.code, reply.errorText(), 0, null, where), true);
        }
    }

    private static void send(Ready ready, LineWriter line, long until, BooleanSupplier closed) throws IOException {
        int sent = 0;
        for (; ; ) {
            sent += ready.transport.write(line.bytes(), sent, line.length() - sent);
            if (sent == line.length() && !ready.transport.holdsUnwritten()) {
                return;
            }
            await(ready.selector, ready.key, SelectionKey.OP_WRITE, until, closed);
        }
    }

    /** Reads the one line that can come. */
    private static Reply receive(Ready ready, Address address, long until, BooleanSupplier closed)
            throws IOException, Refused {
        ByteBuffer buffer = ByteBuffer.allocate(LONGEST_LOG_IN_REPLY);
        try {
            return receive(ready, buffer, until, closed);
        } catch (Reply.WrongReply problem) {
            throw unexpected(problem.getMessage(), address);
        } catch (IOException problem) {
            if (Greetings.isForeign(buffer.array(), buffer.position())) {
                // Nothing more has come, but a second attempt would give the same.
                throw unexpected(Greetings.words(buffer.array(), buffer.position()), address);
            }
            throw problem;
        }
    }

    private static Reply receive(Ready ready, ByteBuffer buffer, long until, BooleanSupplier closed)
            throws IOException, Reply.WrongReply {
        for (; ; ) {
            int got = ready.transport.read(buffer);
            if (got < 0) {
                throw new IOException("the server ended the connection before it answered the log-in");
            }
            int end = buffer.position();
            if (Greetings.isOfSql(buffer.array(), end)) {
                // It waits for more than a log-in.
                throw new Reply.WrongReply(Greetings.words(buffer.array(), end));
            }
            for (int i = 0; i < end; i++) {
                if (buffer.get(i) == '\n') {
                    if (i + 1 < end) {
                        throw new Reply.WrongReply(Greetings.words(buffer.array(), end));
                    }
                    try {
                        return Reply.parse(buffer.array(), 0, i, Reply.Expect.NOTHING, -1);
                    } catch (Reply.WrongReply problem) {
                        throw new Reply.WrongReply(Greetings.words(buffer.array(), end));
                    }
                }
            }
            if (!buffer.hasRemaining()) {
                throw new Reply.WrongReply("the reply to the log-in is too long");
            }
            if (got == 0) {
                await(ready.selector, ready.key, SelectionKey.OP_READ, until, closed);
            }
        }
    }

    private static Refused unexpected(@Nullable String words, Address address) {
        return new Refused(() -> new ProtocolException("connecting to " + address + ": " + words), true);
    }

    /** Waits until the socket is ready for something, or throws. */
    static void await(Selector selector, SelectionKey key, int wanted, long until, BooleanSupplier closed)
            throws IOException {
        key.interestOps(wanted);
        for (; ; ) {
            long left = until - Clock.now();
            if (closed.getAsBoolean()) {
                throw new IOException("the client is closed");
            }
            if (left <= 0) {
                throw new IOException("it took too long");
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted");
            }
            if (selector.select(Math.min(50, TimeUnit.NANOSECONDS.toMillis(left) + 1)) > 0) {
                selector.selectedKeys().clear();
                return;
            }
        }
    }

    private static void close(@Nullable SocketChannel channel, @Nullable Selector selector) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException problem) {
                // It is given up anyway.
            }
        }
        close(selector);
    }

    static void close(@Nullable Selector selector) {
        if (selector != null) {
            try {
                selector.close();
            } catch (IOException problem) {
                // It has no more keys that matter.
            }
        }
    }
}
