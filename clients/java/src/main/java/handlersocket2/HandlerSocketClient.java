package handlersocket2;

import handlersocket2.internal.Router;
import handlersocket2.internal.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A client of a server, or of a list of servers. Make one for an application: any number of threads may share it. What
 * they ask at the same time goes over few connections, together.
 *
 * <pre>{@code
 * try (var client = HandlerSocketClient.open("handlersocket://127.0.0.1:9998,9999/app")) {
 *     Index<Row> users = client.index("user", "id", "name");
 *     users.findOne(42).ifPresent(user -> System.out.println(user.getString("name")));
 * }
 * }</pre>
 */
public final class HandlerSocketClient implements AutoCloseable {
    private final Router router;
    private final Settings settings;
    private final IndexRegistry indexes = new IndexRegistry();

    HandlerSocketClient(Settings settings) {
        this.settings = settings;
        this.router = new Router(settings);
    }

    /**
     * A client by an URL.
     *
     * @param url for example {@code handlersocket://user:password@host:9998,9999/db?timeout=5s}
     * @return the client; nothing is connected yet
     */
    public static HandlerSocketClient open(String url) {
        return builder().url(url).environment(System.getenv()).build();
    }

    /**
     * A client by the environment: HANDLERSOCKET_URL, HANDLERSOCKET_PASSWORD and HANDLERSOCKET_SECRET.
     *
     * @return the client; nothing is connected yet
     */
    public static HandlerSocketClient open() {
        String url = System.getenv("HANDLERSOCKET_URL");
        if (url == null) {
            throw new UsageException("HANDLERSOCKET_URL is not set");
        }
        return open(url);
    }

    /**
     * A client by options.
     *
     * @return a builder with the defaults
     */
    public static ClientBuilder builder() {
        return new ClientBuilder();
    }

    /**
     * An index of a table of the client's database: PRIMARY, with these columns.
     *
     * @param table the table
     * @param columns what rows have
     * @return the index; nothing is sent yet
     */
    public Index<Row> index(String table, String... columns) {
        return table(table).columns(columns).open();
    }

    /**
     * The index that the server has described, with the columns of the description, also if all were asked for. {@link
     * Row#get(String)} and {@link Row#toMap()} give values of the types that the server has told.
     *
     * @param description from {@link IndexBuilder#describe()}
     * @return the index; nothing is sent yet
     */
    public Index<Row> index(Description description) {
        return IndexBuilder.described(router, indexes, description);
    }

    /**
     * An index of a table, with everything that can be said about it.
     *
     * @param table the table
     * @return a builder
     */
    public IndexBuilder table(String table) {
        return new IndexBuilder(router, indexes, settings.database, table);
    }

    /**
     * Collects requests that are sent together.
     *
     * @return a pipeline
     */
    public Pipeline pipeline() {
        return new Pipeline(router);
    }

    /**
     * Collects requests that are done as a whole or not at all.
     *
     * @return a group
     */
    public Group group() {
        return new Group(router);
    }

    /**
     * Asks the server whether it is there. Connects for that, if it is still to be done. A server that does not know the
     * request is there, too.
     */
    public void ping() {
        Question.ping(router, settings.timeout).ask();
    }

    /**
     * The same, without waiting.
     *
     * @return a future that ends when the server has answered
     */
    public CompletableFuture<@Nullable Void> pingAsync() {
        return Question.ping(router, settings.timeout).send();
    }

    /**
     * Asks for the databases of which the account may know. The original server does not know this request, nor those of
     * the other lists, and answers {@code cmd}.
     *
     * @return their names, in the server's order
     */
    public List<String> databases() {
        return Question.databases(router, settings.timeout).ask();
    }

    /**
     * The same, without waiting.
     *
     * @return the future of their names
     */
    public CompletableFuture<List<String>> databasesAsync() {
        return Question.databases(router, settings.timeout).send();
    }

    /**
     * Asks for the tables of the client's database that the account can open.
     *
     * @return their names, in the server's order
     */
    public List<String> tables() {
        return tables(database());
    }

    /**
     * Asks for the tables of a database that the account can open.
     *
     * @param database the database
     * @return their names, in the server's order
     */
    public List<String> tables(String database) {
        return Question.tables(router, database, settings.timeout).ask();
    }

    /**
     * The same, without waiting.
     *
     * @param database the database
     * @return the future of their names
     */
    public CompletableFuture<List<String>> tablesAsync(String database) {
        return Question.tables(router, database, settings.timeout).send();
    }

    /**
     * Asks for the indexes of a table of the client's database.
     *
     * @param table the table
     * @return the indexes, without those of which the account may not see all columns
     */
    public List<ListedIndex> indexes(String table) {
        return indexes(database(), table);
    }

    /**
     * Asks for the indexes of a table.
     *
     * @param database its database
     * @param table the table
     * @return the indexes, without those of which the account may not see all columns
     */
    public List<ListedIndex> indexes(String database, String table) {
        return Question.indexes(router, database, table, settings.timeout).ask();
    }

    /**
     * The same, without waiting.
     *
     * @param database its database
     * @param table the table
     * @return the future of the indexes
     */
    public CompletableFuture<List<ListedIndex>> indexesAsync(String database, String table) {
        return Question.indexes(router, database, table, settings.timeout).send();
    }

    private String database() {
        return Question.named(settings.database);
    }

    /**
     * Asks the server for its versions, and for what it understands. The original server does not know this request, and
     * answers {@code cmd}.
     *
     * @return values by their names, in the server's order
     */
    public Map<String, String> hello() {
        return Question.hello(router, settings.timeout).ask();
    }

    /**
     * The same, without waiting.
     *
     * @return the future of values by their names, in the server's order
     */
    public CompletableFuture<Map<String, String>> helloAsync() {
        return Question.hello(router, settings.timeout).send();
    }

    /**
     * What the client has counted.
     *
     * @return the numbers of now
     */
    public Counters counters() {
        return router.counters();
    }

    /**
     * Takes no new calls, waits for the replies that are owed and for iterations that go on, and closes.
     *
     * @param atMost how long it waits
     */
    public void shutdown(Duration atMost) {
        router.shutdown(atMost);
    }

    /**
     * Ends at once, in every state: calls that are in flight or wait fail with a {@link ClientClosedException}. A closed
     * client stays closed. It may be closed more than once, by anybody.
     */
    @Override
    public void close() {
        router.close();
    }

    /**
     * Shows where the servers are, and who logs in. It shows no password and no secret.
     *
     * @return some words
     */
    @Override
    public String toString() {
        return describe(settings);
    }

    static String describe(Settings settings) {
        return "HandlerSocketClient(" + settings.addresses
                + (settings.database == null ? "" : ", database " + settings.database)
                + (settings.user == null ? "" : ", user " + settings.user)
                + (settings.secret == null ? "" : ", with a secret")
                + ", tls " + settings.tls.name().toLowerCase(Locale.ROOT) + ")";
    }
}
