package handlersocket2;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which rows are meant: a key, how many, and filters. It never changes; each method gives another one. A key has the
 * values of the index's first parts.
 */
public final class Find {
    final String op;
    final @Nullable Object[] key;
    final @Nullable Map<String, ?> namedKey;
    /** 0: the usual one. */
    final long limit;

    final long offset;
    final @Nullable List<?> in;
    final int inPart;
    final @Nullable String inName;
    final List<Condition> conditions;
    final boolean isLong;
    /** Of a range: first the lower one. */
    final List<End> ends;

    /** An end of a range, or its prefix. */
    record End(String op, @Nullable Object value) {}

    /** A filter as it was said. */
    record Condition(char kind, String column, String op, @Nullable Object value) {}

    private Find(
            String op,
            @Nullable Object[] key,
            @Nullable Map<String, ?> namedKey,
            long limit,
            long offset,
            @Nullable List<?> in,
            int inPart,
            @Nullable String inName,
            List<Condition> conditions,
            boolean isLong,
            List<End> ends) {
        this.op = op;
        this.key = key;
        this.namedKey = namedKey;
        this.limit = limit;
        this.offset = offset;
        this.in = in;
        this.inPart = inPart;
        this.inName = inName;
        this.conditions = conditions;
        this.isLong = isLong;
        this.ends = ends;
    }

    private static Find begin(String op, @Nullable Object @Nullable [] key) {
        return new Find(op, key == null ? new Object[1] : key, null, 0, 0, null, 0, null, List.of(), false, List.of());
    }

    /**
     * The rows with this key.
     *
     * @param key the values of the index's first parts; null is NULL
     * @return the find
     */
    public static Find eq(@Nullable Object @Nullable ... key) {
        return begin("=", key);
    }

    /**
     * Up the index from behind this key.
     *
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find gt(@Nullable Object @Nullable ... key) {
        return begin(">", key);
    }

    /**
     * Up the index from this key.
     *
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find ge(@Nullable Object @Nullable ... key) {
        return begin(">=", key);
    }

    /**
     * Down the index from before this key.
     *
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find lt(@Nullable Object @Nullable ... key) {
        return begin("<", key);
    }

    /**
     * Down the index from this key.
     *
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find le(@Nullable Object @Nullable ... key) {
        return begin("<=", key);
    }

    /**
     * A range: the rows with this key, which may have no value at all, whose next part lies between two ends. It goes up
     * the index, or {@link #down}. Without ends all rows with the key belong to it, and without a key the whole index.
     *
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find range(@Nullable Object @Nullable ... key) {
        return begin("up", key);
    }

    /**
     * A key by the names of the index's parts. The index has to be told them, by {@link IndexBuilder#keyColumns}.
     *
     * @param op {@code =}, {@code >}, {@code >=}, {@code <} or {@code <=}; {@code up} or {@code down} for a range
     * @param key the values of the first parts, in any order
     * @return the find
     */
    public static Find named(String op, Map<String, ?> key) {
        return new Find(
                check(op, false), new Object[0], Values.copy(key), 0, 0, null, 0, null, List.of(), false, List.of());
    }

    /**
     * A key with an operator as text.
     *
     * @param op {@code =}, {@code >}, {@code >=}, {@code <} or {@code <=}; {@code up} or {@code down} for a range
     * @param key the values of the index's first parts
     * @return the find
     */
    public static Find where(String op, @Nullable Object @Nullable ... key) {
        return begin(check(op, false), key);
    }

    /**
     * Turns a range round: towards smaller values of the part behind its key.
     *
     * @return the find
     */
    public Find down() {
        if (!isRange()) {
            throw new UsageException("only a range has a direction");
        }
        return new Find("down", key, namedKey, limit, offset, in, inPart, inName, conditions, isLong, ends);
    }

    /**
     * The lower end of a range.
     *
     * @param value the least value that belongs to it; null is NULL, which is below every value
     * @return the find
     */
    public Find from(@Nullable Object value) {
        return lower(">=", value);
    }

    /**
     * The lower end of a range.
     *
     * @param value what is greater belongs to it
     * @return the find
     */
    public Find after(@Nullable Object value) {
        return lower(">", value);
    }

    /**
     * The upper end of a range.
     *
     * @param value the greatest value that belongs to it
     * @return the find
     */
    public Find to(@Nullable Object value) {
        return upper("<=", value);
    }

    /**
     * The upper end of a range.
     *
     * @param value what is less belongs to it
     * @return the find
     */
    public Find before(@Nullable Object value) {
        return upper("<", value);
    }

    /**
     * Takes of a range only the texts that begin so, in place of ends.
     *
     * @param text text or bytes
     * @return the find
     */
    public Find prefix(Object text) {
        return lower("^", text);
    }

    private Find lower(String op, @Nullable Object value) {
        if (ends.size() == 2 || ends.size() == 1 && (op.equals("^") || !isUpper(ends.get(0)))) {
            throw new UsageException("a range has one lower end, or a prefix in place of both ends");
        }
        return ended(new End(op, value), true);
    }

    private Find upper(String op, @Nullable Object value) {
        if (ends.stream().anyMatch(end -> isUpper(end) || end.op.equals("^"))) {
            throw new UsageException("a range has one upper end, or a prefix in place of both ends");
        }
        return ended(new End(op, value), false);
    }

    private Find ended(End end, boolean first) {
        if (!isRange()) {
            throw new UsageException("only a range has ends");
        }
        List<End> more = new ArrayList<>(ends);
        more.add(first ? 0 : more.size(), end);
        return new Find(op, key, namedKey, limit, offset, in, inPart, inName, conditions, isLong, List.copyOf(more));
    }

    private static boolean isUpper(End end) {
        return end.op.startsWith("<");
    }

    boolean isRange() {
        return op.equals("up") || op.equals("down");
    }

    /**
     * At most so many rows. Without it, it is one row, and a count has no limit; with {@link #in} as many as there are values.
     *
     * @param limit 1 or more
     * @return the find
     */
    public Find limit(long limit) {
        if (limit < 1) {
            throw new UsageException("a limit is 1 or more");
        }
        return new Find(op, key, namedKey, limit, offset, in, inPart, inName, conditions, isLong, ends);
    }

    /**
     * Leaves out the first rows.
     *
     * @param offset how many
     * @return the find
     */
    public Find offset(long offset) {
        if (offset < 0) {
            throw new UsageException("an offset is not negative");
        }
        return new Find(op, key, namedKey, limit, offset, in, inPart, inName, conditions, isLong, ends);
    }

    /**
     * Each of these values in turn takes the place of a part of the key.
     *
     * @param part which part, counted from 0; the key has to have a value there, which is ignored
     * @param values the values
     * @return the find
     */
    public Find in(int part, Collection<?> values) {
        if (part < 0) {
            throw new UsageException("a part of a key is not negative");
        }
        List<?> copy = Collections.unmodifiableList(new ArrayList<>(values));
        return new Find(op, key, namedKey, limit, offset, copy, part, null, conditions, isLong, ends);
    }

    /**
     * The same for a part by its name.
     *
     * @param part which part; the key has to have a value there, which is ignored
     * @param values the values
     * @return the find
     */
    public Find in(String part, Collection<?> values) {
        List<?> copy = Collections.unmodifiableList(new ArrayList<>(values));
        return new Find(op, key, namedKey, limit, offset, copy, 0, part, conditions, isLong, ends);
    }

    /**
     * Leaves out rows for which this does not hold. Of several, all have to hold.
     *
     * @param column one of the index's filter columns
     * @param op {@code =}, {@code !=}, {@code >}, {@code >=}, {@code <} or {@code <=}
     * @param value the value; NULL is below everything
     * @return the find
     */
    public Find filter(String column, String op, @Nullable Object value) {
        return condition('F', column, op, value);
    }

    /**
     * Ends at the first row for which this does not hold.
     *
     * @param column one of the index's filter columns
     * @param op {@code =}, {@code !=}, {@code >}, {@code >=}, {@code <} or {@code <=}
     * @param value the value; NULL is below everything
     * @return the find
     */
    public Find whilst(String column, String op, @Nullable Object value) {
        return condition('W', column, op, value);
    }

    private Find condition(char kind, String column, String op, @Nullable Object value) {
        List<Condition> more = new ArrayList<>(conditions);
        more.add(new Condition(kind, column, check(op, true), value));
        return new Find(
                this.op, key, namedKey, limit, offset, in, inPart, inName, List.copyOf(more), isLong, ends);
    }

    /**
     * It takes long although its limit is small, because its filters leave out many rows. So it goes over the
     * connection for long finds, and lookups do not stand behind it.
     *
     * @return the find
     */
    public Find takesLong() {
        return new Find(op, key, namedKey, limit, offset, in, inPart, inName, conditions, true, ends);
    }

    /** The limit that counts. */
    long effectiveLimit() {
        return limit != 0 ? limit : in != null ? Math.max(1, in.size()) : 1;
    }

    static String checkFilter(String op) {
        return check(op, true);
    }

    private static String check(String op, boolean filter) {
        switch (op) {
            case "=", ">", ">=", "<", "<=" -> {
                return op;
            }
            case "!=" -> {
                if (filter) {
                    return op;
                }
            }
            case "up", "down" -> {
                if (!filter) {
                    return op;
                }
            }
            default -> {}
        }
        throw new UsageException("an unknown operator");
    }

    @Override
    public String toString() {
        return "Find(" + op + " with " + Math.max(key.length, namedKey == null ? 0 : namedKey.size()) + " values)";
    }
}
