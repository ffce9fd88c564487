package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Router;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests that are sent together and stay neighbours on one connection. It is no transaction: each succeeds or fails
 * alone, and its future says so. If one of them modifies, all of them go to the port for writing, so a find sees what
 * stands before it. A pipeline belongs to one thread at a time.
 *
 * <pre>{@code
 * Pipeline pipeline = client.pipeline();
 * var one = pipeline.on(users).findOne(1);
 * var two = pipeline.on(users).findOne(2);
 * pipeline.run();
 * one.join();
 * }</pre>
 */
public final class Pipeline {
    private final Router router;
    private List<Call<?>> calls = new ArrayList<>();

    Pipeline(Router router) {
        this.router = router;
    }

    /**
     * An index whose calls are collected.
     *
     * @param index an index of the same client
     * @param <T> what its rows are
     * @return a view whose futures end when the pipeline was sent
     * @throws UsageException if the index belongs to another client
     */
    public <T> AsyncIndex<T> on(Index<T> index) {
        // Connections know an index by its number, which each client counts for itself.
        if (!index.isOf(router)) {
            throw new UsageException("the index belongs to another client than the pipeline");
        }
        return index.in(this);
    }

    void add(Call<?> call) {
        calls.add(call);
    }

    private List<Call<?>> take() {
        List<Call<?>> collected = calls;
        calls = new ArrayList<>();
        return collected;
    }

    /** Sends what was collected, and does not wait. The pipeline is empty then. */
    public void send() {
        List<Call<?>> collected = take();
        if (!collected.isEmpty()) {
            router.submit(collected);
        }
    }

    /**
     * Sends what was collected, and waits until each future has its result or its error. It throws neither. An interrupt
     * gives up the calls that have not ended: their futures are cancelled, and the thread stays interrupted. If it comes
     * before this, nothing is sent.
     */
    public void run() {
        Waiting.refuseOwnThread();
        List<Call<?>> collected = take();
        if (!collected.isEmpty()) {
            Waiting.submit(router, collected);
        }
        for (Call<?> call : collected) {
            try {
                Waiting.await(call);
            } catch (RuntimeException problem) {
                // It is that of the future.
            }
        }
    }
}
