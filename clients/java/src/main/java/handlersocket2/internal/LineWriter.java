package handlersocket2.internal;

import handlersocket2.UsageException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Year;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of requests, and how values become tokens. A caller uses one for each request; it is not shared between
 * threads.
 */
public final class LineWriter {
    private static final byte ESCAPE = 0x01;
    private static final int FIRST_PLAIN = 0x10;
    private static final int SHIFT = 0x40;

    private byte[] bytes;
    private int length;

    public LineWriter() {
        this(64);
    }

    public LineWriter(int capacity) {
        bytes = new byte[capacity];
    }

    /** The bytes that were written stand at its beginning. */
    public byte[] bytes() {
        return bytes;
    }

    public int length() {
        return length;
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, length);
    }

    private void need(int more) {
        if (bytes.length - length < more) {
            long wanted = Math.max((long) length + more, bytes.length * 2L);
            if ((long) length + more > Integer.MAX_VALUE - 16) {
                throw new UsageException("the request is larger than 2 GiB");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.min(wanted, Integer.MAX_VALUE - 16));
        }
    }

    /** A byte as it is. */
    public LineWriter raw(char character) {
        need(1);
        bytes[length++] = (byte) character;
        return this;
    }

    /** ASCII as it is. */
    public LineWriter raw(String ascii) {
        int count = ascii.length();
        need(count);
        for (int i = 0; i < count; i++) {
            bytes[length++] = (byte) ascii.charAt(i);
        }
        return this;
    }

    /** Bytes as they are. */
    public LineWriter raw(byte[] more) {
        need(more.length);
        System.arraycopy(more, 0, bytes, length, more.length);
        length += more.length;
        return this;
    }

    /** A number of the protocol, whose 64 bits have no sign. */
    public LineWriter number(long unsigned) {
        need(20);
        length = putNumber(bytes, length, unsigned);
        return this;
    }

    /** Writes the digits and returns where they end. There have to be 20 bytes. */
    static int putNumber(byte[] to, int at, long unsigned) {
        if (unsigned < 0) {
            for (char digit : Long.toUnsignedString(unsigned).toCharArray()) {
                to[at++] = (byte) digit;
            }
            return at;
        }
        int digits = 1;
        for (long rest = unsigned; rest >= 10; rest /= 10) {
            digits++;
        }
        long rest = unsigned;
        for (int i = digits - 1; i >= 0; i--, rest /= 10) {
            to[at + i] = (byte) ('0' + rest % 10);
        }
        return at + digits;
    }

    /** A name of P: UTF-8 that is not escaped. */
    public LineWriter name(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '\t' || c == '\n' || c == '\r' || c == 0) {
                throw new UsageException("a name cannot contain TAB, LF, CR or NUL");
            }
        }
        utf8(name, 0, false);
        return this;
    }

    /** TAB and the value's token. */
    public LineWriter value(@Nullable Object value) {
        raw('\t');
        if (value == null) {
            return raw('\0');
        }
        if (value instanceof String text) {
            return text(text);
        }
        if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            return signed(((Number) value).longValue());
        }
        if (value instanceof byte[] data) {
            return data(data, 0, data.length);
        }
        return other(value);
    }

    private LineWriter signed(long number) {
        if (number >= 0) {
            return number(number);
        }
        raw('-');
        // The smallest number has no opposite, but its bits, read without a sign, are right.
        return number(-number);
    }

    private LineWriter other(Object value) {
        if (value instanceof Boolean truth) {
            return raw(truth ? '1' : '0');
        }
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (Double.isNaN(number) || Double.isInfinite(number)) {
                throw new UsageException("a column cannot hold NaN or infinity");
            }
            return raw(value.toString());
        }
        if (value instanceof BigDecimal || value instanceof BigInteger || value instanceof UUID) {
            return raw(value.toString());
        }
        if (value instanceof LocalDate || value instanceof LocalDateTime || value instanceof LocalTime) {
            return raw(Moments.write((Temporal) value));
        }
        if (value instanceof Duration duration) {
            return raw(Moments.write(duration));
        }
        if (value instanceof Year year) {
            return raw(Integer.toString(year.getValue()));
        }
        if (value instanceof Enum<?> constant) {
            return text(constant.name());
        }
        if (value instanceof Character || value instanceof StringBuilder) {
            return text(value.toString());
        }
        if (value instanceof ByteBuffer buffer) {
            byte[] copy = new byte[buffer.remaining()];
            buffer.duplicate().get(copy);
            return data(copy, 0, copy.length);
        }
        if (value instanceof Temporal) {
            throw new UsageException(
                    "a column has no time zone: give a LocalDateTime in place of a " + value.getClass().getSimpleName());
        }
        throw new UsageException("a value of the type " + value.getClass().getName() + " cannot be sent");
    }

    private LineWriter data(byte[] data, int from, int to) {
        need(to - from);
        for (int i = from; i < to; i++) {
            byte b = data[i];
            if (b >= 0 && b < FIRST_PLAIN) {
                need(to - i + 1);
                bytes[length++] = ESCAPE;
                bytes[length++] = (byte) (b + SHIFT);
            } else {
                bytes[length++] = b;
            }
        }
        return this;
    }

    private LineWriter text(String text) {
        int count = text.length();
        need(count);
        for (int i = 0; i < count; i++) {
            char c = text.charAt(i);
            if (c < FIRST_PLAIN || c >= 0x80) {
                utf8(text, i, true);
                return this;
            }
            bytes[length++] = (byte) c;
        }
        return this;
    }

    /** The rest of a text, whatever it contains. */
    private void utf8(String text, int from, boolean escape) {
        int count = text.length();
        for (int i = from; i < count; i++) {
            char c = text.charAt(i);
            need(4);
            if (c < 0x80) {
                if (c < FIRST_PLAIN && escape) {
                    bytes[length++] = ESCAPE;
                    bytes[length++] = (byte) (c + SHIFT);
                } else {
                    bytes[length++] = (byte) c;
                }
            } else if (c < 0x800) {
                bytes[length++] = (byte) (0xC0 | c >> 6);
                bytes[length++] = (byte) (0x80 | c & 0x3F);
            } else if (!Character.isSurrogate(c)) {
                bytes[length++] = (byte) (0xE0 | c >> 12);
                bytes[length++] = (byte) (0x80 | c >> 6 & 0x3F);
                bytes[length++] = (byte) (0x80 | c & 0x3F);
            } else {
                if (i + 1 == count || !Character.isSurrogatePair(c, text.charAt(i + 1))) {
                    throw new UsageException("a text contains half of a surrogate pair");
                }
                int point = Character.toCodePoint(c, text.charAt(++i));
                bytes[length++] = (byte) (0xF0 | point >> 18);
                bytes[length++] = (byte) (0x80 | point >> 12 & 0x3F);
                bytes[length++] = (byte) (0x80 | point >> 6 & 0x3F);
                bytes[length++] = (byte) (0x80 | point & 0x3F);
            }
        }
    }
}
