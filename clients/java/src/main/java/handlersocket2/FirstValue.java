package handlersocket2;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a row the value of its first column.
 *
 * @param <T> the type as which the value is read
 */
record FirstValue<T>(ValueReader<T> reader) implements Function<Row, @Nullable T> {
    @Override
    public @Nullable T apply(Row row) {
        return row.read(0, reader);
    }
}
