package handlersocket2;

import org.jspecify.annotations.Nullable;

/**
 * The reply is right, but a value does not fit the type that the caller wants. The connection goes on. A request that
 * modifies was executed, so {@link #maybeExecuted()} is true of it, and asking again would do it twice.
 */
public final class DecodeException extends HandlerSocketException {

    /**
     * Makes one of a request that modifies nothing, or that is not known yet.
     *
     * @param message what happened
     * @param cause what it comes from, or null
     */
    public DecodeException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    DecodeException(String message, @Nullable Throwable cause, boolean executed) {
        super(Kind.DECODE, message, cause, true, executed);
    }

    /**
     * What the error of a call is that the caller's own code has ended while a row was made. Its text may have a value of
     * the row, so it is only the cause.
     *
     * @param problem what the code has thrown
     * @param executed whether the request, or the group of which it is a part, has modified something
     * @return the problem itself, if it is that a value does not fit; or else an error that has it as its cause
     */
    public static DecodeException of(Throwable problem, boolean executed) {
        if (!(problem instanceof DecodeException own)) {
            return new DecodeException("the row could not be made: " + problem.getClass().getName(), problem, executed);
        }
        if (own.maybeExecuted() == executed) {
            return own;
        }
        // Who has found the value did not know the request.
        DecodeException known = new DecodeException(String.valueOf(own.getMessage()), own.getCause(), executed);
        known.setStackTrace(own.getStackTrace());
        return known;
    }
}
