package handlersocket2;

import handlersocket2.internal.Cursor;
import handlersocket2.internal.Reply;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a large result, one by one. Read to the end, it closes itself. It belongs to one thread at a time.
 *
 * @param <T> what rows are
 */
public final class RowIterator<T> implements Iterator<T>, AutoCloseable {
    private final @Nullable Cursor cursor;
    private final RowShape shape;
    private final Function<Row, T> mapper;
    private @Nullable Reply next;

    RowIterator(@Nullable Cursor cursor, RowShape shape, Function<Row, T> mapper) {
        this.cursor = cursor;
        this.shape = shape;
        this.mapper = mapper;
    }

    /** Waits for the next row, if there is one. It throws what {@link Failure} describes. */
    @Override
    public boolean hasNext() {
        if (next == null && cursor != null) {
            next = cursor.next();
        }
        return next != null;
    }

    /**
     * The next row. It waits for it.
     *
     * @throws DecodeException if a value does not fit, or the function that makes rows fails: then the iteration is over
     */
    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        Reply row = next;
        next = null;
        T made;
        try {
            made = mapper.apply(new Row(row, 0, shape));
        } catch (Throwable problem) {
            DecodeException error = DecodeException.of(problem, false);
            if (cursor != null) {
                cursor.spoiled(error);
            }
            throw error;
        }
        if (cursor != null) {
            cursor.taken();
        }
        return made;
    }

    /**
     * The rows as a stream, which closes this when it is closed.
     *
     * @return a stream
     */
    public Stream<T> stream() {
        Spliterator<T> rows = Spliterators.spliteratorUnknownSize(this, Spliterator.ORDERED);
        return StreamSupport.stream(rows, false).onClose(this::close);
    }

    @Override
    public void close() {
        next = null;
        if (cursor != null) {
            cursor.close();
        }
    }
}
