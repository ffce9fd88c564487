package handlersocket2;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rows that are inserted, and what becomes of one that is there already. It never changes; each method gives another
 * one. All of it is done or nothing.
 */
public final class Upsert {
    final List<?> rows;
    final Map<String, @Nullable Object> changes;
    final List<Find.Condition> conditions;

    private Upsert(List<?> rows, Map<String, @Nullable Object> changes, List<Find.Condition> conditions) {
        this.rows = rows;
        this.changes = changes;
        this.conditions = conditions;
    }

    /**
     * One row.
     *
     * @param values values by their columns
     * @return the upsert, which needs {@link #set}
     */
    public static Upsert of(Map<String, ?> values) {
        return ofAll(List.of(values));
    }

    /**
     * One row.
     *
     * @param values values of the first of the index's columns
     * @return the upsert, which needs {@link #set}
     */
    public static Upsert of(List<?> values) {
        return ofAll(List.of(values));
    }

    /**
     * One row.
     *
     * @param row its components are the columns
     * @return the upsert, which needs {@link #set}
     */
    public static Upsert of(Record row) {
        return ofAll(List.of(row));
    }

    /**
     * Several rows.
     *
     * @param rows maps with the same columns, lists of the same length, or records
     * @return the upsert, which needs {@link #set}
     */
    public static Upsert ofAll(Collection<?> rows) {
        return new Upsert(List.copyOf(rows), Map.of(), List.of());
    }

    /**
     * What becomes of a column of a row that is there.
     *
     * @param column the column
     * @param value its new value, or an {@link Assign}
     * @return the upsert
     */
    public Upsert set(String column, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(changes);
        more.put(column, value);
        return new Upsert(rows, more, conditions);
    }

    /**
     * Leaves a row that is there as it is, if this does not hold for it. Of several, all have to hold.
     *
     * @param column one of the index's filter columns
     * @param op {@code =}, {@code !=}, {@code >}, {@code >=}, {@code <} or {@code <=}
     * @param value the value; NULL is below everything
     * @return the upsert
     */
    public Upsert filter(String column, String op, @Nullable Object value) {
        List<Find.Condition> more = new ArrayList<>(conditions);
        more.add(new Find.Condition('F', column, Find.checkFilter(op), value));
        return new Upsert(rows, changes, List.copyOf(more));
    }

    @Override
    public String toString() {
        return "Upsert of " + rows.size() + " rows";
    }
}
