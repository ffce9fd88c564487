package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Clock;
import handlersocket2.internal.IndexDef;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Observer;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request that is written but not sent: one value that a call, a future or a pipeline runs.
 *
 * @param index null if it has none
 * @param line what stands behind the id; null if the result is known without asking
 * @param rows how many rows it sends, if its reply tells what was done of each
 * @param known the result in that case
 * @param <R> what it gives
 */
record Request<R>(
        Operation operation,
        @Nullable IndexDef index,
        @Nullable LineWriter line,
        Reply.Expect expect,
        boolean isLong,
        int rows,
        Function<Reply, R> convert,
        @Nullable R known) {

    static long deadline(long now, Duration timeout) {
        return timeout.isZero() ? Clock.NEVER : Clock.after(now, timeout);
    }

    /** The call, whose future has what convert gives. */
    <C> Call<C> call(Function<Reply, C> convert, Times times, @Nullable Observer observer) {
        return call(convert, times.within(), times.timeout(), observer);
    }

    /** The same with what stands in front of the id. */
    <C> Call<C> call(Function<Reply, C> convert, byte[] prefix, Duration timeout, @Nullable Observer observer) {
        long now = Clock.now();
        long deadline = deadline(now, timeout);
        return new Call<>(operation, index, prefix, line, expect, isLong, rows, now, deadline, convert, observer);
    }

    /** Converts a reply on the caller's thread. */
    R read(Reply reply) {
        try {
            return convert.apply(reply);
        } catch (Throwable problem) {
            throw DecodeException.of(problem);
        }
    }
}
