import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** One way of calling the client. Each method gives the result, or throws the client's own error. */
interface Calls {
    <T> Optional<T> findOne(Index<T> index, Object... key);

    <T> List<T> find(Index<T> index, Find find);

    long count(Index<?> index, Find find);

    OptionalLong insert(Index<?> index, Record row);

    long update(Index<?> index, Find find, Map<String, ?> values);

    long increment(Index<?> index, Find find, Map<String, ?> values);

    <T> List<T> fetchAndIncrement(Index<T> index, Find find, Map<String, ?> values);

    long delete(Index<?> index, Find find);

    /** Iterates. */
    <T> void forEach(Index<T> index, Find find, Consumer<T> reader);

    void run(Group group);

    /** It throws nothing: each future of the pipeline has its result or its error, soon or already. */
    void run(Pipeline pipeline);
}
