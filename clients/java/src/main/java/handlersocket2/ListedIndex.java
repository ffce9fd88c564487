package handlersocket2;

import handlersocket2.internal.Listed;
import handlersocket2.internal.Reply;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An index of a table, as {@link HandlerSocketClient#indexes(String)} lists it.
 *
 * @param name its name
 * @param unique whether a key has at most one row
 * @param ordered false for a hash index, which finds whole keys only
 * @param parts its parts, in their order
 */
public record ListedIndex(String name, boolean unique, boolean ordered, List<Part> parts) {

    /**
     * Makes one.
     *
     * @param name its name
     * @param unique whether a key has at most one row
     * @param ordered false for a hash index, which finds whole keys only
     * @param parts its parts, in their order
     */
    public ListedIndex {
        parts = List.copyOf(parts);
    }

    /**
     * A part of an index.
     *
     * @param column its column; null for an expression
     * @param descends whether its values go down
     * @param prefix whether the index has only the beginning of its values
     */
    public record Part(@Nullable String column, boolean descends, boolean prefix) {}

    /** Reads a list. Rows that follow one another with the same name are one index. */
    static List<ListedIndex> of(Reply reply) {
        List<ListedIndex> indexes = new ArrayList<>();
        List<Part> parts = new ArrayList<>();
        for (int row = 0; row < reply.rows(); row++) {
            int at = row * Listed.WIDTH;
            String name = reply.text(at);
            parts.add(new Part(reply.text(at + 3), isTrue(reply, at + 4), isTrue(reply, at + 5)));
            boolean last = row + 1 == reply.rows() || !name.equals(reply.text(at + Listed.WIDTH));
            if (last) {
                int first = at - (parts.size() - 1) * Listed.WIDTH;
                indexes.add(new ListedIndex(name, isTrue(reply, first + 1), isTrue(reply, first + 2), parts));
                parts.clear();
            }
        }
        return List.copyOf(indexes);
    }

    private static boolean isTrue(Reply reply, int value) {
        return "1".equals(reply.text(value));
    }
}
