package handlersocket2;

/**
 * What every error of this client says, so that a program can decide whether to ask again. Each exception that a call
 * throws, or with which a future ends, implements it: most are a {@link HandlerSocketException}, one that was given up
 * is a {@link RequestCancelledException}, and a call that cannot be meant is a {@link UsageException}.
 */
public interface Failure {

    /** Why a call failed. */
    enum Kind {
        /** The call cannot be meant; nothing was sent. */
        USAGE,
        /** The server answered an error: a {@link ReplyException}. */
        REPLY,
        /** The connection was lost. */
        LOST,
        /** No connection could be had. */
        CONNECT,
        /** The server refused the log-in: a {@link ReplyException}, too. */
        LOG_IN,
        /** The call's time was over. */
        TIMEOUT,
        /** The caller gave up. */
        CANCELLED,
        /** The bound of what may be in flight was reached. */
        BUSY,
        /** What was answered is no reply to the request. */
        PROTOCOL,
        /** The client is closed. */
        CLOSED,
        /** The reply is right, but a value does not fit the type that the caller wants. What modifies was executed. */
        DECODE
    }

    /**
     * Why the call failed.
     *
     * @return the kind
     */
    Kind kind();

    /**
     * Whether the server can have seen the request.
     *
     * @return false: nothing of it was handed to the operating system
     */
    boolean wasSent();

    /**
     * Whether the request modifies rows, was sent, and it is not known whether it was executed. A {@link DecodeException}
     * says it, too, of a request that modifies: it was executed, and only its reply could not be read.
     *
     * @return true: asking again may do it twice
     */
    boolean maybeExecuted();

    /**
     * Whether the same call again cannot do it twice.
     *
     * @return the opposite of {@link #maybeExecuted()}
     */
    default boolean isSafeToRetry() {
        return !maybeExecuted();
    }
}
