package handlersocket2;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * How long a call may take.
 *
 * @param timeout for the caller; zero is for ever
 * @param within what stands in front of the request to tell the server its time; empty if it has none
 */
record Times(Duration timeout, byte[] within) {
    private static final byte[] NONE = {};
    private static final long MOST_MILLIS = 1L << 31;

    /** The client's time-out, and none for the server. */
    static Times of(Duration timeout) {
        return new Times(timeout, NONE);
    }

    Times withTimeout(Duration other) {
        if (other.isNegative()) {
            throw new UsageException("a time-out is not negative");
        }
        return new Times(other, within);
    }

    /** Rounded to milliseconds, and at least one. */
    Times within(Duration server) {
        boolean fits = !server.isNegative() && !server.isZero() && server.toSeconds() <= MOST_MILLIS / 1000;
        long millis = fits ? Math.max(1, server.plusNanos(500_000).toMillis()) : 0;
        if (millis == 0 || millis > MOST_MILLIS) {
            throw new UsageException("the time for the server is more than nothing and at most 2147483648 ms");
        }
        return new Times(timeout, ("within\t" + millis + "\t").getBytes(StandardCharsets.ISO_8859_1));
    }

    long deadline(long now) {
        return Request.deadline(now, timeout);
    }
}
