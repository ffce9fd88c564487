package handlersocket2;

/** As much is in flight as may be, and the client was told to fail then. Nothing was sent. */
public final class BusyException extends HandlerSocketException {

    /**
     * Makes one.
     *
     * @param message what happened
     */
    public BusyException(String message) {
        super(Kind.BUSY, message, null, false, false);
    }
}
