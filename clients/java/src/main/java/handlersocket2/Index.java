package handlersocket2;

import handlersocket2.IndexWrites.Answered;
import handlersocket2.internal.Call;
import handlersocket2.internal.Cursor;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.Router;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An index of a table, with the columns that its rows have. Its methods wait for the reply; those of {@link #async()}
 * give futures. Any number of threads may use it. What they ask at the same time is sent together.
 *
 * <p>Each method may throw what {@link Failure} describes. An interrupt gives a call up: it ends with a {@link
 * RequestCancelledException}, and the thread stays interrupted.
 *
 * @param <T> what rows are: {@link Row}, or what {@link #as} and {@link #map} say
 */
public final class Index<T> {
    private final IndexCore core;
    private final Function<Row, T> mapper;
    private final Duration timeout;

    Index(IndexCore core, Function<Row, T> mapper, @Nullable Duration timeout) {
        this.core = core;
        this.mapper = mapper;
        this.timeout = timeout == null ? core.router.settings().timeout : timeout;
    }

    private <R> R run(Request<R> request) {
        if (request.line() == null) {
            return request.known();
        }
        Waiting.refuseOwnThread();
        // The caller's thread converts, not the one that reads for all callers.
        Call<Reply> call = request.call(reply -> reply, timeout, core.router.observer());
        core.router.submit(call);
        return request.read(Waiting.await(call));
    }

    /**
     * The same index with futures.
     *
     * @return a view of this one
     */
    public AsyncIndex<T> async() {
        return new AsyncIndex<>(core, mapper, timeout, core.router::submit);
    }

    /** The same index in a group. */
    AsyncIndex<T> in(AsyncIndex.Sender group) {
        return new AsyncIndex<>(core, mapper, timeout, group);
    }

    /** Whether it belongs to a client. */
    boolean isOf(Router router) {
        return core.router == router;
    }

    /** The same index in a pipeline. */
    AsyncIndex<T> in(Pipeline pipeline) {
        return new AsyncIndex<>(core, mapper, timeout, pipeline::add);
    }

    /**
     * The same index with another time for a call.
     *
     * @param timeout the time; zero is for ever
     * @return a view of this one
     */
    public Index<T> withTimeout(Duration timeout) {
        if (timeout.isNegative()) {
            throw new UsageException("a time-out is not negative");
        }
        return new Index<>(core, mapper, timeout);
    }

    /**
     * The same index with rows as records, or, for any other type of the table in the README, as the value of the first
     * column.
     *
     * @param type the type
     * @param <R> the type
     * @return a view of this one
     */
    public <R> Index<R> as(Class<R> type) {
        if (!type.isRecord()) {
            ValueReader<R> reader = ValueReader.of(type);
            return map(row -> row.read(0, reader));
        }
        RecordMapper<R> records = new RecordMapper<>(type);
        records.check(core.shape);
        return map(records);
    }

    /**
     * The same index with rows as whatever a function makes of them. For futures it is called on the thread that reads
     * for all callers, so it has to be quick.
     *
     * @param mapper the function
     * @param <R> what it gives
     * @return a view of this one
     */
    public <R> Index<R> map(Function<Row, R> mapper) {
        return new Index<>(core, mapper, timeout);
    }

    /**
     * The row with this key, or the first of several.
     *
     * @param key the values of the index's first parts; null is NULL
     * @return the row, if there is one
     */
    public Optional<T> findOne(@Nullable Object @Nullable ... key) {
        return run(core.findKey(key == null ? new Object[1] : key, mapper));
    }

    /**
     * The first of the rows that are meant.
     *
     * @param find which rows are meant
     * @return the row, if there is one
     */
    public Optional<T> findOne(Find find) {
        return run(core.findOne(find, mapper));
    }

    /**
     * The rows that are meant, in the order of the index.
     *
     * @param find which rows are meant
     * @return the rows, in a list that cannot be changed
     */
    public List<T> find(Find find) {
        return run(core.find(find, mapper));
    }

    /**
     * The rows with one of these keys, at most as many as there are keys. No keys give no rows, and send nothing.
     *
     * @param values values of the index's first part
     * @return the rows
     */
    public List<T> findIn(Collection<?> values) {
        return run(core.find(Find.eq("").in(0, values), mapper));
    }

    /**
     * How many rows are meant. Without a limit all of them are counted, over the connection for long finds.
     *
     * @param find which rows are meant
     * @return their number
     */
    public long count(Find find) {
        return run(core.count(find));
    }

    /**
     * Whether there is a row that is meant.
     *
     * @param find which rows are meant, without a limit
     * @return whether there is one
     */
    public boolean exists(Find find) {
        return run(core.exists(find));
    }

    /**
     * Inserts a row. Columns that are not named get their defaults.
     *
     * @param values values by their columns
     * @return the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public OptionalLong insert(Map<String, ?> values) {
        return run(core.writes.insert(values));
    }

    /**
     * Inserts a row.
     *
     * @param values values of the first of the index's columns
     * @return the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public OptionalLong insert(List<?> values) {
        return run(core.writes.insert(values));
    }

    /**
     * Inserts a row.
     *
     * @param row its components are the columns
     * @return the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public OptionalLong insert(Record row) {
        return run(core.writes.insert(RecordMapper.values(row)));
    }

    /**
     * Inserts several rows: all of them or none.
     *
     * @param rows maps with the same columns, lists of the same length, or records
     * @param duplicate what is done about a row that is there already
     * @return what was done of each row
     */
    public List<Outcome> insertMany(Collection<?> rows, Duplicate duplicate) {
        return run(core.writes.insertMany(rows, duplicate));
    }

    /**
     * Inserts a row, or changes the one that is there.
     *
     * @param upsert the row and the changes
     * @return what was done
     */
    public Outcome upsert(Upsert upsert) {
        return run(core.writes.upsert(upsert));
    }

    /**
     * The same with several rows: all of it is done or nothing.
     *
     * @param upsert the rows and the changes
     * @return what was done of each row
     */
    public List<Outcome> upsertMany(Upsert upsert) {
        return run(core.writes.upsertMany(upsert));
    }

    /**
     * Sets columns of the rows that are meant.
     *
     * @param find which rows are meant
     * @param values new values by their columns, or what an {@link Assign} makes of them
     * @return how many rows
     */
    public long update(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.UPDATE, find, values));
    }

    /**
     * Sets columns of the rows that are meant.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns
     * @return how many rows
     */
    public long update(Find find, List<?> values) {
        return run(core.writes.modify(Operation.UPDATE, find, values));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return how many rows
     */
    public long increment(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.INCREMENT, find, values));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return how many rows
     */
    public long increment(Find find, List<?> values) {
        return run(core.writes.modify(Operation.INCREMENT, find, values));
    }

    /**
     * Subtracts from columns of the rows that are meant. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return how many rows
     */
    public long decrement(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.DECREMENT, find, values));
    }

    /**
     * Subtracts from columns of the rows that are meant. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return how many rows
     */
    public long decrement(Find find, List<?> values) {
        return run(core.writes.modify(Operation.DECREMENT, find, values));
    }

    /**
     * Deletes the rows that are meant.
     *
     * @param find which rows are meant
     * @return how many rows
     */
    public long delete(Find find) {
        return run(core.writes.modify(Operation.DELETE, find, List.of()));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they were.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values new values by their columns
     * @return the rows before
     */
    public List<T> fetchAndUpdate(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they were.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns
     * @return the rows before
     */
    public List<T> fetchAndUpdate(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL. They are answered as they were.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the rows before
     */
    public List<T> fetchAndIncrement(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL. They are answered as they were.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the rows before
     */
    public List<T> fetchAndIncrement(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they were. A row whose value would cross zero stays as it is, and does not count.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the rows before
     */
    public List<T> fetchAndDecrement(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they were. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the rows before
     */
    public List<T> fetchAndDecrement(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Deletes the rows that are meant. They are answered as they were.
     *
     * @param find which rows are meant
     * @return the rows before
     */
    public List<T> fetchAndDelete(Find find) {
        return run(core.writes.fetch(Operation.DELETE, Answered.BEFORE, find, List.of(), mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values new values by their columns, or what an {@link Assign} makes of them
     * @return the rows afterwards
     */
    public List<T> updateAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.AFTER, find, values, mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns, or what an {@link Assign} makes of them
     * @return the rows afterwards
     */
    public List<T> updateAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.AFTER, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the rows afterwards
     */
    public List<T> incrementAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the rows afterwards
     */
    public List<T> incrementAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the rows afterwards
     */
    public List<T> decrementAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the rows afterwards
     */
    public List<T> decrementAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Reads a large result row by row, on a connection of its own. A slow reader slows down the server, and neither side
     * holds more than a buffer. The time-out bounds the wait for the next bytes. Who stops early has to close it.
     *
     * @param find which rows are meant
     * @return the rows
     */
    public RowIterator<T> iterate(Find find) {
        Waiting.refuseOwnThread();
        if (IndexCore.isEmpty(find)) {
            return new RowIterator<>(null, core.shape, mapper);
        }
        long nanos = Request.deadline(0, timeout);
        Cursor cursor = core.router.streams().open(core.shape.index(), core.stream(find), nanos);
        return new RowIterator<>(cursor, core.shape, mapper);
    }

    /**
     * The same as a stream. It has to be closed, unless it is read to its end.
     *
     * @param find which rows are meant
     * @return the rows
     */
    public Stream<T> stream(Find find) {
        return iterate(find).stream();
    }
}
