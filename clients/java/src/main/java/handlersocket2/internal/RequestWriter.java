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

    /**
     * A find.
     *
     * @param in the values that take the place of the key part inPart, or null
     * @param modification U, D, + or -, and a question mark for the rows before; or null
     */
    public static void find(
            LineWriter line,
            String op,
            @Nullable Object[] key,
            long limit,
            long offset,
            int inPart,
            @Nullable List<?> in,
            List<Filter> filters,
            @Nullable String modification,
            List<?> values) {
        if (key.length == 0) {
            throw new UsageException("a key needs a value");
        }
        line.raw('\t').raw(op).raw('\t').number(key.length);
        for (Object part : key) {
            line.value(part);
        }
        boolean clauses = in != null || !filters.isEmpty() || modification != null;
        if (clauses || limit != 1 || offset != 0) {
            line.raw('\t').number(limit);
        }
        if (clauses || offset != 0) {
            line.raw('\t').number(offset);
        }
        if (in != null) {
            line.raw("\t@\t").number(inPart).raw('\t').number(in.size());
            values(line, in);
        }
        for (Filter filter : filters) {
            line.raw('\t').raw(filter.kind()).raw('\t').raw(filter.op()).raw('\t').number(filter.column());
            line.value(filter.value());
        }
        if (modification != null) {
            values(line.raw('\t').raw(modification), values);
        }
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

    private static void values(LineWriter line, List<?> values) {
        for (Object value : values) {
            line.value(value);
        }
    }
}
