package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Random;

/** Rows of a seed: any bytes, NULL and empty values, and the reply that has them. */
final class RandomRows {
    private final byte[][][] rows;
    private final int columns;

    RandomRows(long seed) {
        Random random = new Random(seed);
        columns = 1 + random.nextInt(4);
        rows = new byte[random.nextInt(40)][columns][];
        for (byte[][] row : rows) {
            for (int i = 0; i < columns; i++) {
                row[i] = random.nextInt(5) == 0 ? null : new byte[random.nextInt(30)];
                if (row[i] != null) {
                    random.nextBytes(row[i]);
                }
            }
        }
    }

    String[] columns() {
        String[] names = new String[columns];
        for (int i = 0; i < columns; i++) {
            names[i] = "c" + i;
        }
        return names;
    }

    /** The token of a value, by another way than the client's. */
    static byte[] token(byte[] value) {
        if (value == null) {
            return new byte[] {0};
        }
        ByteArrayOutputStream token = new ByteArrayOutputStream();
        for (byte b : value) {
            if (b >= 0 && b < 16) {
                token.write(1);
                token.write(b + 64);
            } else {
                token.write(b);
            }
        }
        return token.toByteArray();
    }

    String reply() {
        StringBuilder reply = new StringBuilder("0\t" + columns);
        for (byte[][] row : rows) {
            for (byte[] value : row) {
                reply.append('\t').append(new String(token(value), ISO_8859_1));
            }
        }
        return reply.append('\n').toString();
    }

    void check(List<Row> got) {
        assertEquals(rows.length, got.size());
        for (int r = 0; r < rows.length; r++) {
            for (int c = 0; c < columns; c++) {
                assertArrayEquals(rows[r][c], got.get(r).getBytes("c" + c));
            }
        }
    }
}
