package handlersocket2;

import handlersocket2.internal.Reply;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row: values by the name of the column, or by its position counted from 0. A value is decoded when it is asked for.
 * A method that gives an object gives null for NULL; for one that gives a primitive, NULL is a {@link DecodeException},
 * and so is a value that does not fit. A row never changes, and any thread may read it.
 */
public final class Row {
    private final Reply reply;
    private final int first;
    private final RowShape shape;

    Row(Reply reply, int first, RowShape shape) {
        this.reply = reply;
        this.first = first;
        this.shape = shape;
    }

    RowShape shape() {
        return shape;
    }

    /**
     * How many columns it has.
     *
     * @return the number
     */
    public int size() {
        return shape.index().columns().size();
    }

    private int at(int position) {
        if (position < 0 || position >= size()) {
            throw new UsageException("a row of " + size() + " columns has no position " + position);
        }
        return first + position;
    }

    <T> @Nullable T read(int position, ValueReader<T> reader) {
        int at = at(position);
        if (reply.isNull(at)) {
            return null;
        }
        try {
            return reader.read(reply, at);
        } catch (RuntimeException problem) {
            String column = shape.name(position);
            throw new DecodeException("the value of column " + column + " is no " + reader.what(), null, reply.executed);
        }
    }

    private <T> T require(int position, ValueReader<T> reader) {
        T value = read(position, reader);
        if (value == null) {
            throw new DecodeException(
                    "the value of column " + shape.name(position) + " is NULL", null, reply.executed);
        }
        return value;
    }

    /**
     * Whether a value is NULL.
     *
     * @param column the column
     * @return whether it is
     */
    public boolean isNull(String column) {
        return isNull(shape.position(column));
    }

    /**
     * Whether a value is NULL.
     *
     * @param position the column's position
     * @return whether it is
     */
    public boolean isNull(int position) {
        return reply.isNull(at(position));
    }

    /**
     * A value as the type that the index was told for its column, or as text.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable Object get(String column) {
        return get(shape.position(column));
    }

    /**
     * A value as the type that the index was told for its column, or as text.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable Object get(int position) {
        at(position);
        return read(position, ValueReader.of(shape.types()[position]));
    }

    /**
     * A value as a type of the table in the README.
     *
     * @param column the column
     * @param type the type
     * @param <T> the type
     * @return the value
     */
    public <T> @Nullable T get(String column, Class<T> type) {
        return read(shape.position(column), ValueReader.of(type));
    }

    /**
     * A value as a type of the table in the README.
     *
     * @param position the column's position
     * @param type the type
     * @param <T> the type
     * @return the value
     */
    public <T> @Nullable T get(int position, Class<T> type) {
        return read(position, ValueReader.of(type));
    }

    /**
     * A value as text.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable String getString(String column) {
        return getString(shape.position(column));
    }

    /**
     * A value as text.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable String getString(int position) {
        return read(position, ValueReader.TEXT);
    }

    /**
     * A value's bytes.
     *
     * @param column the column
     * @return the value
     */
    public byte @Nullable [] getBytes(String column) {
        return getBytes(shape.position(column));
    }

    /**
     * A value's bytes.
     *
     * @param position the column's position
     * @return the value
     */
    public byte @Nullable [] getBytes(int position) {
        return read(position, ValueReader.BYTES);
    }

    /**
     * A whole number of 32 bits.
     *
     * @param column the column
     * @return the value
     */
    public int getInt(String column) {
        return getInt(shape.position(column));
    }

    /**
     * A whole number of 32 bits.
     *
     * @param position the column's position
     * @return the value
     */
    public int getInt(int position) {
        return require(position, ValueReader.INT);
    }

    /**
     * A whole number of 64 bits with a sign.
     *
     * @param column the column
     * @return the value
     */
    public long getLong(String column) {
        return getLong(shape.position(column));
    }

    /**
     * A whole number of 64 bits with a sign.
     *
     * @param position the column's position
     * @return the value
     */
    public long getLong(int position) {
        return require(position, ValueReader.LONG);
    }

    /**
     * A whole number of 64 bits without a sign, as {@link Long#toUnsignedString(long)} reads it.
     *
     * @param column the column
     * @return the value
     */
    public long getUnsignedLong(String column) {
        return getUnsignedLong(shape.position(column));
    }

    /**
     * A whole number of 64 bits without a sign, as {@link Long#toUnsignedString(long)} reads it.
     *
     * @param position the column's position
     * @return the value
     */
    public long getUnsignedLong(int position) {
        return require(position, ValueReader.UNSIGNED);
    }

    /**
     * A binary floating-point number.
     *
     * @param column the column
     * @return the value
     */
    public double getDouble(String column) {
        return getDouble(shape.position(column));
    }

    /**
     * A binary floating-point number.
     *
     * @param position the column's position
     * @return the value
     */
    public double getDouble(int position) {
        return require(position, ValueReader.DOUBLE);
    }

    /**
     * A truth value: 0 or 1, also of a BIT(1).
     *
     * @param column the column
     * @return the value
     */
    public boolean getBoolean(String column) {
        return getBoolean(shape.position(column));
    }

    /**
     * A truth value: 0 or 1, also of a BIT(1).
     *
     * @param position the column's position
     * @return the value
     */
    public boolean getBoolean(int position) {
        return require(position, ValueReader.TRUTH);
    }

    /**
     * A whole number of any size.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable BigInteger getBigInteger(String column) {
        return getBigInteger(shape.position(column));
    }

    /**
     * A whole number of any size.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable BigInteger getBigInteger(int position) {
        return read(position, ValueReader.BIG_INTEGER);
    }

    /**
     * An exact number, such as DECIMAL.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable BigDecimal getBigDecimal(String column) {
        return getBigDecimal(shape.position(column));
    }

    /**
     * An exact number, such as DECIMAL.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable BigDecimal getBigDecimal(int position) {
        return read(position, ValueReader.BIG_DECIMAL);
    }

    /**
     * A date. A zero date is an error.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable LocalDate getDate(String column) {
        return getDate(shape.position(column));
    }

    /**
     * A date. A zero date is an error.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable LocalDate getDate(int position) {
        return read(position, ValueReader.DATE);
    }

    /**
     * A date with a time, without a time zone. A zero date is an error.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable LocalDateTime getDateTime(String column) {
        return getDateTime(shape.position(column));
    }

    /**
     * A date with a time, without a time zone. A zero date is an error.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable LocalDateTime getDateTime(int position) {
        return read(position, ValueReader.DATE_TIME);
    }

    /**
     * A TIME that is a time of a day.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable LocalTime getTime(String column) {
        return getTime(shape.position(column));
    }

    /**
     * A TIME that is a time of a day.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable LocalTime getTime(int position) {
        return read(position, ValueReader.TIME);
    }

    /**
     * A TIME, which may be negative and longer than a day.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable Duration getDuration(String column) {
        return getDuration(shape.position(column));
    }

    /**
     * A TIME, which may be negative and longer than a day.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable Duration getDuration(int position) {
        return read(position, ValueReader.DURATION);
    }

    /**
     * A UUID.
     *
     * @param column the column
     * @return the value
     */
    public @Nullable UUID getUuid(String column) {
        return getUuid(shape.position(column));
    }

    /**
     * A UUID.
     *
     * @param position the column's position
     * @return the value
     */
    public @Nullable UUID getUuid(int position) {
        return read(position, ValueReader.UUID);
    }
    /**
     * A moment, of a column whose times are meant in this time zone.
     *
     * @param column the column
     * @param zone the time zone
     * @return the moment
     */
    public @Nullable Instant getInstant(String column, ZoneId zone) {
        return getInstant(shape.position(column), zone);
    }

    /**
     * A moment, of a column whose times are meant in this time zone.
     *
     * @param position the column's position
     * @param zone the time zone
     * @return the moment
     */
    public @Nullable Instant getInstant(int position, ZoneId zone) {
        LocalDateTime time = getDateTime(position);
        return time == null ? null : time.atZone(zone).toInstant();
    }

    /**
     * All values by their columns' names, in order, each as the type that the index was told, or as text.
     *
     * @return a new map
     */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < size(); i++) {
            map.put(shape.name(i), get(i));
        }
        return map;
    }

    /**
     * The columns' names. A row does not show its values, because they would get into logs.
     *
     * @return for example {@code Row[id, name]}
     */
    @Override
    public String toString() {
        return "Row" + shape.index().columns();
    }
}
