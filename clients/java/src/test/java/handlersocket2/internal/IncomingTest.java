package handlersocket2.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bytes that have come, and the lines in them. */
class IncomingTest {
    /** Gives one of its texts at each read. */
    private static final class Texts extends Transport {
        private final ArrayDeque<String> texts;

        Texts(SocketChannel channel, List<String> texts) {
            super(channel);
            this.texts = new ArrayDeque<>(texts);
        }

        @Override
        int read(ByteBuffer to) {
            String text = texts.poll();
            if (text == null) {
                return 0;
            }
            to.put(text.getBytes());
            return text.length();
        }

        @Override
        boolean mayHoldBytes() {
            return false;
        }

        @Override
        int write(byte[] bytes, int from, int count) {
            return count;
        }

        @Override
        boolean holdsUnwritten() {
            return false;
        }
    }

    @Test
    void linesThatAreLeftAreCountedAgain() throws Exception {
        try (SocketChannel channel = SocketChannel.open()) {
            Incoming in = new Incoming(new Texts(channel, List.of("0\t1\n0", "\t1\n0\t1\n")), 1 << 20);
            assertEquals(5, in.read());
            assertEquals(1, in.newLines());
            assertEquals(7, in.read());
            assertEquals(2, in.newLines());
            assertEquals(0, in.newLines());
            in.scanAgain(7);
            assertEquals(2, in.newLines());
            in.drop(8);
            assertEquals(4, in.length());
            assertEquals(0, in.newLines());
        }
    }
}
