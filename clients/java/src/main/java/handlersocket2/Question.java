package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Hello;
import handlersocket2.internal.IndexDef;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.Router;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What is asked about the server and its tables, and not for rows.
 *
 * @param prefix what stands in front of the index's id
 * @param <R> what it gives
 */
record Question<R>(Router router, Request<R> request, byte[] prefix, Duration timeout) {
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
                timeout);
    }

    static Question<Map<String, String>> hello(Router router, Duration timeout) {
        return new Question<>(
                router,
                new Request<>(
                        Operation.HELLO, null, Hello.line(router.settings()), Reply.Expect.PAIRS, false, 0,
                        Question::pairs, null),
                NOTHING,
                timeout);
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
        Call<Reply> call = request.call(reply -> reply, prefix, timeout, router.observer());
        router.submit(call);
        return request.read(Waiting.await(call));
    }

    /** The future of the answer. */
    CompletableFuture<R> send() {
        Call<R> call = request.call(request.convert(), prefix, timeout, router.observer());
        router.submit(call);
        return call;
    }
}
