package handlersocket2;

import handlersocket2.internal.IndexDef;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.RequestWriter;
import handlersocket2.internal.Router;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes the requests of an index that read, for every view of it. Any thread may use it. */
final class IndexCore {
    final Router router;
    final RowShape shape;
    /** Those that write. */
    final IndexWrites writes;
    private final IndexRegistry indexes;
    /** Those that have a name. */
    private final List<@Nullable String> keyColumns;
    /** The same index with other columns in front, which U, + and - need to change columns by name. */
    private final ConcurrentHashMap<List<String>, RowShape> reordered = new ConcurrentHashMap<>();

    IndexCore(Router router, IndexRegistry indexes, RowShape shape, List<@Nullable String> keyColumns) {
        this.router = router;
        this.indexes = indexes;
        this.shape = shape;
        this.keyColumns = keyColumns;
        writes = new IndexWrites(this);
    }

    // Finds.

    <T> Request<List<T>> find(Find find, Function<Row, T> mapper) {
        Function<Reply, List<T>> convert = reply -> rows(reply, shape, mapper);
        if (isEmpty(find)) {
            return known(Operation.FIND, List.of());
        }
        LineWriter line = new LineWriter();
        RequestWriter.find(line, selection(find, find.effectiveLimit(), 1), null, List.of());
        return request(Operation.FIND, shape, line, Reply.Expect.ROWS, isLong(find), convert);
    }

    <T> Request<Optional<T>> findOne(Find find, Function<Row, T> mapper) {
        Function<Reply, Optional<T>> convert = reply -> first(reply, mapper);
        if (isEmpty(find)) {
            return known(Operation.FIND, Optional.empty());
        }
        LineWriter line = new LineWriter();
        RequestWriter.find(line, selection(find, find.limit == 0 ? 1 : find.limit, 1), null, List.of());
        return request(Operation.FIND, shape, line, Reply.Expect.ROWS, isLong(find), convert);
    }

    /** A lookup by a key, which is what most requests are. */
    <T> Request<Optional<T>> findKey(@Nullable Object[] key, Function<Row, T> mapper) {
        LineWriter line = new LineWriter();
        RequestWriter.findKey(line, key);
        return request(
                Operation.FIND,
                shape,
                line,
                Reply.Expect.ROWS,
                false,
                reply -> first(reply, mapper));
    }

    private <T> Optional<T> first(Reply reply, Function<Row, T> mapper) {
        if (reply.rows() == 0) {
            return Optional.empty();
        }
        T row = mapper.apply(new Row(reply, 0, shape));
        if (row == null) {
            String what = mapper instanceof FirstValue
                    ? "the value of column " + shape.name(0) + " is NULL"
                    : "the function that makes rows has given null";
            throw new DecodeException(what + ", for which an Optional has no place: use find", null);
        }
        return Optional.of(row);
    }

    /** The line of a find whose rows are read one by one. */
    LineWriter stream(Find find) {
        LineWriter line = new LineWriter();
        RequestWriter.find(line, selection(find, find.effectiveLimit(), 1), null, List.of());
        return line;
    }

    static boolean isEmpty(Find find) {
        return find.in != null && find.in.isEmpty();
    }

    private boolean isLong(Find find) {
        return find.isLong || find.effectiveLimit() >= router.settings().longLimit;
    }

    // Counts.

    Request<Long> count(Find find) {
        if (isEmpty(find)) {
            return known(Operation.COUNT, 0L);
        }
        LineWriter line = new LineWriter();
        RequestWriter.answer(line, selection(find, find.limit, 0), 'C');
        boolean isLong = find.isLong || find.limit == 0 || find.limit >= router.settings().longLimit;
        return request(Operation.COUNT, shape, line, Reply.Expect.COUNT, isLong, reply -> reply.number);
    }

    Request<Boolean> exists(Find find) {
        if (find.limit != 0) {
            throw new UsageException("whether there is a row does not depend on a limit");
        }
        if (isEmpty(find)) {
            return known(Operation.EXISTS, false);
        }
        LineWriter line = new LineWriter();
        RequestWriter.answer(line, selection(find, 1, 1), 'E');
        return request(Operation.EXISTS, shape, line, Reply.Expect.EXISTS, find.isLong, reply -> reply.number == 1);
    }

    /** The index with these columns in front, and behind them the others or nothing. */
    RowShape with(List<String> names, boolean others) {
        List<String> columns = shape.index().columns();
        if (names.equals(columns) || others && names.equals(columns.subList(0, Math.min(names.size(), columns.size())))) {
            return shape;
        }
        List<String> wanted = new ArrayList<>(names);
        if (others) {
            columns.stream().filter(column -> !names.contains(column)).forEach(wanted::add);
        }
        return reordered.computeIfAbsent(
                wanted,
                order -> {
                    IndexDef.Key key = shape.index().key;
                    IndexDef.Key other =
                            new IndexDef.Key(
                                    key.database(), key.table(), key.index(), List.copyOf(order), key.filterColumns());
                    Class<?>[] types =
                            order.stream()
                                    .map(name -> columns.contains(name) ? shape.types()[columns.indexOf(name)] : String.class)
                                    .toArray(Class<?>[]::new);
                    return new RowShape(indexes.of(other), types);
                });
    }

    // Writing.

    /** Which rows are meant. A limit of `usual` need not be written. */
    RequestWriter.Selection selection(Find find, long limit, long usual) {
        @Nullable Object[] key = find.namedKey == null ? find.key : positions(find.namedKey);
        int part = find.inName == null ? find.inPart : part(find.inName);
        if (find.in != null && part >= key.length) {
            throw new UsageException("in() names a part that the key does not have");
        }
        List<RequestWriter.End> ends = List.of();
        if (!find.ends.isEmpty()) {
            ends = find.ends.stream().map(end -> new RequestWriter.End(end.op(), end.value())).toList();
        }
        return new RequestWriter.Selection(
                find.op, key, ends, limit, usual, find.offset, part, find.in, filters(find.conditions));
    }

    List<RequestWriter.Filter> filters(List<Find.Condition> conditions) {
        if (conditions.isEmpty()) {
            return List.of();
        }
        List<RequestWriter.Filter> filters = new ArrayList<>();
        for (Find.Condition condition : conditions) {
            int position = shape.index().filterPosition(condition.column());
            filters.add(new RequestWriter.Filter(condition.kind(), condition.op(), position, condition.value()));
        }
        return filters;
    }

    private @Nullable Object[] positions(Map<String, ?> named) {
        Object[] key = new Object[named.size()];
        named.forEach(
                (name, value) -> {
                    int part = part(name);
                    if (part >= key.length) {
                        throw new UsageException("a key names the first parts of the index, without a gap");
                    }
                    key[part] = value;
                });
        return key;
    }

    private int part(String name) {
        int part = keyColumns.indexOf(name);
        if (part < 0) {
            throw new UsageException("keyColumns() has not named the part " + name);
        }
        return part;
    }

    // Results.

    static <R> Request<R> request(
            Operation operation,
            RowShape shape,
            LineWriter line,
            Reply.Expect expect,
            boolean isLong,
            Function<Reply, R> convert) {
        return new Request<>(operation, shape.index(), line, expect, isLong, 0, convert, null);
    }

    <R> Request<R> known(Operation operation, R result) {
        return new Request<>(operation, shape.index(), null, Reply.Expect.ROWS, false, 0, reply -> result, result);
    }

    /** Rows are converted at once, so that an error is that of the call, and then the list is only read. */
    static <T> List<T> rows(Reply reply, RowShape shape, Function<Row, T> mapper) {
        int count = reply.rows();
        if (count == 0) {
            return List.of();
        }
        int columns = reply.columns;
        Object[] rows = new Object[count];
        for (int i = 0; i < count; i++) {
            rows[i] = mapper.apply(new Row(reply, i * columns, shape));
        }
        return new Rows<>(rows);
    }

    /** A list that cannot be changed, and takes no copy. */
    private static final class Rows<T> extends AbstractList<T> implements java.util.RandomAccess {
        private final Object[] rows;

        Rows(Object[] rows) {
            this.rows = rows;
        }

        @Override
        @SuppressWarnings("unchecked")
        public T get(int index) {
            return (T) rows[index];
        }

        @Override
        public int size() {
            return rows.length;
        }
    }
}
