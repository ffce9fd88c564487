package handlersocket2;

/**
 * What a client has counted since it was made.
 *
 * @param requests that were given to a connection
 * @param replies that came
 * @param errors calls that failed, in whatever way
 * @param givenUp calls that were cancelled, or whose time was over
 * @param repliesDropped replies for which nobody waited any more
 * @param inFlight requests without a reply, now
 * @param bytesOut that were written
 * @param bytesIn that were read
 * @param writes to sockets
 * @param reads of sockets
 * @param connectionsMade connections that were made
 * @param connectionsLost connections that were lost
 */
public record Counters(
        long requests,
        long replies,
        long errors,
        long givenUp,
        long repliesDropped,
        long inFlight,
        long bytesOut,
        long bytesIn,
        long writes,
        long reads,
        long connectionsMade,
        long connectionsLost) {}
