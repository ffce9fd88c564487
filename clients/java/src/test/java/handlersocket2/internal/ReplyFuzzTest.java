package handlersocket2.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.Json;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever a line contains, it is a reply or a WrongReply, and every value of a reply can be read. */
class ReplyFuzzTest {
    private static final byte[] LIKELY = "0\t1\t2\t\t\001@A\000\n9-x".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);

    @Test
    void anyBytes() {
        Random random = new Random(1);
        int replies = 0;
        for (int i = 0; i < 400_000; i++) {
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
                assertEquals(reply.texts() == null, reply.code == 0 || reply.values() < 4);
            } catch (Reply.WrongReply wrong) {
                assertTrue(wrong.getMessage() != null);
            }
        }
        assertTrue(replies > 8_000, "only " + replies + " were replies");
    }

    /** The same of descriptions, each of which is like one of the vectors. */
    @Test
    void anyDescription() {
        Random random = new Random(2);
        int described = 0;
        for (Map<String, Object> vector : Json.vectors("descriptions.json")) {
            byte[] good = ((String) vector.get("line")).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
            for (int i = 0; i < 3_000; i++) {
                byte[] line = Arrays.copyOf(good, good.length - 1);
                for (int changes = random.nextInt(4); changes > 0; changes--) {
                    line[random.nextInt(line.length)] = LIKELY[random.nextInt(LIKELY.length)];
                }
                IndexDef index = new IndexDef(0, new IndexDef.Key("d", "t", "", null, List.of()));
                Call<?> call = new Call<>(
                        Operation.DESCRIBE, index, new byte[0], new LineWriter(), Reply.Expect.DESCRIPTION, false, 0, 0,
                        0, reply -> reply, null);
                try {
                    Reply reply = call.read(line, 0, line.length);
                    described += reply.code == 0 ? 1 : 0;
                    assertTrue(reply.code != 0 || reply.values() % Columns.WIDTH == 0 && reply.values() > 0);
                } catch (Reply.WrongReply wrong) {
                    assertTrue(wrong.getMessage() != null);
                }
            }
        }
        assertTrue(described > 5_000, "only " + described + " were descriptions");
    }
}
