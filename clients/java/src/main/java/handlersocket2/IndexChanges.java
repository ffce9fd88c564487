package handlersocket2;

import handlersocket2.IndexWrites.Answered;
import handlersocket2.internal.Operation;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * What an {@link Index} changes.
 *
 * @param <T> what rows are
 */
abstract class IndexChanges<T> {
    final IndexCore core;
    final Function<Row, T> mapper;

    IndexChanges(IndexCore core, Function<Row, T> mapper) {
        this.core = core;
        this.mapper = mapper;
    }

    /** Sends a request and waits for what it gives. */
    abstract <R> R run(Request<R> request);

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
}
