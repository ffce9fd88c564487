package handlersocket2;

import handlersocket2.internal.IndexDef;
import handlersocket2.internal.Router;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    private List<String> keyColumns = List.of();

    IndexBuilder(Router router, IndexRegistry indexes, @Nullable String database, String table) {
        this.router = router;
        this.indexes = indexes;
        this.database = database;
        this.table = table;
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
     * The index. Nothing is sent until a call needs it.
     *
     * @return the index
     */
    public Index<Row> open() {
        return new Index<>(core(), row -> row, null);
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
        if (database == null) {
            throw new UsageException("neither the client nor the index names a database");
        }
        IndexDef.Key key =
                new IndexDef.Key(database, table, index, List.copyOf(columns.keySet()), filterColumns);
        Class<?>[] types = new ArrayList<>(columns.values()).toArray(new Class<?>[0]);
        return new IndexCore(router, indexes, new RowShape(indexes.of(key), types), keyColumns);
    }
}
