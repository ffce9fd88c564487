import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import handlersocket2.RowIterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** The calls that wait for their replies. */
final class BlockingCalls implements Calls {
    @Override
    public <T> Optional<T> findOne(Index<T> index, Object... key) {
        return index.findOne(key);
    }

    @Override
    public <T> List<T> find(Index<T> index, Find find) {
        return index.find(find);
    }

    @Override
    public long count(Index<?> index, Find find) {
        return index.count(find);
    }

    @Override
    public OptionalLong insert(Index<?> index, Record row) {
        return index.insert(row);
    }

    @Override
    public long update(Index<?> index, Find find, Map<String, ?> values) {
        return index.update(find, values);
    }

    @Override
    public long increment(Index<?> index, Find find, Map<String, ?> values) {
        return index.increment(find, values);
    }

    @Override
    public <T> List<T> fetchAndIncrement(Index<T> index, Find find, Map<String, ?> values) {
        return index.fetchAndIncrement(find, values);
    }

    @Override
    public long delete(Index<?> index, Find find) {
        return index.delete(find);
    }

    @Override
    public <T> void forEach(Index<T> index, Find find, Consumer<T> reader) {
        try (RowIterator<T> rows = index.iterate(find)) {
            rows.forEachRemaining(reader);
        }
    }

    @Override
    public void run(Group group) {
        group.run();
    }

    @Override
    public void run(Pipeline pipeline) {
        pipeline.run();
    }
}
