package handlersocket2.internal;

import handlersocket2.UsageException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is opened by P, as the client knows it. A client makes each once, so connections find their number for it in an
 * array.
 */
public final class IndexDef {
    private static final List<String> ALL = List.of("*");

    /** Which definition of its client this is, counted from 0. */
    public final int number;

    public final Key key;
    /** Its columns are all that the table has when it is opened. */
    final boolean hasAllColumns;
    private final Map<String, Integer> positions = new HashMap<>();
    private final Map<String, Integer> filterPositions = new HashMap<>();
    /** What stands behind the id in P, up to LF. */
    final byte[] opening;

    /**
     * What makes two definitions the same.
     *
     * @param columns null for all that the table has; nobody knows how many, so that is only for a description
     */
    public record Key(
            String database,
            String table,
            String index,
            @Nullable List<String> columns,
            List<String> filterColumns) {

        /**
         * The names for the message of an error. If an index could not be opened because of a column, it is one of these.
         *
         * @param opening whether it is the reply to a P
         */
        String words(Reply reply, boolean opening) {
            boolean withColumns = opening && reply.errorText().equals("fld");
            StringBuilder words = new StringBuilder(database);
            words.append(table.isEmpty() ? "" : ".").append(table);
            words.append(index.isEmpty() ? "" : ", index ").append(index);
            if (withColumns && columns != null && !columns.isEmpty()) {
                words.append(", columns ").append(String.join(", ", columns));
            }
            if (withColumns && !filterColumns.isEmpty()) {
                words.append(", filter columns ").append(String.join(", ", filterColumns));
            }
            return words.toString();
        }
    }

    public IndexDef(int number, Key key) {
        this.number = number;
        this.key = key;
        this.hasAllColumns = key.columns() == null;
        this.opening = tail(key);
        place(columns(), positions);
        place(key.filterColumns(), filterPositions);
    }

    private static void place(List<String> names, Map<String, Integer> positions) {
        for (int i = 0; i < names.size(); i++) {
            positions.putIfAbsent(names.get(i), i);
        }
    }

    /** What stands behind the id in P. */
    public static byte[] tail(Key key) {
        LineWriter line = new LineWriter();
        line.raw('\t').name(key.database()).raw('\t').name(key.table()).raw('\t').name(key.index()).raw('\t');
        List<String> columns = key.columns();
        if (columns == null) {
            line.raw('*');
        } else if (columns.equals(ALL)) {
            throw new UsageException("* is no column: it would be all of them");
        } else {
            list(line, columns);
        }
        if (!key.filterColumns().isEmpty()) {
            list(line.raw('\t'), key.filterColumns());
        }
        return line.raw('\n').toByteArray();
    }

    private static void list(LineWriter line, List<String> names) {
        boolean first = true;
        for (String name : names) {
            if (name.isEmpty() || name.indexOf(',') >= 0) {
                throw new UsageException("a column's name is empty or contains a comma");
            }
            if (!first) {
                line.raw(',');
            }
            line.name(name);
            first = false;
        }
    }

    public List<String> columns() {
        return key.columns() == null ? List.of() : key.columns();
    }

    /** Where a column stands in the rows. */
    public int position(String column) {
        Integer position = positions.get(column);
        if (position == null) {
            throw new UsageException("the index was not opened with the column " + column);
        }
        return position;
    }

    /** Where a column stands among those for filters. */
    public int filterPosition(String column) {
        Integer position = filterPositions.get(column);
        if (position == null) {
            throw new UsageException("the index was not opened with the filter column " + column);
        }
        return position;
    }
}
