package handlersocket2.internal;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that go out on a connection. Callers add to one buffer while another one is written. Everything is called
 * under the lane's lock, which is given away while the socket is written; only one thread writes at a time. Nothing here
 * blocks: what the socket does not take waits for the connection's thread.
 */
final class Outgoing {
    private static final int BUFFER = 1 << 16;
    private static final int KEEP_AT_MOST = 1 << 20;
    /** So often a thread writes what others have added meanwhile. Then it does its own work again. */
    private static final int ROUNDS = 4;

    private static final byte[] NOTHING = {};
    private static final int LARGEST = Integer.MAX_VALUE - 16;

    private final ReentrantLock lock;
    private final Counts counts;
    private final Transport transport;
    private byte[] bytes = new byte[BUFFER];
    private int length;
    private byte @Nullable [] spare = new byte[BUFFER];
    /** How many bytes were ever added, and how many of them the operating system has seen, or may see now. */
    private long added;

    private long handed;
    /** Somebody writes, or the socket has not taken all of {@link #rest}. */
    private boolean writing;

    private byte @Nullable [] rest;
    private int restFrom;
    private int restEnd;
    private @Nullable IOException problem;

    Outgoing(ReentrantLock lock, Counts counts, Transport transport) {
        this.lock = lock;
        this.counts = counts;
        this.transport = transport;
    }

    /** How many bytes wait to be written. */
    int length() {
        return length;
    }

    /** Where the next byte that is added stands among all bytes. */
    long added() {
        return added;
    }

    /** Whether the operating system can have seen a byte of what begins there. */
    boolean wasHanded(long start) {
        return start < handed;
    }

    boolean isWriting() {
        return writing;
    }

    /** The socket has to be ready before more can be written. */
    boolean waitsForSocket() {
        return rest != null;
    }

    /** Why nothing can be written any more. */
    @Nullable IOException problem() {
        return problem;
    }

    /** Adds a request: what stands in front of the id, the id, and what stands behind it. */
    void put(byte[] prefix, int id, byte[] line, int count) {
        if (prefix.length > 0) {
            put(prefix);
        }
        need(count + 20);
        int end = LineWriter.putNumber(bytes, length, id);
        System.arraycopy(line, 0, bytes, end, count);
        added += end + count - length;
        length = end + count;
    }

    /** Adds bytes as they are. */
    void put(byte[] more) {
        put(more, more.length);
    }

    /** Adds the first bytes as they are. */
    void put(byte[] more, int count) {
        need(count);
        System.arraycopy(more, 0, bytes, length, count);
        added += count;
        length += count;
    }

    private void need(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(LARGEST, Math.max(bytes.length * 2L, (long) length + more)));
        }
    }

    /**
     * Writes all that was added, and some of what is added meanwhile. Nobody else may be writing.
     *
     * @return false if the connection's thread has to go on with it
     */
    boolean flush() {
        try {
            return flushRounds();
        } catch (RuntimeException | Error failed) {
            // There is no memory, for example. What is left of the bytes, nobody knows.
            problem = new IOException(failed);
            return false;
        }
    }

    private boolean flushRounds() {
        writing = true;
        for (int round = 0; length > 0; round++) {
            if (round == ROUNDS) {
                writing = false;
                return false;
            }
            byte[] filled = bytes;
            int count = length;
            bytes = spare == null ? new byte[BUFFER] : spare;
            spare = null;
            length = 0;
            if (!write(filled, 0, count)) {
                return false;
            }
            spare = filled.length <= KEEP_AT_MOST ? filled : null;
        }
        writing = false;
        return true;
    }

    /** Goes on with what the socket did not take. Only the connection's thread does that. */
    void flushRest() {
        if (!writing && transport.holdsUnwritten()) {
            // TLS itself had something to say while the connection's thread was reading.
            writing = true;
            rest = NOTHING;
            restFrom = 0;
            restEnd = 0;
        }
        byte[] left = rest;
        if (left != null && problem == null) {
            rest = null;
            writing = !write(left, restFrom, restEnd);
        }
    }

    private boolean write(byte[] from, int begin, int end) {
        handed += end - begin;
        int taken = 0;
        IOException failure = null;
        boolean holds = false;
        lock.unlock();
        try {
            taken = transport.write(from, begin, end - begin);
            holds = transport.holdsUnwritten();
        } catch (IOException failed) {
            failure = failed;
        } finally {
            lock.lock();
        }
        counts.writes++;
        if (failure != null) {
            // How much of it was sent, nobody knows.
            problem = failure;
            return false;
        }
        counts.bytesOut += taken;
        if (begin + taken < end || holds) {
            handed -= end - begin - taken;
            rest = from;
            restFrom = begin + taken;
            restEnd = end;
            return false;
        }
        return true;
    }
}
