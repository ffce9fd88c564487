package handlersocket2;

import org.jspecify.annotations.Nullable;

/** No connection could be had. Nothing was sent. */
public final class ConnectException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     * @param cause what it comes from, or null
     */
    public ConnectException(String message, @Nullable Throwable cause) {
        super(Kind.CONNECT, message, cause, false, false);
    }
}
