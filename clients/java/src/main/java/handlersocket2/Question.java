package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Hello;
import handlersocket2.internal.IndexDef;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Listed;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.Router;
import handlersocket2.internal.WaitedCall;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is asked about the server and its tables, and not for rows.
 *
 * @param prefix what stands in front of the index's id
 * @param listed what a list is of; null if it has no names
 * @param <R> what it gives
 */
record Question<R>(
        Router router, Request<R> request, byte[] prefix, Duration timeout, IndexDef.@Nullable Key listed) {
    private static final byte[] DESCRIBE = "D\t".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte[] NOTHING = {};

    static Question<Description> describe(Router router, IndexDef index, Duration timeout) {
        LineWriter line = new LineWriter(1).raw('\n');
        return new Question<>(
                router,
                new Request<>(
                        Operation.DESCRIBE, index, line, Reply.Expect.DESCRIPTION, false, 0,
                        reply -> Description.of(index.key, reply), null),
                DESCRIBE,
                timeout,
                null);
    }

    /** The database of a call, which has to have one: its own or the client's. */
    static String named(@Nullable String database) {
        if (database == null || database.isEmpty()) {
            throw new UsageException("no database: neither the call nor the client names one");
        }
        return database;
    }

    static Question<Map<String, String>> hello(Router router, Duration timeout) {
        return of(
                router, Operation.HELLO, Hello.line(router.settings()), Reply.Expect.PAIRS, Question::pairs, timeout, null);
    }

    static Question<List<String>> databases(Router router, Duration timeout) {
        return of(router, Operation.LIST, Listed.line(), Reply.Expect.NAMES, Question::names, timeout, null);
    }

    static Question<List<String>> tables(Router router, String database, Duration timeout) {
        return of(
                router, Operation.LIST, Listed.line(named(database)), Reply.Expect.NAMES, Question::names, timeout,
                new IndexDef.Key(database, "", "", List.of(), List.of()));
    }

    static Question<List<ListedIndex>> indexes(Router router, String database, String table, Duration timeout) {
        return of(
                router, Operation.LIST, Listed.line(named(database), table), Reply.Expect.INDEXES, ListedIndex::of, timeout,
                new IndexDef.Key(database, table, "", List.of(), List.of()));
    }

    static Question<@Nullable Void> ping(Router router, Duration timeout) {
        return of(router, Operation.PING, Listed.ping(), Reply.Expect.ECHO, reply -> null, timeout, null);
    }

    /** One without an index. */
    private static <R> Question<R> of(
            Router router,
            Operation operation,
            LineWriter line,
            Reply.Expect expect,
            Function<Reply, R> read,
            Duration timeout,
            IndexDef.@Nullable Key listed) {
        Request<R> request = new Request<>(operation, null, line, expect, false, 0, read, null);
        return new Question<>(router, request, NOTHING, timeout, listed);
    }

    private static List<String> names(Reply reply) {
        String[] names = new String[reply.rows()];
        Arrays.setAll(names, reply::text);
        return List.of(names);
    }

    private static Map<String, String> pairs(Reply reply) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int row = 0; row < reply.rows(); row++) {
            pairs.putIfAbsent(reply.text(2 * row), reply.text(2 * row + 1));
        }
        return Collections.unmodifiableMap(pairs);
    }

    /** Waits for the answer. */
    R ask() {
        Waiting.refuseOwnThread();
        WaitedCall call = request.waited(prefix, timeout, router.observer());
        call.listed = listed;
        Waiting.submit(router, call);
        return request.read(call);
    }

    /** The future of the answer. */
    CompletableFuture<R> send() {
        Call<R> call = request.call(request.convert(), prefix, timeout, router.observer());
        call.listed = listed;
        router.submit(call);
        return call;
    }
}
