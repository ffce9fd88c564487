package handlersocket2;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a column, where that is more than a value: the server computes it from what the column holds. It
 * stands in the place of a value in an update or in the changes of an {@link Upsert}. A column that is NULL stays so,
 * except with {@link #toDefault}, {@link #now} and {@link #inserted}.
 */
public final class Assign {
    final String how;
    final List<?> values;

    private Assign(String how, @Nullable Object... values) {
        this.how = how;
        this.values = Collections.unmodifiableList(Arrays.asList(values));
    }

    /**
     * The column's default.
     *
     * @return the assignment
     */
    public static Assign toDefault() {
        return new Assign("default", "");
    }

    /**
     * The server's current time.
     *
     * @return the assignment
     */
    public static Assign now() {
        return new Assign("now", "");
    }

    /**
     * In an upsert: what the new row would have had.
     *
     * @return the assignment
     */
    public static Assign inserted() {
        return new Assign("new", "");
    }

    /**
     * The sum.
     *
     * @param amount what is added
     * @return the assignment
     */
    public static Assign add(Object amount) {
        return new Assign("+", amount);
    }

    /**
     * The sum, or the bound beyond which it is.
     *
     * @param amount what is added
     * @param low the lowest result, or null
     * @param high the highest result, or null
     * @return the assignment
     */
    public static Assign add(Object amount, @Nullable Object low, @Nullable Object high) {
        return new Assign("+[", amount, low, high);
    }

    /**
     * The difference. It may cross zero.
     *
     * @param amount what is subtracted
     * @return the assignment
     */
    public static Assign subtract(Object amount) {
        return new Assign("-", amount);
    }

    /**
     * The difference, or the bound beyond which it is.
     *
     * @param amount what is subtracted
     * @param low the lowest result, or null
     * @param high the highest result, or null
     * @return the assignment
     */
    public static Assign subtract(Object amount, @Nullable Object low, @Nullable Object high) {
        return new Assign("-[", amount, low, high);
    }

    /**
     * The column's text with this one behind it.
     *
     * @param text text or bytes
     * @return the assignment
     */
    public static Assign append(Object text) {
        return new Assign("append", text);
    }

    /**
     * The column's text with this one in front of it.
     *
     * @param text text or bytes
     * @return the assignment
     */
    public static Assign prepend(Object text) {
        return new Assign("prepend", text);
    }

    /**
     * The greater of the two.
     *
     * @param value the value
     * @return the assignment
     */
    public static Assign max(Object value) {
        return new Assign("max", value);
    }

    /**
     * The less of the two.
     *
     * @param value the value
     * @return the assignment
     */
    public static Assign min(Object value) {
        return new Assign("min", value);
    }

    /**
     * The bits that both have.
     *
     * @param bits a number
     * @return the assignment
     */
    public static Assign bitAnd(Object bits) {
        return new Assign("&", bits);
    }

    /**
     * The bits that one of them has.
     *
     * @param bits a number
     * @return the assignment
     */
    public static Assign bitOr(Object bits) {
        return new Assign("|", bits);
    }

    /**
     * The bits that just one of them has.
     *
     * @param bits a number
     * @return the assignment
     */
    public static Assign bitXor(Object bits) {
        return new Assign("^", bits);
    }

    static boolean isAmong(Collection<?> values) {
        for (Object value : values) {
            if (value instanceof Assign) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return "Assign(" + how + ")";
    }
}
