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
}
