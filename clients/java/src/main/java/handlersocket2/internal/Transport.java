package handlersocket2.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The bytes of one socket, which never blocks, so that no interrupt of a caller's thread can close it. One thread at a
 * time reads, and one at a time writes. Anybody may close it.
 */
abstract class Transport implements AutoCloseable {
    final SocketChannel channel;

    Transport(SocketChannel channel) {
        this.channel = channel;
    }

    /**
     * Reads what is there.
     *
     * @return how many bytes, 0 if there are none now, -1 at the end
     */
    abstract int read(ByteBuffer to) throws IOException;

    /** Whether another read may give bytes although the socket has none. */
    abstract boolean mayHoldBytes();

    /**
     * Hands over bytes.
     *
     * @return how many of them were taken; the rest has to be given again when the socket can be written
     */
    abstract int write(byte[] bytes, int from, int count) throws IOException;

    /** Whether bytes that were taken still wait here for the socket; write() with no bytes goes on with them. */
    abstract boolean holdsUnwritten();

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException problem) {
            // A socket that cannot be closed is closed.
        }
    }

    /** Without TLS. */
    static final class Plain extends Transport {
        private static final int PIECE = 1 << 16;
        private static final int READ_AT_MOST = 1 << 18;
        private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        // Without them, each thread that reads or writes would get one of its own from the JDK, until it ends.
        private ByteBuffer come = ByteBuffer.allocateDirect(PIECE);

        Plain(SocketChannel channel) {
            super(channel);
        }

        @Override
        int read(ByteBuffer to) throws IOException {
            come.clear().limit(Math.min(come.capacity(), to.remaining()));
            int count = channel.read(come);
            if (count > 0) {
                to.put(come.flip());
            }
            if (count == come.capacity() && count < READ_AT_MOST) {
                come = ByteBuffer.allocateDirect(count * 2);
            }
            return count;
        }

        @Override
        boolean mayHoldBytes() {
            return false;
        }

        @Override
        int write(byte[] bytes, int from, int count) throws IOException {
            int written = 0;
            while (written < count) {
                int some = Math.min(count - written, PIECE);
                piece.clear();
                piece.put(bytes, from + written, some).flip();
                int taken = channel.write(piece);
                written += taken;
                if (taken < some) {
                    break;
                }
            }
            return written;
        }

        @Override
        boolean holdsUnwritten() {
            return false;
        }
    }
}
