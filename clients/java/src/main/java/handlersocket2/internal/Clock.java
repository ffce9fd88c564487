package handlersocket2.internal;

import java.time.Duration;

/** Nanoseconds since the client's classes were loaded, so that moments can be compared and one is never reached. */
public final class Clock {
    /** The deadline of a call that has none. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final long BEGIN = System.nanoTime();
    private static final Duration LONGEST = Duration.ofDays(36500);

    private Clock() {}

    public static long now() {
        return System.nanoTime() - BEGIN;
    }

    /** The moment that comes that much after another one. */
    public static long after(long moment, Duration time) {
        return time.compareTo(LONGEST) >= 0 ? NEVER : moment + time.toNanos();
    }
}
