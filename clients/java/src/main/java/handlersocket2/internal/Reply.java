package handlersocket2.internal;

import handlersocket2.ReplyException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One reply. It has its own copy of the bytes, so it outlives the buffer of its connection, and any thread may read it.
 * Values are decoded when they are asked for; that they can be is known.
 */
public final class Reply {
    private static final byte[] NOTHING = {};
    /** Stands for bytes that are not UTF-8, or for itself. */
    private static final char REPLACEMENT = '\ufffd';
    private static final Set<String> DONE =
            Set.of("inserted", "updated", "unchanged", "ignored", "replaced", "unmet");

    /** What may stand in the reply to a request. */
    public enum Expect {
        /** Nothing that matters: P and A. */
        NOTHING(-1),
        /** As many columns as the index was opened with. */
        ROWS(0),
        /** How many rows were modified. */
        COUNT(-1),
        /** 1 or 0. */
        EXISTS(-1),
        /** An AUTO_INCREMENT value, or nothing. */
        ID(-1),
        /** Of each row what was done, and an AUTO_INCREMENT value or NULL. */
        OUTCOMES(2),
        /** Names of databases or tables. */
        NAMES(1),
        /** Of each part of each index what it is. */
        INDEXES(Listed.WIDTH),
        /** What a ping sends. */
        ECHO(1),
        /** Names and values. */
        PAIRS(2),
        /** Of each column and key part what the server says about it. */
        DESCRIPTION(Columns.WIDTH);

        /** How many columns its rows have: 0 if the caller knows, -1 if it has none. */
        private final int width;

        Expect(int width) {
            this.width = width;
        }
    }

    /** The bytes are no reply to that request. */
    static final class WrongReply extends Exception {
        WrongReply(String message) {
            super(message, null, false, false);
        }
    }

    private final byte[] bytes;
    /** Where value i begins. It ends in front of the byte before the next begin. */
    private final int[] starts;
    private final int values;
    /** Columns of a row. */
    public final int columns;
    /** 0, or that of an error. */
    public final int code;
    /** The count or the id: 64 bits without a sign, or with one if the id is negative. */
    public final long number;
    public final boolean hasNumber;
    /** What was asked for, or the group of which it was a part, has modified something. It is set before a caller has the reply. */
    public boolean executed;

    Reply(byte[] bytes, int[] starts, int values, int columns, int code, long number, boolean hasNumber) {
        this.bytes = bytes;
        this.starts = starts;
        this.values = values;
        this.columns = columns;
        this.code = code;
        this.number = number;
        this.hasNumber = hasNumber;
    }

    /**
     * Reads a line.
     *
     * @param line the bytes from begin to end, without LF
     * @param wanted how many columns a row has to have, or -1 if nobody knows; of OUTCOMES how many rows
     */
    static Reply parse(byte[] line, int begin, int end, Expect expect, int wanted) throws WrongReply {
        int at = begin;
        int code = 0;
        int digits = 0;
        while (at < end && digit(line[at]) && digits < 9) {
            code = code * 10 + line[at++] - '0';
            digits++;
        }
        if (digits == 0 || at == end || line[at] != '\t') {
            throw new WrongReply("what came is no reply of HandlerSocket");
        }
        at++;
        int width = 0;
        digits = 0;
        while (at < end && digit(line[at]) && digits < 9) {
            width = width * 10 + line[at++] - '0';
            digits++;
        }
        if (digits == 0 || at < end && line[at] != '\t') {
            throw new WrongReply("what came is no reply of HandlerSocket");
        }
        boolean rows = code == 0 && expect.width >= 0;
        int columns = expect.width > 0 ? expect.width : wanted;
        if (rows && columns >= 0 && width != columns) {
            throw new WrongReply("a row of the reply has " + width + " columns in place of " + columns);
        }
        int values = 0;
        int[] starts = at == end ? new int[] {0} : new int[Math.max(2, Math.min(rows ? width + 1 : 2, end - at + 1))];
        int body = at + 1;
        for (; at < end; at++) {
            byte b = line[at];
            if (b == '\t') {
                if (values + 1 >= starts.length) {
                    starts = Arrays.copyOf(starts, starts.length * 2);
                }
                starts[values++] = at + 1 - body;
            } else if (b == 1) {
                if (at + 1 == end || (line[at + 1] & 0xF0) != 0x40) {
                    throw new WrongReply("a value of the reply has a wrong escape");
                }
                at++;
            }
        }
        byte[] copy = values == 0 ? NOTHING : Arrays.copyOfRange(line, body, end);
        starts[values] = copy.length + 1;
        if (rows && (width == 0 ? values > 0 : values % width != 0)) {
            throw new WrongReply("the values of the reply do not fill its rows");
        }
        long number = 0;
        boolean counts = expect == Expect.COUNT || expect == Expect.EXISTS;
        boolean hasNumber = code == 0 && (counts || expect == Expect.ID && values > 0);
        if (hasNumber) {
            if (values != 1) {
                throw new WrongReply("the reply has " + values + " values in place of a number");
            }
            number = expect == Expect.ID ? id(copy) : unsigned(copy);
            if (expect == Expect.EXISTS && number != 0 && number != 1) {
                throw new WrongReply("the reply is neither 1 nor 0");
            }
        }
        Reply reply = new Reply(copy, starts, values, width, code, number, hasNumber);
        if (code == 0 && expect == Expect.OUTCOMES) {
            reply.checkOutcomes(wanted);
        } else if (code == 0 && expect == Expect.PAIRS) {
            reply.checkPairs();
        } else if (code == 0 && expect == Expect.NAMES) {
            Listed.checkNames(reply);
        } else if (code == 0 && expect == Expect.INDEXES) {
            Listed.checkIndexes(reply);
        } else if (code == 0 && expect == Expect.ECHO) {
            Listed.checkEcho(reply);
        }
        return reply;
    }

    private void checkPairs() throws WrongReply {
        for (int i = 0; i < values; i++) {
            if (isNull(i)) {
                throw new WrongReply("the reply has NULL in place of a name or a value");
            }
        }
    }

    private void checkOutcomes(int rows) throws WrongReply {
        if (values != 2 * rows) {
            throw new WrongReply("the reply tells of another number of rows");
        }
        for (int i = 0; i < values; i += 2) {
            if (!DONE.contains(String.valueOf(text(i)))) {
                throw new WrongReply("the reply does not say what was done of a row");
            }
            if (!isNull(i + 1)) {
                id(bytes(i + 1));
            }
        }
    }

    /** The AUTO_INCREMENT value of one of the rows, which is known to be one. */
    public long idOf(int value) {
        try {
            return id(bytes(value));
        } catch (WrongReply problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** 64 bits without a sign, or with one if it is negative. */
    private static long id(byte[] text) throws WrongReply {
        return text.length > 0 && text[0] == '-' ? negative(text) : unsigned(text);
    }

    private static boolean digit(byte b) {
        return b >= '0' && b <= '9';
    }

    /** An id that a signed column was given. */
    private static long negative(byte[] text) throws WrongReply {
        try {
            if (text.length > 1 && digit(text[1])) {
                return Long.parseLong(new String(text, StandardCharsets.ISO_8859_1));
            }
        } catch (NumberFormatException problem) {
            // Said below.
        }
        throw new WrongReply("the reply has no number where one has to be");
    }

    private static long unsigned(byte[] digits) throws WrongReply {
        try {
            if (digits.length > 0 && digit(digits[0])) {
                return Long.parseUnsignedLong(new String(digits, StandardCharsets.ISO_8859_1));
            }
        } catch (NumberFormatException problem) {
            // Said below.
        }
        throw new WrongReply("the reply has no number where one has to be");
    }

    /** A row that came in a stream, as a reply of its own. */
    static Reply ofRow(byte[] bytes, int[] starts, int columns) {
        return new Reply(bytes, starts, columns, columns, 0, 0, false);
    }

    public int rows() {
        return columns == 0 ? 0 : values / columns;
    }

    public boolean isNull(int value) {
        return starts[value + 1] - 1 - starts[value] == 1 && bytes[starts[value]] == 0;
    }

    /** The value's bytes, or null for NULL. */
    public byte @Nullable [] bytes(int value) {
        if (isNull(value)) {
            return null;
        }
        int begin = starts[value];
        int end = starts[value + 1] - 1;
        return escaped(begin, end) ? unescape(begin, end) : Arrays.copyOfRange(bytes, begin, end);
    }

    /**
     * The value as text, which has to be UTF-8: a caller would otherwise get another value without knowing.
     *
     * @throws IllegalArgumentException if its bytes are not
     */
    public @Nullable String utf8(int value) {
        String text = text(value);
        if (text == null || text.indexOf(REPLACEMENT) < 0) {
            return text;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(value))).toString();
        } catch (CharacterCodingException problem) {
            throw new IllegalArgumentException(problem);
        }
    }

    /** The value as text, or null for NULL. What is not UTF-8 is replaced: it is for the words of the protocol. */
    public @Nullable String text(int value) {
        if (isNull(value)) {
            return null;
        }
        int begin = starts[value];
        int end = starts[value + 1] - 1;
        return escaped(begin, end)
                ? new String(unescape(begin, end), StandardCharsets.UTF_8)
                : new String(bytes, begin, end - begin, StandardCharsets.UTF_8);
    }

    /** The value if it is a whole number of at most 18 digits, or else Long.MIN_VALUE; without garbage. */
    public long smallNumber(int value) {
        int at = starts[value];
        int end = starts[value + 1] - 1;
        boolean negative = at < end && bytes[at] == '-';
        if (negative) {
            at++;
        }
        if (at == end || end - at > 18) {
            return Long.MIN_VALUE;
        }
        long number = 0;
        for (; at < end; at++) {
            if (!digit(bytes[at])) {
                return Long.MIN_VALUE;
            }
            number = number * 10 + bytes[at] - '0';
        }
        return negative ? -number : number;
    }

    /** What the server says of an error with texts, or null if it says no more than the error's text. */
    public ReplyException.@Nullable Texts texts() {
        if (code == 0 || values < 4) {
            return null;
        }
        return new ReplyException.Texts((int) Math.max(0, Math.min(Integer.MAX_VALUE, smallNumber(1))), text(2), text(3));
    }

    /** How many values there are. */
    int values() {
        return values;
    }

    /** An error's text. */
    public String errorText() {
        if (values == 0) {
            return "";
        }
        String text = text(0);
        return text == null ? "" : text;
    }

    private boolean escaped(int begin, int end) {
        for (int i = begin; i < end; i++) {
            if (bytes[i] == 1) {
                return true;
            }
        }
        return false;
    }

    private byte[] unescape(int begin, int end) {
        byte[] plain = new byte[end - begin];
        int length = 0;
        for (int i = begin; i < end; i++) {
            byte b = bytes[i];
            plain[length++] = b == 1 ? (byte) (bytes[++i] - 0x40) : b;
        }
        return Arrays.copyOf(plain, length);
    }
}
