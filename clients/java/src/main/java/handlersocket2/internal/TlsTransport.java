package handlersocket2.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/** A socket with TLS. The handshake is part of reading and writing; the connector drives it until it is done. */
final class TlsTransport extends Transport {
    private final SSLEngine engine;
    /** Of who writes: a caller, the connection's thread, or the reader when TLS itself has something to say. */
    private final ReentrantLock writing = new ReentrantLock();

    private ByteBuffer netOut;
    private ByteBuffer netIn;
    private ByteBuffer plain;
    private boolean ended;
    /** The first byte that has come, or -1. */
    private int first = -1;

    TlsTransport(SocketChannel channel, SSLEngine engine) throws SSLException {
        super(channel);
        this.engine = engine;
        int packet = engine.getSession().getPacketBufferSize();
        netOut = ByteBuffer.allocateDirect(packet * 2).limit(0);
        netIn = ByteBuffer.allocateDirect(packet * 2);
        plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
        engine.beginHandshake();
    }

    /** Goes on with the handshake as far as the socket allows. */
    boolean handshake() throws IOException {
        for (; ; ) {
            HandshakeStatus status = engine.getHandshakeStatus();
            if (status == HandshakeStatus.NEED_TASK) {
                tasks();
            } else if (status == HandshakeStatus.NEED_WRAP) {
                write(new byte[0], 0, 0);
                if (holdsUnwritten()) {
                    return false;
                }
            } else if (status == HandshakeStatus.NEED_UNWRAP || status == HandshakeStatus.NEED_UNWRAP_AGAIN) {
                int got = unwrap();
                if (got < 0) {
                    throw new EOFException("the server ended the connection during the TLS handshake");
                }
                if (got == 0 && engine.getHandshakeStatus() == status) {
                    return false;
                }
            } else {
                write(new byte[0], 0, 0);
                return !holdsUnwritten();
            }
        }
    }

    /** Whether what has come cannot be TLS: its records begin with a byte from 20 to 23. */
    boolean isPlain() {
        return first >= 0 && (first < 20 || first > 23);
    }

    private void tasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    @Override
    int read(ByteBuffer to) throws IOException {
        while (!plain.hasRemaining()) {
            if (ended) {
                return -1;
            }
            int got = unwrap();
            if (got < 0) {
                ended = true;
                return -1;
            }
            if (engine.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                tasks();
            }
            if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                write(new byte[0], 0, 0);
            }
            if (got == 0) {
                return 0;
            }
        }
        int count = Math.min(plain.remaining(), to.remaining());
        to.put(plain.array(), plain.arrayOffset() + plain.position(), count);
        plain.position(plain.position() + count);
        return count;
    }

    /**
     * Unwraps a record.
     *
     * @return 1 if something went on, 0 if the socket has to bring more, -1 at the end
     */
    private int unwrap() throws IOException {
        for (; ; ) {
            plain.clear();
            netIn.flip();
            SSLEngineResult result;
            try {
                result = engine.unwrap(netIn, plain);
            } finally {
                netIn.compact();
                plain.flip();
            }
            switch (result.getStatus()) {
                case OK -> {
                    if (result.bytesConsumed() == 0 && result.bytesProduced() == 0) {
                        return fill();
                    }
                    return 1;
                }
                case CLOSED -> {
                    return -1;
                }
                case BUFFER_OVERFLOW -> plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize() * 2);
                case BUFFER_UNDERFLOW -> {
                    if (!netIn.hasRemaining()) {
                        ByteBuffer larger = ByteBuffer.allocateDirect(netIn.capacity() * 2);
                        netIn.flip();
                        netIn = larger.put(netIn);
                    }
                    int got = fill();
                    if (got <= 0) {
                        return got;
                    }
                }
            }
        }
    }

    private int fill() throws IOException {
        int got = channel.read(netIn);
        if (first < 0 && got > 0) {
            first = netIn.get(0) & 0xFF;
        }
        return Integer.signum(got);
    }

    @Override
    boolean mayHoldBytes() {
        return true;
    }

    @Override
    int write(byte[] bytes, int from, int count) throws IOException {
        writing.lock();
        try {
            ByteBuffer data = ByteBuffer.wrap(bytes, from, count);
            do {
                if (netOut.hasRemaining()) {
                    channel.write(netOut);
                    if (netOut.hasRemaining()) {
                        break;
                    }
                }
                if (!data.hasRemaining() && engine.getHandshakeStatus() != HandshakeStatus.NEED_WRAP) {
                    break;
                }
                netOut.clear();
                SSLEngineResult result;
                try {
                    result = engine.wrap(data, netOut);
                } finally {
                    netOut.flip();
                }
                if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
                    netOut = ByteBuffer.allocateDirect(netOut.capacity() * 2).limit(0);
                } else if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                    throw new SSLException("the server has closed the TLS connection");
                }
            } while (data.hasRemaining()
                    || netOut.hasRemaining()
                    || engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP);
            return count - data.remaining();
        } finally {
            writing.unlock();
        }
    }

    @Override
    boolean holdsUnwritten() {
        writing.lock();
        try {
            return netOut.hasRemaining();
        } finally {
            writing.unlock();
        }
    }
}
