package handlersocket2;

/**
 * Sees what a client does. It is called on whatever thread something happens, so it has to be quick and must not call
 * the client. What it throws is ignored. It never gets values of rows.
 */
public interface ClientListener {

    /**
     * A request has ended, in whatever way.
     *
     * @param event what it was
     */
    default void requestEnded(RequestEvent event) {}

    /**
     * Something happened to a connection.
     *
     * @param event what it was
     */
    default void connectionChanged(ConnectionEvent event) {}
}
