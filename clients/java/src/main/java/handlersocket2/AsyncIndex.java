package handlersocket2;

import handlersocket2.IndexWrites.Answered;
import handlersocket2.internal.Call;
import handlersocket2.internal.Observer;
import handlersocket2.internal.Operation;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An index whose methods give futures. Its methods never wait: a call that has to wait for its turn is a future that
 * takes longer. So who asks without an end has to look at the futures, or choose {@link
 * ClientBuilder.WhenFull#FAIL}.
 *
 * <p>A future ends on the thread that reads for all callers. What is chained to it has to be quick, and must not wait for
 * the client; the methods of {@link CompletableFuture} whose names end in {@code Async} go to another thread. {@link
 * CompletableFuture#cancel} gives a call up. What cannot be meant is thrown at once, as a {@link UsageException}.
 *
 * @param <T> what rows are
 */
public final class AsyncIndex<T> {
    private final IndexCore core;
    private final Function<Row, T> mapper;
    private final Times times;
    private final Sender sender;

    /** Who sends what is asked, or collects it. */
    interface Sender {
        void send(Call<?> call);

        /** A call whose result is known without asking. */
        default void nothing() {}

        /** Who sees the end of a call. */
        default @Nullable Observer observer(Observer usual) {
            return usual;
        }
    }

    AsyncIndex(IndexCore core, Function<Row, T> mapper, Times times, Sender sender) {
        this.core = core;
        this.mapper = mapper;
        this.times = times;
        this.sender = sender;
    }

    private <R> CompletableFuture<R> run(Request<R> request) {
        if (request.line() == null) {
            sender.nothing();
            return CompletableFuture.completedFuture(request.known());
        }
        Call<R> call = request.call(request.convert(), times, sender.observer(core.router.observer()));
        sender.send(call);
        return call;
    }

    /**
     * The row with this key, or the first of several.
     *
     * @param key the values of the index's first parts; null is NULL
     * @return the future of the row, if there is one
     */
    public CompletableFuture<Optional<T>> findOne(@Nullable Object @Nullable ... key) {
        return run(core.findKey(key == null ? new Object[1] : key, mapper));
    }

    /**
     * The first of the rows that are meant.
     *
     * @param find which rows are meant
     * @return the future of the row, if there is one
     */
    public CompletableFuture<Optional<T>> findOne(Find find) {
        return run(core.findOne(find, mapper));
    }

    /**
     * The rows that are meant, in the order of the index.
     *
     * @param find which rows are meant
     * @return the future of the rows, in a list that cannot be changed
     */
    public CompletableFuture<List<T>> find(Find find) {
        return run(core.find(find, mapper));
    }

    /**
     * The rows with one of these keys, at most as many as there are keys. No keys give no rows, and send nothing.
     *
     * @param values values of the index's first part
     * @return the future of the rows
     */
    public CompletableFuture<List<T>> findIn(Collection<?> values) {
        return run(core.find(Find.eq("").in(0, values), mapper));
    }

    /**
     * How many rows are meant. Without a limit all of them are counted, over the connection for long finds.
     *
     * @param find which rows are meant
     * @return the future of their number
     */
    public CompletableFuture<Long> count(Find find) {
        return run(core.count(find));
    }

    /**
     * Whether there is a row that is meant.
     *
     * @param find which rows are meant, without a limit
     * @return the future of whether there is one
     */
    public CompletableFuture<Boolean> exists(Find find) {
        return run(core.exists(find));
    }

    /**
     * Inserts a row. Columns that are not named get their defaults.
     *
     * @param values values by their columns
     * @return the future of the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public CompletableFuture<OptionalLong> insert(Map<String, ?> values) {
        return run(core.writes.insert(values));
    }

    /**
     * Inserts a row.
     *
     * @param values values of the first of the index's columns
     * @return the future of the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public CompletableFuture<OptionalLong> insert(List<?> values) {
        return run(core.writes.insert(values));
    }

    /**
     * Inserts a row.
     *
     * @param row its components are the columns
     * @return the future of the AUTO_INCREMENT value as 64 bits without a sign, if the table has such a column
     */
    public CompletableFuture<OptionalLong> insert(Record row) {
        return run(core.writes.insert(RecordMapper.values(row)));
    }

    /**
     * Inserts several rows: all of them or none.
     *
     * @param rows maps with the same columns, lists of the same length, or records
     * @param duplicate what is done about a row that is there already
     * @return the future of what was done of each row
     */
    public CompletableFuture<List<Outcome>> insertMany(Collection<?> rows, Duplicate duplicate) {
        return run(core.writes.insertMany(rows, duplicate));
    }

    /**
     * Inserts a row, or changes the one that is there.
     *
     * @param upsert the row and the changes
     * @return the future of what was done
     */
    public CompletableFuture<Outcome> upsert(Upsert upsert) {
        return run(core.writes.upsert(upsert));
    }

    /**
     * The same with several rows: all of it is done or nothing.
     *
     * @param upsert the rows and the changes
     * @return the future of what was done of each row
     */
    public CompletableFuture<List<Outcome>> upsertMany(Upsert upsert) {
        return run(core.writes.upsertMany(upsert));
    }

    /**
     * Sets columns of the rows that are meant.
     *
     * @param find which rows are meant
     * @param values new values by their columns, or what an {@link Assign} makes of them
     * @return the future of how many rows
     */
    public CompletableFuture<Long> update(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.UPDATE, find, values));
    }

    /**
     * Sets columns of the rows that are meant.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns
     * @return the future of how many rows
     */
    public CompletableFuture<Long> update(Find find, List<?> values) {
        return run(core.writes.modify(Operation.UPDATE, find, values));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of how many rows
     */
    public CompletableFuture<Long> increment(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.INCREMENT, find, values));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of how many rows
     */
    public CompletableFuture<Long> increment(Find find, List<?> values) {
        return run(core.writes.modify(Operation.INCREMENT, find, values));
    }

    /**
     * Subtracts from columns of the rows that are meant. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of how many rows
     */
    public CompletableFuture<Long> decrement(Find find, Map<String, ?> values) {
        return run(core.writes.modify(Operation.DECREMENT, find, values));
    }

    /**
     * Subtracts from columns of the rows that are meant. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of how many rows
     */
    public CompletableFuture<Long> decrement(Find find, List<?> values) {
        return run(core.writes.modify(Operation.DECREMENT, find, values));
    }

    /**
     * Deletes the rows that are meant.
     *
     * @param find which rows are meant
     * @return the future of how many rows
     */
    public CompletableFuture<Long> delete(Find find) {
        return run(core.writes.modify(Operation.DELETE, find, List.of()));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they were.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values new values by their columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndUpdate(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they were.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndUpdate(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL. They are answered as they were.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndIncrement(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. NULL stays NULL. They are answered as they were.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndIncrement(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they were. A row whose value would cross zero stays as it is, and does not count.
     * The original server changes columns that get no value, too, so name all columns of the index there.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndDecrement(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they were. A row whose value would cross zero stays as it is, and does not count.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndDecrement(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.BEFORE, find, values, mapper));
    }

    /**
     * Deletes the rows that are meant. They are answered as they were.
     *
     * @param find which rows are meant
     * @return the future of the rows before
     */
    public CompletableFuture<List<T>> fetchAndDelete(Find find) {
        return run(core.writes.fetch(Operation.DELETE, Answered.BEFORE, find, List.of(), mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values new values by their columns, or what an {@link Assign} makes of them
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> updateAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.AFTER, find, values, mapper));
    }

    /**
     * Sets columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values new values of the first of the index's columns, or what an {@link Assign} makes of them
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> updateAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.UPDATE, Answered.AFTER, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> incrementAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Adds to columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> incrementAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.INCREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers by their columns
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> decrementAndFetch(Find find, Map<String, ?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.AFTER, find, values, mapper));
    }

    /**
     * Keeps the rows that are meant as they are until the {@link Group} has ended.
     *
     * @param find which rows are meant
     * @return the future of their number
     */
    public CompletableFuture<Long> lock(Find find) {
        return run(core.writes.modify(Operation.LOCK, find, List.of()));
    }

    /**
     * The same, with the rows. A find in a group takes no lock.
     *
     * @param find which rows are meant
     * @return the future of the rows
     */
    public CompletableFuture<List<T>> fetchAndLock(Find find) {
        return run(core.writes.fetch(Operation.LOCK, Answered.BEFORE, find, List.of(), mapper));
    }

    /**
     * Subtracts from columns of the rows that are meant. They are answered as they are afterwards.
     *
     * @param find which rows are meant
     * @param values numbers of the first of the index's columns
     * @return the future of the rows afterwards
     */
    public CompletableFuture<List<T>> decrementAndFetch(Find find, List<?> values) {
        return run(core.writes.fetch(Operation.DECREMENT, Answered.AFTER, find, values, mapper));
    }
}
