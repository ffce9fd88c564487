package handlersocket2.internal;

import handlersocket2.UsageException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes requests in their shortest form, from what stands behind the id. */
public final class RequestWriter {
    private RequestWriter() {}

    /**
     * A filter.
     *
     * @param kind F or W
     * @param column its position among the filter columns
     */
    public record Filter(char kind, String op, long column, @Nullable Object value) {}

    /** An end of a range with its operator, or a prefix with {@code ^}. */
    public record End(String op, @Nullable Object value) {}

    /**
     * What becomes of a column.
     *
     * @param column its position among the columns
     * @param values how has one, or three with bounds
     */
    public record Assigned(long column, String how, List<?> values) {}

    /**
     * Which rows are meant.
     *
     * @param op an operator, or up or down for a range
     * @param ends those of a range; the lower one first
     * @param usual the limit that the server takes if none is written
     * @param in the values that take the place of the key part inPart, or null
     */
    public record Selection(
            String op,
            @Nullable Object[] key,
            List<End> ends,
            long limit,
            long usual,
            long offset,
            int inPart,
            @Nullable List<?> in,
            List<Filter> filters) {}

    /** The find that most are: the first row with a key. */
    public static void findKey(LineWriter line, @Nullable Object[] key) {
        key(line, "=", key);
        line.raw('\n');
    }

    /**
     * A find.
     *
     * @param modification U, D, + or -, perhaps with the mark for the rows before or afterwards; or null
     */
    public static void find(
            LineWriter line, Selection selection, @Nullable String modification, List<?> values) {
        select(line, selection, modification != null);
        if (modification != null) {
            values(line.raw('\t').raw(modification), values);
        }
        line.raw('\n');
    }

    /** A find whose rows are not wanted: C for their number, E for whether there is one. */
    public static void answer(LineWriter line, Selection selection, char answer) {
        select(line, selection, false);
        line.raw('\t').raw(answer).raw('\n');
    }

    /** A find whose rows are assigned to. The word is set, perhaps with a mark. */
    public static void assign(LineWriter line, Selection selection, String word, List<Assigned> assigned) {
        select(line, selection, true);
        assignments(line.raw('\t').raw(word), assigned, false);
        line.raw('\n');
    }

    /** An insert. */
    public static void insert(LineWriter line, List<?> values) {
        if (values.isEmpty()) {
            throw new UsageException("an insert needs a value");
        }
        values(line.raw("\t+\t").number(values.size()), values);
        line.raw('\n');
    }

    /**
     * Several rows.
     *
     * @param duplicate what is done about a row that is there: a word behind else
     * @param changes what becomes of it, if the word is update
     */
    public static void insertRows(
            LineWriter line, List<? extends List<?>> rows, String duplicate, List<Assigned> changes, List<Filter> filters) {
        int width = rows.isEmpty() ? 0 : rows.get(0).size();
        if (width == 0) {
            throw new UsageException("an insert needs a row with a value");
        }
        line.raw("\tinsert\t").number(rows.size()).raw('\t').number(width);
        for (List<?> row : rows) {
            if (row.size() != width) {
                throw new UsageException("the rows of an insert have as many values each");
            }
            values(line, row);
        }
        if (!duplicate.equals("fail")) {
            line.raw("\telse\t").raw(duplicate);
        }
        if (duplicate.equals("update")) {
            assignments(line, changes, true);
            filters(line, filters);
        }
        line.raw('\n');
    }

    private static void key(LineWriter line, String op, @Nullable Object[] key) {
        if (key.length == 0 && !op.equals("up") && !op.equals("down")) {
            throw new UsageException("a key needs a value");
        }
        line.raw('\t').raw(op).raw('\t').number(key.length);
        for (Object part : key) {
            line.value(part);
        }
    }

    private static void select(LineWriter line, Selection selection, boolean more) {
        key(line, selection.op, selection.key);
        for (End end : selection.ends) {
            line.raw('\t').raw(end.op).value(end.value);
        }
        boolean clauses = selection.in != null || !selection.filters.isEmpty() || more;
        if (clauses || selection.limit != selection.usual || selection.offset != 0) {
            line.raw('\t').number(selection.limit);
        }
        if (clauses || selection.offset != 0) {
            line.raw('\t').number(selection.offset);
        }
        if (selection.in != null) {
            line.raw("\t@\t").number(selection.inPart).raw('\t').number(selection.in.size());
            values(line, selection.in);
        }
        filters(line, selection.filters);
    }

    private static void filters(LineWriter line, List<Filter> filters) {
        for (Filter filter : filters) {
            line.raw('\t').raw(filter.kind()).raw('\t').raw(filter.op()).raw('\t').number(filter.column());
            line.value(filter.value());
        }
    }

    private static void assignments(LineWriter line, List<Assigned> assigned, boolean ofUpsert) {
        if (assigned.isEmpty()) {
            throw new UsageException("there is no column that is assigned to");
        }
        line.raw('\t').number(assigned.size());
        for (Assigned one : assigned) {
            if (one.how.equals("new") && !ofUpsert) {
                throw new UsageException("only an upsert has a new row: inserted() belongs there");
            }
            values(line.raw('\t').number(one.column).raw('\t').raw(one.how), one.values);
        }
    }

    private static void values(LineWriter line, List<?> values) {
        for (Object value : values) {
            line.value(value);
        }
    }
}
