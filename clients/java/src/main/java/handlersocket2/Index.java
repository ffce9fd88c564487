package handlersocket2;

import handlersocket2.internal.Cursor;
import handlersocket2.internal.Router;
import handlersocket2.internal.WaitedCall;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An index of a table, with the columns that its rows have. Its methods wait for the reply; those of {@link #async()}
 * give futures. Any number of threads may use it. What they ask at the same time is sent together.
 *
 * <p>Each method may throw what {@link Failure} describes. An interrupt gives a call up: it ends with a {@link
 * RequestCancelledException}, and the thread stays interrupted. If it comes before the call, nothing is sent. Who catches
 * {@link HandlerSocketException} misses this exception: see there.
 *
 * @param <T> what rows are: {@link Row}, or what {@link #as} and {@link #map} say
 */
public final class Index<T> extends IndexChanges<T> {
    private final Times times;

    Index(IndexCore core, Function<Row, T> mapper, Times times) {
        super(core, mapper);
        this.times = times;
    }

    @Override
    <R> R run(Request<R> request) {
        if (request.line() == null) {
            return request.known();
        }
        Waiting.refuseOwnThread();
        WaitedCall call = request.waited(times.within(), times.timeout(), core.router.observer());
        Waiting.submit(core.router, call);
        return request.read(call);
    }

    /**
     * The same index with futures.
     *
     * @return a view of this one
     */
    public AsyncIndex<T> async() {
        return new AsyncIndex<>(core, mapper, times, core.router::submit);
    }

    /** The same index in a group. */
    AsyncIndex<T> in(AsyncIndex.Sender group) {
        return new AsyncIndex<>(core, mapper, times, group);
    }

    /** Whether it belongs to a client. */
    boolean isOf(Router router) {
        return core.router == router;
    }

    /** The same index in a pipeline. */
    AsyncIndex<T> in(Pipeline pipeline) {
        return new AsyncIndex<>(core, mapper, times, pipeline::add);
    }

    /**
     * The same index with another time for a call.
     *
     * @param timeout the time; zero is for ever
     * @return a view of this one
     */
    public Index<T> withTimeout(Duration timeout) {
        return new Index<>(core, mapper, times.withTimeout(timeout));
    }

    /**
     * The same index with a time for the server: it ends a request that takes longer, and answers {@code
     * max_request_time}. Then nothing was done. It does not matter within a {@link Group}, which has one as a whole.
     *
     * @param time more than nothing; it is rounded to milliseconds
     * @return a view of this one
     */
    public Index<T> within(Duration time) {
        return new Index<>(core, mapper, times.within(time));
    }

    /**
     * The same index with rows as records, or, for any other type of the table in the README, as the value of the first
     * column. There, NULL is null; {@code findOne}, whose {@link Optional} has no place for it, ends with a {@link
     * DecodeException}.
     *
     * @param type the type
     * @param <R> the type
     * @return a view of this one
     */
    public <R> Index<R> as(Class<R> type) {
        if (!type.isRecord()) {
            return map(new FirstValue<>(ValueReader.of(type)));
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
        return new Index<>(core, mapper, times);
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
        Cursor cursor =
                core.router.streams().open(core.shape.index(), times.within(), core.stream(find), times.deadline(0));
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
