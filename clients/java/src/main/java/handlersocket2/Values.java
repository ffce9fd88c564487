package handlersocket2;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Values by the names of their columns, in an order, with null for NULL. It never changes. */
public final class Values extends AbstractMap<String, @Nullable Object> {
    private final Map<String, @Nullable Object> values;

    private Values(Map<String, @Nullable Object> values) {
        this.values = values;
    }

    /**
     * One value.
     *
     * @param column the column
     * @param value its value
     * @return the values
     */
    public static Values of(String column, @Nullable Object value) {
        return new Values(Collections.singletonMap(column, value));
    }

    /**
     * These values and one more.
     *
     * @param column the column
     * @param value its value
     * @return the values
     */
    public Values and(String column, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(values);
        more.put(column, value);
        return new Values(more);
    }

    /** A copy that nobody changes. */
    static Map<String, @Nullable Object> copy(Map<String, ?> values) {
        return values instanceof Values own ? own.values : new LinkedHashMap<>(values);
    }

    @Override
    public Set<Map.Entry<String, @Nullable Object>> entrySet() {
        return Collections.unmodifiableSet(values.entrySet());
    }

    @Override
    public String toString() {
        return "Values" + values.keySet();
    }
}
