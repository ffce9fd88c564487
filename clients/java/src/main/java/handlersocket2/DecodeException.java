package handlersocket2;

import org.jspecify.annotations.Nullable;

/** The reply is right, but a value does not fit the type that the caller wants. The connection goes on. */
public final class DecodeException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param cause what it comes from, or null
     */
    public DecodeException(String message, @Nullable Throwable cause) {
        super(Kind.DECODE, message, cause, true, false);
    }

    /**
     * What the error of a call is that the caller's own code has ended while a row was made. Its text may have a value of
     * the row, so it is only the cause.
     *
     * @param problem what the code has thrown
     * @return the problem itself, if it is that a value does not fit; or else an error that has it as its cause
     */
    public static DecodeException of(Throwable problem) {
        return problem instanceof DecodeException own
                ? own
                : new DecodeException("the row could not be made: " + problem.getClass().getName(), problem);
    }
}
