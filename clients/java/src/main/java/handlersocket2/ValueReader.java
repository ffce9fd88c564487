package handlersocket2;

import handlersocket2.internal.Reply;
import handlersocket2.internal.ValueParsers;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Year;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads a value that is not NULL as a Java type. What does not fit is any RuntimeException; the row says which column
 * it was.
 *
 * @param <T> the type
 */
final class ValueReader<T> {

    /** How a value is read. */
    private interface Parser<T> {
        T parse(Reply reply, int value);
    }

    static final ValueReader<String> TEXT = new ValueReader<>("text", Reply::utf8);
    static final ValueReader<byte[]> BYTES = new ValueReader<>("bytes", Reply::bytes);
    static final ValueReader<Long> LONG = new ValueReader<>("whole number of 64 bits", ValueParsers::number);
    static final ValueReader<Integer> INT =
            new ValueReader<>("whole number of 32 bits", (r, v) -> Math.toIntExact(ValueParsers.number(r, v)));
    private static final ValueReader<Short> SHORT =
            new ValueReader<>("whole number of 16 bits", (r, v) -> (short) range(r, v, Short.MIN_VALUE, Short.MAX_VALUE));
    private static final ValueReader<Byte> BYTE =
            new ValueReader<>("whole number of 8 bits", (r, v) -> (byte) range(r, v, Byte.MIN_VALUE, Byte.MAX_VALUE));
    static final ValueReader<Long> UNSIGNED =
            new ValueReader<>("whole number of 64 bits without a sign", ValueParsers::unsigned);
    static final ValueReader<Double> DOUBLE = new ValueReader<>("number of 64 bits", ValueParsers::doubleNumber);
    private static final ValueReader<Float> FLOAT = new ValueReader<>("number of 32 bits", ValueParsers::floatNumber);
    static final ValueReader<Boolean> TRUTH = new ValueReader<>("truth value", ValueParsers::truth);
    static final ValueReader<BigInteger> BIG_INTEGER =
            new ValueReader<>("whole number", (r, v) -> new BigInteger(r.text(v)));
    static final ValueReader<BigDecimal> BIG_DECIMAL =
            new ValueReader<>("number", (r, v) -> new BigDecimal(ValueParsers.numeric(r, v)));
    static final ValueReader<LocalDate> DATE = new ValueReader<>("date", ValueParsers::date);
    static final ValueReader<LocalDateTime> DATE_TIME =
            new ValueReader<>("date with a time", ValueParsers::dateTime);
    static final ValueReader<LocalTime> TIME = new ValueReader<>("time of a day", ValueParsers::time);
    static final ValueReader<Duration> DURATION = new ValueReader<>("time", ValueParsers::duration);
    static final ValueReader<java.util.UUID> UUID = new ValueReader<>("UUID", ValueParsers::uuid);

    private static final Map<Class<?>, ValueReader<?>> READERS = new HashMap<>();

    static {
        READERS.put(String.class, TEXT);
        READERS.put(Object.class, TEXT);
        READERS.put(CharSequence.class, TEXT);
        READERS.put(byte[].class, BYTES);
        READERS.put(ByteBuffer.class, new ValueReader<>("bytes", (r, v) -> ByteBuffer.wrap(r.bytes(v))));
        READERS.put(long.class, LONG);
        READERS.put(Long.class, LONG);
        READERS.put(int.class, INT);
        READERS.put(Integer.class, INT);
        READERS.put(short.class, SHORT);
        READERS.put(Short.class, SHORT);
        READERS.put(byte.class, BYTE);
        READERS.put(Byte.class, BYTE);
        READERS.put(double.class, DOUBLE);
        READERS.put(Double.class, DOUBLE);
        READERS.put(float.class, FLOAT);
        READERS.put(Float.class, FLOAT);
        READERS.put(boolean.class, TRUTH);
        READERS.put(Boolean.class, TRUTH);
        READERS.put(BigInteger.class, BIG_INTEGER);
        READERS.put(BigDecimal.class, BIG_DECIMAL);
        READERS.put(Number.class, BIG_DECIMAL);
        READERS.put(LocalDate.class, DATE);
        READERS.put(LocalDateTime.class, DATE_TIME);
        READERS.put(LocalTime.class, TIME);
        READERS.put(Duration.class, DURATION);
        READERS.put(java.util.UUID.class, UUID);
        READERS.put(Year.class, new ValueReader<>("year", (r, v) -> Year.of(Math.toIntExact(ValueParsers.number(r, v)))));
    }

    private final String what;
    private final Parser<T> parser;

    private ValueReader(String what, Parser<T> parser) {
        this.what = what;
        this.parser = parser;
    }

    /** The reader of a type. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static <T> ValueReader<T> of(Class<T> type) {
        ValueReader<?> reader = READERS.get(type);
        if (reader == null && type.isEnum()) {
            Class constants = type;
            reader = new ValueReader<>("constant of " + type.getSimpleName(), (r, v) -> Enum.valueOf(constants, r.text(v)));
        }
        if (reader == null) {
            throw new UsageException("a value cannot be read as the type " + type.getName());
        }
        return (ValueReader<T>) reader;
    }

    static boolean knows(Class<?> type) {
        return type.isEnum() || READERS.containsKey(type);
    }

    private static long range(Reply reply, int value, long least, long most) {
        long number = ValueParsers.number(reply, value);
        if (number < least || number > most) {
            throw new ArithmeticException();
        }
        return number;
    }

    T read(Reply reply, int value) {
        return parser.parse(reply, value);
    }

    String what() {
        return what;
    }
}
