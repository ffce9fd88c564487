package handlersocket2.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever a line contains, it is a reply or a WrongReply, and every value of a reply can be read. */
class ReplyFuzzTest {
    private static final byte[] LIKELY = "0\t1\t2\t\t\001@A\000\n9-x".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);

    @Test
    void anyBytes() {
        Random random = new Random(1);
        int replies = 0;
        for (int i = 0; i < 300_000; i++) {
            byte[] line = new byte[random.nextInt(24)];
            for (int at = 0; at < line.length; at++) {
                line[at] = random.nextInt(8) == 0 ? (byte) random.nextInt() : LIKELY[random.nextInt(LIKELY.length)];
            }
            if (line.length > 3 && random.nextBoolean()) {
                line[0] = '0';
                line[1] = '\t';
                line[2] = (byte) ('0' + random.nextInt(3));
                line[3] = '\t';
            }
            Reply.Expect expect = Reply.Expect.values()[random.nextInt(Reply.Expect.values().length)];
            int begin = random.nextInt(2);
            if (begin > line.length) {
                continue;
            }
            try {
                Reply reply = Reply.parse(line, begin, line.length, expect, random.nextInt(3) - 1);
                replies++;
                for (int value = 0; value < reply.rows() * reply.columns && expect == Reply.Expect.ROWS; value++) {
                    byte[] bytes = reply.bytes(value);
                    assertEquals(bytes == null, reply.text(value) == null);
                    reply.smallNumber(value);
                }
                assertTrue(reply.errorText() != null);
            } catch (Reply.WrongReply wrong) {
                assertTrue(wrong.getMessage() != null);
            }
        }
        assertTrue(replies > 8_000, "only " + replies + " were replies");
    }
}
