package handlersocket2;

import handlersocket2.internal.IndexDef;
import handlersocket2.internal.Router;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Says which index of a table is meant, and which columns. */
public final class IndexBuilder {
    private final Router router;
    private final IndexRegistry indexes;
    private @Nullable String database;
    private final String table;
    private String index = "PRIMARY";
    private final Map<String, Class<?>> columns = new LinkedHashMap<>();
    private List<String> filterColumns = List.of();
    private List<@Nullable String> keyColumns = List.of();
    private Times times;

    IndexBuilder(Router router, IndexRegistry indexes, @Nullable String database, String table) {
        this.router = router;
        this.indexes = indexes;
        this.database = database;
        this.table = table;
        this.times = Times.of(router.settings().timeout);
    }

    /** The index that was described, with its columns and their types. */
    static Index<Row> described(Router router, IndexRegistry indexes, Description of) {
        IndexBuilder builder = new IndexBuilder(router, indexes, of.database(), of.table()).index(of.index());
        for (Description.Column column : of.columns()) {
            builder.column(name(column), column.javaType());
        }
        builder.filterColumns = of.filterColumns().stream().map(IndexBuilder::name).toList();
        // A part that is an expression has no name.
        builder.keyColumns = of.key().stream().map(Description.Column::name).toList();
        return builder.open();
    }

    private static String name(Description.Column column) {
        if (column.name() == null) {
            throw new UsageException("only a part of an index may have no name");
        }
        return column.name();
    }

    /**
     * The table's database, if it is not the client's.
     *
     * @param database its name
     * @return this builder
     */
    public IndexBuilder database(String database) {
        this.database = database;
        return this;
    }

    /**
     * The index, if it is not PRIMARY.
     *
     * @param index its name, or its position in SHOW INDEX
     * @return this builder
     */
    public IndexBuilder index(String index) {
        this.index = index;
        return this;
    }

    /**
     * Columns that rows have.
     *
     * @param columns their names
     * @return this builder
     */
    public IndexBuilder columns(String... columns) {
        for (String column : columns) {
            column(column, String.class);
        }
        return this;
    }

    /**
     * A column that rows have, and the type that {@link Row#get(String)} gives.
     *
     * @param column its name
     * @param type a type of the table in the README
     * @return this builder
     */
    public IndexBuilder column(String column, Class<?> type) {
        if (!ValueReader.knows(type)) {
            throw new UsageException("a value cannot be read as the type " + type.getName());
        }
        if (columns.put(column, type) != null) {
            throw new UsageException("the column " + column + " is named twice");
        }
        return this;
    }

    /**
     * Columns that {@link Find#filter} and {@link Find#whilst} may name.
     *
     * @param columns their names
     * @return this builder
     */
    public IndexBuilder filterColumns(String... columns) {
        filterColumns = List.of(columns);
        return this;
    }

    /**
     * The parts of the index in their order, so that {@link Find#named} and {@link Find#in(String,
     * java.util.Collection)} may name them.
     *
     * @param columns their names
     * @return this builder
     */
    public IndexBuilder keyColumns(String... columns) {
        keyColumns = List.of(columns);
        return this;
    }

    /**
     * How long a call of the index may take, if not as long as the client says.
     *
     * @param timeout the time; zero is for ever
     * @return this builder
     */
    public IndexBuilder timeout(Duration timeout) {
        times = times.withTimeout(timeout);
        return this;
    }

    /**
     * Asks the server what the columns and the parts of the index are: all columns of the table, unless some were named.
     * The original server does not know this request, and answers {@code cmd}.
     *
     * @return what it says, of which {@link HandlerSocketClient#index(Description)} makes an index
     */
    public Description describe() {
        return question().ask();
    }

    /**
     * The same, without waiting.
     *
     * @return the future of what it says
     */
    public CompletableFuture<Description> describeAsync() {
        return question().send();
    }

    private Question<Description> question() {
        List<String> asked = columns.isEmpty() ? null : List.copyOf(columns.keySet());
        return Question.describe(router, indexes.of(key(asked)), times.timeout());
    }

    /**
     * The index. Nothing is sent until a call needs it.
     *
     * @return the index
     */
    public Index<Row> open() {
        return new Index<>(core(), row -> row, times);
    }

    /**
     * The index, with rows as records. The record's components say which columns, unless columns were named.
     *
     * @param type the record
     * @param <T> the record
     * @return the index
     */
    public <T extends Record> Index<T> open(Class<T> type) {
        RecordMapper<T> mapper = new RecordMapper<>(type);
        if (columns.isEmpty()) {
            mapper.columns().forEach(column -> columns.put(column, String.class));
        }
        return open().as(type);
    }

    private IndexCore core() {
        Class<?>[] types = new ArrayList<>(columns.values()).toArray(new Class<?>[0]);
        return new IndexCore(router, indexes, new RowShape(indexes.of(key(List.copyOf(columns.keySet()))), types), keyColumns);
    }

    private IndexDef.Key key(@Nullable List<String> asked) {
        return new IndexDef.Key(Question.named(database), table, index, asked, filterColumns);
    }
}
