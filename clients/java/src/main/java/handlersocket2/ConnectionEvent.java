package handlersocket2;

import java.time.Duration;
import java.util.Optional;

/**
 * Something happened to a connection.
 *
 * @param what what it was
 * @param route read, write, long or stream; empty for a fail-over
 * @param address the server, if it is one
 * @param reason why; empty if there is nothing to say
 * @param delay after a failed attempt: until the next one
 */
public record ConnectionEvent(
        What what, String route, Optional<Address> address, String reason, Optional<Duration> delay) {

    /** What happened. */
    public enum What {
        /** It was made, and has logged in. */
        CONNECTED,
        /** It ended while nothing was in flight. */
        CLOSED,
        /** It was lost while requests were in flight. */
        LOST,
        /** What came was no reply. */
        PROTOCOL_ERROR,
        /** An attempt to make one has failed. */
        ATTEMPT_FAILED,
        /** This address is current no more. */
        FAILED_OVER
    }
}
