package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Clock;
import handlersocket2.internal.GroupCall;
import handlersocket2.internal.Observer;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Router;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are done as a whole or not at all, by any indexes of the client. Nobody sees one of them without the
 * others. A group goes over the connection for writes in one piece, counts as one request, and is never sent twice. It
 * belongs to one thread at a time.
 *
 * <pre>{@code
 * Group group = client.group();
 * group.some(accounts).decrement(Find.eq(1), Map.of("balance", 5));
 * group.some(accounts).increment(Find.eq(2), Map.of("balance", 5));
 * group.run();
 * }</pre>
 */
public final class Group {
    /** How many requests a group may have. */
    public static final int MAX_REQUESTS = 4096;

    private static final Set<Operation> ON_ROWS =
            EnumSet.of(Operation.UPDATE, Operation.DELETE, Operation.INCREMENT, Operation.DECREMENT, Operation.LOCK);

    private final Router router;
    private Times times;
    private List<GroupCall.Line> lines = new ArrayList<>();
    private int places;

    Group(Router router) {
        this.router = router;
        this.times = Times.of(router.settings().timeout);
    }

    /**
     * Gives the group a time-out of its own. Those of its indexes do not matter.
     *
     * @param timeout for the whole; zero is none
     * @return this
     */
    public Group timeout(Duration timeout) {
        times = times.withTimeout(timeout);
        return this;
    }

    /**
     * Gives the server a time for the whole: it ends a group that takes longer, and answers {@code max_request_time} to
     * all of it. Then nothing was done. Those of its indexes do not matter.
     *
     * @param time more than nothing; it is rounded to milliseconds
     * @return this
     */
    public Group within(Duration time) {
        times = times.within(time);
        return this;
    }

    /**
     * An index whose calls are collected.
     *
     * @param index the index
     * @param <T> what its rows are
     * @return a view whose futures end when the group was answered
     */
    public <T> AsyncIndex<T> on(Index<T> index) {
        return on(index, "");
    }

    /**
     * The same for modifications that must meet a row: else nothing of the group is done, and {@link
     * ReplyException#isUnmet()}.
     *
     * @param index the index
     * @param <T> what its rows are
     * @return a view whose futures end when the group was answered
     */
    public <T> AsyncIndex<T> some(Index<T> index) {
        return on(index, "some\t");
    }

    /**
     * The same for modifications that must meet no row.
     *
     * @param index the index
     * @param <T> what its rows are
     * @return a view whose futures end when the group was answered
     */
    public <T> AsyncIndex<T> none(Index<T> index) {
        return on(index, "none\t");
    }

    private <T> AsyncIndex<T> on(Index<T> index, String meets) {
        if (!index.isOf(router)) {
            throw new UsageException("the index belongs to another client than the group");
        }
        return index.in(new Collector(meets));
    }

    private final class Collector implements AsyncIndex.Sender {
        private final String meets;

        Collector(String meets) {
            this.meets = meets;
        }

        @Override
        public void send(Call<?> call) {
            if (!meets.isEmpty() && !ON_ROWS.contains(call.operation)) {
                throw new UsageException("some and none are for modifications of rows that are there");
            }
            count();
            lines.add(new GroupCall.Line(places, meets, call));
        }

        @Override
        public void nothing() {
            if (!meets.isEmpty()) {
                throw new UsageException("some and none are not for a request that sends nothing");
            }
            count();
        }

        private void count() {
            if (places == MAX_REQUESTS) {
                throw new UsageException("a group has at most " + MAX_REQUESTS + " requests");
            }
            places++;
        }

        @Override
        public @Nullable Observer observer(Observer usual) {
            return null;
        }
    }

    /**
     * Sends what was collected, and does not wait. The group is empty then and may be used again.
     *
     * @return the future of its end: if a request fails, nothing was done, and the error is that of this request, which
     *     {@link ReplyException#line()} names
     */
    public CompletableFuture<Void> send() {
        GroupCall call = take();
        if (call == null) {
            return CompletableFuture.completedFuture(null);
        }
        router.submit(call);
        return call;
    }

    /** What was collected; null if that is nothing to send. */
    private @Nullable GroupCall take() {
        List<GroupCall.Line> collected = lines;
        lines = new ArrayList<>();
        places = 0;
        if (collected.isEmpty()) {
            return null;
        }
        if (!router.canWrite()) {
            UsageException problem = new UsageException("a group needs a port for writing");
            GroupCall.fail(collected, problem);
            throw problem;
        }
        long now = Clock.now();
        return new GroupCall(times.within(), collected, now, times.deadline(now), router.observer());
    }

    /**
     * Sends what was collected, and waits for its end. Without an error all of it was done, and each future has its
     * result. If a request fails, nothing was done: the error is that of this request, which {@link
     * ReplyException#line()} names. If it is not known whether the group was done, {@link Failure#maybeExecuted()}.
     */
    public void run() {
        Waiting.refuseOwnThread();
        GroupCall call = take();
        if (call != null) {
            Waiting.submit(router, call);
            Waiting.await(call);
        }
    }
}
