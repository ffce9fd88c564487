package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Clock;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.Route;
import handlersocket2.internal.Router;
import handlersocket2.internal.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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

    /** Connects and logs in, for reading and for writing, and waits for it. */
    public void ping() {
        List<Route> routes = router.canWrite() ? List.of(Route.READ, Route.WRITE) : List.of(Route.READ);
        for (Route route : routes) {
            long now = Clock.now();
            Call<Reply> call =
                    new Call<>(
                            Operation.PING, null, new byte[0], new LineWriter(0), Reply.Expect.NOTHING, false, 0, now,
                            Request.deadline(now, settings.timeout), reply -> reply, router.observer());
            Waiting.refuseOwnThread();
            router.ping(route, call);
            Waiting.await(call);
        }
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
     * Takes no new calls, waits for the replies that are owed, and closes.
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
