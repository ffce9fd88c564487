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
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes the requests of an index, for every view of it. Any thread may use it. */
final class IndexCore {
    final Router router;
    final RowShape shape;
    private final IndexRegistry indexes;
    private final List<String> keyColumns;
    /** The same index with other columns in front, which U, + and - need to change columns by name. */
    private final ConcurrentHashMap<List<String>, RowShape> reordered = new ConcurrentHashMap<>();

    IndexCore(Router router, IndexRegistry indexes, RowShape shape, List<String> keyColumns) {
        this.router = router;
        this.indexes = indexes;
        this.shape = shape;
        this.keyColumns = keyColumns;
    }

    // Finds.

    <T> Request<List<T>> find(Find find, Function<Row, T> mapper) {
        Function<Reply, List<T>> convert = reply -> rows(reply, shape, mapper);
        if (isEmpty(find)) {
            return known(Operation.FIND, List.of());
        }
        LineWriter line = new LineWriter();
        write(line, find, find.effectiveLimit(), null, List.of());
        return request(Operation.FIND, shape, line, Reply.Expect.ROWS, isLong(find), convert);
    }

    <T> Request<Optional<T>> findOne(Find find, Function<Row, T> mapper) {
        Function<Reply, Optional<T>> convert =
                reply -> reply.rows() == 0 ? Optional.empty() : Optional.of(mapper.apply(new Row(reply, 0, shape)));
        if (isEmpty(find)) {
            return known(Operation.FIND, Optional.empty());
        }
        LineWriter line = new LineWriter();
        write(line, find, find.limit == 0 ? 1 : find.limit, null, List.of());
        return request(Operation.FIND, shape, line, Reply.Expect.ROWS, isLong(find), convert);
    }

    /** A lookup by a key, which is what most requests are. */
    <T> Request<Optional<T>> findKey(@Nullable Object[] key, Function<Row, T> mapper) {
        LineWriter line = new LineWriter();
        RequestWriter.find(line, "=", key, 1, 0, 0, null, List.of(), null, List.of());
        return request(
                Operation.FIND,
                shape,
                line,
                Reply.Expect.ROWS,
                false,
                reply -> reply.rows() == 0 ? Optional.empty() : Optional.of(mapper.apply(new Row(reply, 0, shape))));
    }

    /** The line of a find whose rows are read one by one. */
    LineWriter stream(Find find) {
        LineWriter line = new LineWriter();
        write(line, find, find.effectiveLimit(), null, List.of());
        return line;
    }

    static boolean isEmpty(Find find) {
        return find.in != null && find.in.isEmpty();
    }

    private boolean isLong(Find find) {
        return find.isLong || find.effectiveLimit() >= router.settings().longLimit;
    }

    // Modifications.

    /** How many rows a modification has modified. */
    Request<Long> modify(Operation operation, Find find, Map<String, ?> named) {
        List<String> names = new ArrayList<>(named.keySet());
        return modify(operation, find, with(names, false), new ArrayList<>(named.values()));
    }

    Request<Long> modify(Operation operation, Find find, List<?> values) {
        return modify(operation, find, shape, values);
    }

    private void requireWriter() {
        if (!router.canWrite()) {
            throw new UsageException("the client has no port for writing");
        }
    }

    private Request<Long> modify(Operation operation, Find find, RowShape target, List<?> values) {
        requireWriter();
        if (isEmpty(find)) {
            return known(operation, 0L);
        }
        LineWriter line = new LineWriter();
        write(line, find, find.effectiveLimit(), letter(operation), fitting(target, values));
        return request(operation, target, line, Reply.Expect.COUNT, false, reply -> reply.number);
    }

    /** The rows as they were before a modification. */
    <T> Request<List<T>> fetchAnd(Operation operation, Find find, Map<String, ?> named, Function<Row, T> mapper) {
        List<String> names = new ArrayList<>(named.keySet());
        return fetchAnd(operation, find, with(names, true), new ArrayList<>(named.values()), mapper);
    }

    <T> Request<List<T>> fetchAnd(Operation operation, Find find, List<?> values, Function<Row, T> mapper) {
        return fetchAnd(operation, find, shape, values, mapper);
    }

    private <T> Request<List<T>> fetchAnd(
            Operation operation, Find find, RowShape target, List<?> values, Function<Row, T> mapper) {
        requireWriter();
        if (isEmpty(find)) {
            return known(operation, List.of());
        }
        LineWriter line = new LineWriter();
        write(line, find, find.effectiveLimit(), letter(operation) + "?", fitting(target, values));
        return request(operation, target, line, Reply.Expect.ROWS, false, reply -> rows(reply, target, mapper));
    }

    Request<OptionalLong> insert(Map<String, ?> named) {
        return insert(with(new ArrayList<>(named.keySet()), false), new ArrayList<>(named.values()));
    }

    Request<OptionalLong> insert(List<?> values) {
        return insert(shape, values);
    }

    private Request<OptionalLong> insert(RowShape target, List<?> values) {
        requireWriter();
        LineWriter line = new LineWriter();
        RequestWriter.insert(line, fitting(target, values));
        return request(
                Operation.INSERT,
                target,
                line,
                Reply.Expect.ID,
                false,
                reply -> reply.hasNumber ? OptionalLong.of(reply.number) : OptionalLong.empty());
    }

    /** The server would ignore values that have no column. */
    private static List<?> fitting(RowShape target, List<?> values) {
        if (values.size() > target.index().columns().size()) {
            throw new UsageException("there are more values than columns of the index");
        }
        return values;
    }

    private static String letter(Operation operation) {
        return switch (operation) {
            case UPDATE -> "U";
            case DELETE -> "D";
            case INCREMENT -> "+";
            case DECREMENT -> "-";
            default -> throw new IllegalStateException();
        };
    }

    /** The index with these columns in front, and behind them the others or nothing. */
    private RowShape with(List<String> names, boolean others) {
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

    private void write(LineWriter line, Find find, long limit, @Nullable String modification, List<?> values) {
        List<RequestWriter.Filter> filters = List.of();
        if (!find.conditions.isEmpty()) {
            filters = new ArrayList<>();
            for (Find.Condition condition : find.conditions) {
                int position = shape.index().filterPosition(condition.column());
                filters.add(new RequestWriter.Filter(condition.kind(), condition.op(), position, condition.value()));
            }
        }
        @Nullable Object[] key = find.namedKey == null ? find.key : positions(find.namedKey);
        int part = find.inName == null ? find.inPart : part(find.inName);
        if (find.in != null && part >= key.length) {
            throw new UsageException("in() names a part that the key does not have");
        }
        RequestWriter.find(
                line, find.op, key, limit, find.offset, part, find.in, filters, modification, values);
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

    private static <R> Request<R> request(
            Operation operation,
            RowShape shape,
            LineWriter line,
            Reply.Expect expect,
            boolean isLong,
            Function<Reply, R> convert) {
        return new Request<>(operation, shape.index(), line, expect, isLong, convert, null);
    }

    private <R> Request<R> known(Operation operation, R result) {
        return new Request<>(operation, shape.index(), null, Reply.Expect.ROWS, false, reply -> result, result);
    }

    /** Rows are converted at once, so that an error is that of the call, and then the list is only read. */
    private static <T> List<T> rows(Reply reply, RowShape shape, Function<Row, T> mapper) {
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
