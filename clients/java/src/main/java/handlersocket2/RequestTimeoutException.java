package handlersocket2;

/** The call's time was over. If the request was sent, its reply is dropped when it comes. */
public final class RequestTimeoutException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param sent whether the server can have seen the request
     * @param maybeExecuted whether it may have been executed
     */
    public RequestTimeoutException(String message, boolean sent, boolean maybeExecuted) {
        super(Kind.TIMEOUT, message, null, sent, maybeExecuted);
    }
}
