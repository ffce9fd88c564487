package handlersocket2;

import java.util.concurrent.CancellationException;

/**
 * The caller gave up: the future was cancelled, or the thread that waited was interrupted. If the request was sent, its
 * reply is dropped when it comes. If the thread was interrupted before its call, nothing was sent.
 *
 * <p>It is no {@link HandlerSocketException}, because a future that was cancelled has to end with a {@link
 * CancellationException}. So who catches that class has to name this one, too: if the request modifies, {@link
 * #maybeExecuted()} may be true.
 */
public final class RequestCancelledException extends CancellationException implements Failure {
    /** Whether the server can have seen the request. */
    private final boolean sent;

    /** Whether it may have been executed. */
    private final boolean maybeExecuted;

    /**
     * Makes one.
     *
     * @param message what happened
     * @param sent whether the server can have seen the request
     * @param maybeExecuted whether it may have been executed
     */
    public RequestCancelledException(String message, boolean sent, boolean maybeExecuted) {
        super(message);
        this.sent = sent;
        this.maybeExecuted = maybeExecuted;
    }

    @Override
    public Kind kind() {
        return Kind.CANCELLED;
    }

    @Override
    public boolean wasSent() {
        return sent;
    }

    @Override
    public boolean maybeExecuted() {
        return maybeExecuted;
    }
}
