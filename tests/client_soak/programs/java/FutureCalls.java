import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The calls that give futures, which the caller's thread joins. */
final class FutureCalls implements Calls {
    /** The result of a future, or the client's error that it has as its cause. */
    static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException problem) {
            if (problem.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw problem;
        }
    }

    @Override
    public <T> Optional<T> findOne(Index<T> index, Object... key) {
        return join(index.async().findOne(key));
    }

    @Override
    public <T> List<T> find(Index<T> index, Find find) {
        return join(index.async().find(find));
    }

    @Override
    public long count(Index<?> index, Find find) {
        return join(index.async().count(find));
    }

    @Override
    public OptionalLong insert(Index<?> index, Record row) {
        return join(index.async().insert(row));
    }

    @Override
    public long update(Index<?> index, Find find, Map<String, ?> values) {
        return join(index.async().update(find, values));
    }

    @Override
    public long increment(Index<?> index, Find find, Map<String, ?> values) {
        return join(index.async().increment(find, values));
    }

    @Override
    public <T> List<T> fetchAndIncrement(Index<T> index, Find find, Map<String, ?> values) {
        return join(index.async().fetchAndIncrement(find, values));
    }

    @Override
    public long delete(Index<?> index, Find find) {
        return join(index.async().delete(find));
    }

    /** There are no futures of an iteration, but there is a stream. */
    @Override
    public <T> void forEach(Index<T> index, Find find, Consumer<T> reader) {
        try (Stream<T> rows = index.stream(find)) {
            rows.forEachOrdered(reader);
        }
    }

    @Override
    public void run(Group group) {
        join(group.send());
    }

    @Override
    public void run(Pipeline pipeline) {
        pipeline.send();
    }
}
