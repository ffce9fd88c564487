package handlersocket2;

import org.jspecify.annotations.Nullable;

/** A call that failed. The classes derived from it say why. */
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
