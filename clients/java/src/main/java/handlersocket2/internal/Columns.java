package handlersocket2.internal;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reply to D: a row for each column, each filter column and each part of the index, in this order. */
public final class Columns {
    /** Values of a row: the kind, the name, the type, nullable, unsigned, decimals and the character set. */
    public static final int WIDTH = 7;

    public static final String COLUMN = "column";
    public static final String FILTER = "filter";
    public static final String KEY = "key";
    private static final List<String> KINDS = List.of(COLUMN, FILTER, KEY);

    private Columns() {}

    /** Refuses what cannot describe this index. */
    static void check(Reply reply, IndexDef index) throws Reply.WrongReply {
        Iterator<String> columns = index.columns().iterator();
        Iterator<String> filters = index.key.filterColumns().iterator();
        int last = 0;
        for (int at = 0; at < reply.values(); at += WIDTH) {
            int kind = KINDS.indexOf(String.valueOf(reply.text(at)));
            String name = reply.text(at + 1);
            boolean right = switch (kind) {
                case 0 -> index.hasAllColumns ? name != null : isNext(columns, name);
                case 1 -> isNext(filters, name);
                default -> true;
            };
            if (kind < last || !right || !isTruth(reply.text(at + 3)) || !isTruth(reply.text(at + 4))
                    || !isNumber(reply.text(at + 5))) {
                throw new Reply.WrongReply("the reply describes other columns than were asked for");
            }
            last = kind;
        }
        boolean fewer = columns.hasNext() || filters.hasNext();
        if (fewer || !KINDS.get(last).equals(KEY)) {
            throw new Reply.WrongReply("the reply describes fewer columns than were asked for");
        }
    }

    private static boolean isNext(Iterator<String> names, @Nullable String name) {
        return names.hasNext() && names.next().equals(name);
    }

    /** The server may say nothing. */
    private static boolean isTruth(@Nullable String value) {
        return value == null || value.equals("0") || value.equals("1");
    }

    private static boolean isNumber(@Nullable String value) {
        return value == null || value.matches("[0-9]{1,9}");
    }
}
