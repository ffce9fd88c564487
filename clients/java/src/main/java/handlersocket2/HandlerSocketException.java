package handlersocket2;

import org.jspecify.annotations.Nullable;

/**
 * A call that failed. The classes derived from it say why.
 *
 * <p>Two exceptions of this client are not derived from it, so who catches this class has to name them, too. A call that
 * was given up ends with a {@link RequestCancelledException}, which is a {@link
 * java.util.concurrent.CancellationException}, as Java wants it of a future that was cancelled. If it modifies,
 * it may have been executed. A call that cannot be meant ends with a {@link UsageException}, which is an {@link
 * IllegalArgumentException}; of it nothing was sent. {@link Failure} is what all of them have in common:
 *
 * <pre>{@code
 * } catch (HandlerSocketException | RequestCancelledException problem) {
 *     boolean again = problem.isSafeToRetry();
 * }
 * }</pre>
 */
public abstract class HandlerSocketException extends RuntimeException implements Failure {
    /** Why. */
    private final Kind kind;

    /** Whether the server can have seen the request. */
    private final boolean sent;

    /** Whether it may have been executed. */
    private final boolean maybeExecuted;

    HandlerSocketException(
            Kind kind, String message, @Nullable Throwable cause, boolean sent, boolean maybeExecuted) {
        super(message, cause);
        this.kind = kind;
        this.sent = sent;
        this.maybeExecuted = maybeExecuted;
    }

    @Override
    public final Kind kind() {
        return kind;
    }

    @Override
    public final boolean wasSent() {
        return sent;
    }

    @Override
    public final boolean maybeExecuted() {
        return maybeExecuted;
    }
}
