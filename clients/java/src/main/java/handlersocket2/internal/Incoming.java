package handlersocket2.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The bytes that have come on a connection and answer nothing yet. Only who reads touches them: see {@link Replies}. */
final class Incoming {
    private static final int BUFFER = 1 << 16;
    private static final int KEEP_AT_MOST = 1 << 20;

    private final Transport transport;
    private final int maxReplyBytes;
    private byte[] bytes = new byte[BUFFER];
    private ByteBuffer buffer = ByteBuffer.wrap(bytes);
    private int length;
    private int scanned;

    Incoming(Transport transport, int maxReplyBytes) {
        this.transport = transport;
        this.maxReplyBytes = maxReplyBytes;
    }

    /** What has come stands at its beginning. Another read may give another array. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    /** Reads what is there. How many bytes have come, or -1 at the end. */
    int read() throws IOException {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(length * 2L, maxReplyBytes + 2L + BUFFER));
            buffer = ByteBuffer.wrap(bytes);
        }
        buffer.limit(bytes.length).position(length);
        int count = transport.read(buffer);
        if (count > 0) {
            length += count;
        }
        return count;
    }

    /** How many lines end in what has come since it was asked last. */
    int newLines() {
        int lines = 0;
        for (int i = scanned; i < length; i++) {
            if (bytes[i] == '\n') {
                lines++;
            }
        }
        scanned = length;
        return lines;
    }

    /** The last bytes, of which it was asked, are asked about again. */
    void scanAgain(int count) {
        scanned = length - count;
    }

    /** Drops the first bytes, which were answered. */
    void drop(int count) {
        length -= count;
        System.arraycopy(bytes, count, bytes, 0, length);
        scanned = length;
        if (length == 0 && bytes.length > KEEP_AT_MOST) {
            bytes = new byte[BUFFER];
            buffer = ByteBuffer.wrap(bytes);
        }
    }
}
