package handlersocket2;

import handlersocket2.internal.Call;
import handlersocket2.internal.Clock;
import handlersocket2.internal.IndexDef;
import handlersocket2.internal.LineWriter;
import handlersocket2.internal.Observer;
import handlersocket2.internal.Operation;
import handlersocket2.internal.Reply;
import handlersocket2.internal.WaitedCall;
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

    /** The call of a caller who waits, and reads the reply by {@link #read}. */
    WaitedCall waited(byte[] prefix, Duration timeout, @Nullable Observer observer) {
        long now = Clock.now();
        return new WaitedCall(
                operation, index, prefix, line, expect, isLong, rows, now, deadline(now, timeout), observer);
    }

    /** Waits for the reply, and converts it on this thread, not on the one that reads for all callers. */
    R read(WaitedCall call) {
        call.readAlone();
        Reply reply = Waiting.await(call);
        R result;
        try {
            result = convert.apply(reply);
        } catch (Throwable problem) {
            DecodeException error = DecodeException.of(problem, reply.executed);
            call.converted(reply, error);
            throw error;
        }
        call.converted(reply, null);
        return result;
    }
}
