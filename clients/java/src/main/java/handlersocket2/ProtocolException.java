package handlersocket2;

/** What came is no reply to the request. The connection was closed. */
public final class ProtocolException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param maybeExecuted whether it may have been executed
     */
    public ProtocolException(String message, boolean maybeExecuted) {
        super(Kind.PROTOCOL, message, null, true, maybeExecuted);
    }
}
