package handlersocket2;

import org.jspecify.annotations.Nullable;

/** The connection was lost before the reply had come. A modification that was sent is never sent again. */
public final class ConnectionLostException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param cause what it comes from, or null
     * @param sent whether the server can have seen the request
     * @param maybeExecuted whether it may have been executed
     */
    public ConnectionLostException(String message, @Nullable Throwable cause, boolean sent, boolean maybeExecuted) {
        super(Kind.LOST, message, cause, sent, maybeExecuted);
    }
}
