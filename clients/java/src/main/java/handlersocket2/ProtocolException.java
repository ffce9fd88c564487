package handlersocket2;

/** What came is no reply to the request, or to the log-in in front of it. The connection was closed. */
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

    /**
     * Makes one of what came while connecting, when no request was sent.
     *
     * @param message what happened
     */
    public ProtocolException(String message) {
        super(Kind.PROTOCOL, message, null, false, false);
    }
}
