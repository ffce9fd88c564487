package handlersocket2;

import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.RequestWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes the requests of an index that write, for every view of it. Any thread may use it. */
final class IndexWrites {
    private final IndexCore core;

    IndexWrites(IndexCore core) {
        this.core = core;
    }

    /** Which rows a modification answers: none, those before, or those afterwards. */
    enum Answered {
        NONE(""),
        BEFORE("?"),
        AFTER("!");

        final String mark;

        Answered(String mark) {
            this.mark = mark;
        }
    }

    // Modifications.

    /** How many rows a modification has modified. */
    Request<Long> modify(Operation operation, Find find, Map<String, ?> named) {
        if (isAssigned(operation, named.values())) {
            return assign(find, columnsWith(core.shape.index().columns(), named), named);
        }
        List<String> names = new ArrayList<>(named.keySet());
        return modify(operation, find, core.with(names, false), new ArrayList<>(named.values()));
    }

    Request<Long> modify(Operation operation, Find find, List<?> values) {
        if (isAssigned(operation, values)) {
            return assign(find, core.shape, byName(values));
        }
        return modify(operation, find, core.shape, values);
    }

    private Request<Long> modify(Operation operation, Find find, RowShape target, List<?> values) {
        requireWriter();
        if (IndexCore.isEmpty(find)) {
            return core.known(operation, 0L);
        }
        LineWriter line = new LineWriter();
        RequestWriter.find(line, selection(find), letter(operation), fitting(target, values));
        return count(operation, target, line);
    }

    private Request<Long> assign(Find find, RowShape target, Map<String, ?> named) {
        requireWriter();
        if (IndexCore.isEmpty(find)) {
            return core.known(Operation.UPDATE, 0L);
        }
        LineWriter line = new LineWriter();
        RequestWriter.assign(line, selection(find), "set", assigned(target, named));
        return count(Operation.UPDATE, target, line);
    }

    private static Request<Long> count(Operation operation, RowShape target, LineWriter line) {
        return IndexCore.request(operation, target, line, Reply.Expect.COUNT, false, reply -> reply.number);
    }

    /** The rows as they were before a modification, or as they are afterwards. */
    <T> Request<List<T>> fetch(
            Operation operation, Answered answered, Find find, Map<String, ?> named, Function<Row, T> mapper) {
        if (isAssigned(operation, named.values())) {
            return assign(answered, find, columnsWith(core.shape.index().columns(), named), named, mapper);
        }
        List<String> names = new ArrayList<>(named.keySet());
        return fetch(operation, answered, find, core.with(names, true), new ArrayList<>(named.values()), mapper);
    }

    <T> Request<List<T>> fetch(
            Operation operation, Answered answered, Find find, List<?> values, Function<Row, T> mapper) {
        if (isAssigned(operation, values)) {
            return assign(answered, find, core.shape, byName(values), mapper);
        }
        return fetch(operation, answered, find, core.shape, values, mapper);
    }

    private <T> Request<List<T>> fetch(
            Operation operation,
            Answered answered,
            Find find,
            RowShape target,
            List<?> values,
            Function<Row, T> mapper) {
        requireWriter();
        if (IndexCore.isEmpty(find)) {
            return core.known(operation, List.of());
        }
        LineWriter line = new LineWriter();
        RequestWriter.find(line, selection(find), letter(operation) + answered.mark, fitting(target, values));
        return rows(operation, target, line, mapper);
    }

    private <T> Request<List<T>> assign(
            Answered answered, Find find, RowShape target, Map<String, ?> named, Function<Row, T> mapper) {
        requireWriter();
        if (IndexCore.isEmpty(find)) {
            return core.known(Operation.UPDATE, List.of());
        }
        LineWriter line = new LineWriter();
        RequestWriter.assign(line, selection(find), "set" + answered.mark, assigned(target, named));
        return rows(Operation.UPDATE, target, line, mapper);
    }

    private static <T> Request<List<T>> rows(
            Operation operation, RowShape target, LineWriter line, Function<Row, T> mapper) {
        return IndexCore.request(
                operation, target, line, Reply.Expect.ROWS, false, reply -> IndexCore.rows(reply, target, mapper));
    }

    // Inserts.

    Request<OptionalLong> insert(Map<String, ?> named) {
        return insert(core.with(new ArrayList<>(named.keySet()), false), new ArrayList<>(named.values()));
    }

    Request<OptionalLong> insert(List<?> values) {
        return insert(core.shape, values);
    }

    private Request<OptionalLong> insert(RowShape target, List<?> values) {
        requireWriter();
        LineWriter line = new LineWriter();
        RequestWriter.insert(line, fitting(target, values));
        return IndexCore.request(
                Operation.INSERT,
                target,
                line,
                Reply.Expect.ID,
                false,
                reply -> reply.hasNumber ? OptionalLong.of(reply.number) : OptionalLong.empty());
    }

    Request<List<Outcome>> insertMany(Collection<?> given, Duplicate duplicate) {
        requireWriter();
        Rows rows = Rows.of(given, core.shape);
        RowShape target = rows.named ? core.with(rows.columns, false) : core.shape;
        LineWriter line = new LineWriter();
        RequestWriter.insertRows(line, rows.values, duplicate.word(), List.of(), List.of());
        return outcomes(Operation.INSERT, target, line, rows, IndexWrites::outcomes);
    }

    Request<Outcome> upsert(Upsert upsert) {
        if (upsert.rows.size() != 1) {
            throw new UsageException("upsert() is for one row, and upsertMany() for several");
        }
        return upsert(upsert, reply -> outcomes(reply).get(0));
    }

    Request<List<Outcome>> upsertMany(Upsert upsert) {
        return upsert(upsert, IndexWrites::outcomes);
    }

    private <R> Request<R> upsert(Upsert upsert, Function<Reply, R> convert) {
        requireWriter();
        Rows rows = Rows.of(upsert.rows, core.shape);
        RowShape target = columnsWith(rows.columns, upsert.changes);
        LineWriter line = new LineWriter();
        RequestWriter.insertRows(
                line, rows.values, "update", assigned(target, upsert.changes), core.filters(upsert.conditions));
        return outcomes(Operation.UPSERT, target, line, rows, convert);
    }

    private static <R> Request<R> outcomes(
            Operation operation, RowShape target, LineWriter line, Rows rows, Function<Reply, R> convert) {
        int count = rows.values.size();
        return new Request<>(operation, target.index(), line, Reply.Expect.OUTCOMES, false, count, convert, null);
    }

    private static List<Outcome> outcomes(Reply reply) {
        List<Outcome> outcomes = new ArrayList<>();
        for (int i = 0; i < 2 * reply.rows(); i += 2) {
            Outcome.Done done = Outcome.Done.valueOf(String.valueOf(reply.text(i)).toUpperCase(Locale.ROOT));
            OptionalLong id = reply.isNull(i + 1) ? OptionalLong.empty() : OptionalLong.of(reply.idOf(i + 1));
            outcomes.add(new Outcome(done, id));
        }
        return List.copyOf(outcomes);
    }

    /** Rows that are to be inserted, with the columns to which their values belong. */
    private record Rows(List<String> columns, boolean named, List<List<?>> values) {

        static Rows of(Collection<?> given, RowShape shape) {
            List<String> columns = shape.index().columns();
            List<List<?>> values = new ArrayList<>();
            Boolean named = null;
            for (Object row : given) {
                Object each = row instanceof Record record ? RecordMapper.values(record) : row;
                boolean isNamed = each instanceof Map<?, ?>;
                if (named != null && named != isNamed || !isNamed && !(each instanceof List<?>)) {
                    throw new UsageException("rows are maps, lists or records, and all of one kind");
                }
                if (each instanceof Map<?, ?> map) {
                    if (named == null) {
                        columns = map.keySet().stream().map(String.class::cast).toList();
                    }
                    values.add(inOrder(map, columns));
                } else if (each instanceof List<?> list) {
                    values.add(fitting(shape, list));
                }
                named = isNamed;
            }
            return new Rows(columns, Boolean.TRUE.equals(named), values);
        }

        private static List<?> inOrder(Map<?, ?> row, List<String> columns) {
            if (row.size() != columns.size() || !row.keySet().containsAll(columns)) {
                throw new UsageException("the rows of an insert name the same columns");
            }
            List<@Nullable Object> values = new ArrayList<>();
            columns.forEach(column -> values.add(row.get(column)));
            return values;
        }
    }

    // What they have in common.

    private static boolean isAssigned(Operation operation, Collection<?> values) {
        return operation == Operation.UPDATE && Assign.isAmong(values);
    }

    /** The index with these columns and those that are named. */
    private RowShape columnsWith(List<String> columns, Map<String, ?> named) {
        List<String> all = new ArrayList<>(columns);
        named.keySet().stream().filter(name -> !columns.contains(name)).forEach(all::add);
        return core.with(all, false);
    }

    private Map<String, @Nullable Object> byName(List<?> values) {
        List<String> columns = core.shape.index().columns();
        Map<String, @Nullable Object> named = new LinkedHashMap<>();
        int position = 0;
        for (Object value : fitting(core.shape, values)) {
            named.put(columns.get(position++), value);
        }
        return named;
    }

    private static List<RequestWriter.Assigned> assigned(RowShape target, Map<String, ?> named) {
        List<RequestWriter.Assigned> all = new ArrayList<>();
        named.forEach(
                (column, value) -> {
                    int position = target.position(column);
                    all.add(
                            value instanceof Assign assign
                                    ? new RequestWriter.Assigned(position, assign.how, assign.values)
                                    : new RequestWriter.Assigned(
                                            position, "=", Collections.singletonList(value)));
                });
        return all;
    }

    private RequestWriter.Selection selection(Find find) {
        return core.selection(find, find.effectiveLimit(), 1);
    }

    private void requireWriter() {
        if (!core.router.canWrite()) {
            throw new UsageException("the client has no port for writing");
        }
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
            case LOCK -> "lock";
            default -> throw new IllegalStateException();
        };
    }
}
