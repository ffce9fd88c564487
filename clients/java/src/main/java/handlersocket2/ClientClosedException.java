package handlersocket2;

/** The client is closed, or was closed while the call waited. */
public final class ClientClosedException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param sent whether the server can have seen the request
     * @param maybeExecuted whether it may have been executed
     */
    public ClientClosedException(String message, boolean sent, boolean maybeExecuted) {
        super(Kind.CLOSED, message, null, sent, maybeExecuted);
    }
}
