package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.BusyException;
import handlersocket2.ClientBuilder.WhenFull;
import handlersocket2.ClientClosedException;
import handlersocket2.HandlerSocketException;
import handlersocket2.RequestCancelledException;
import handlersocket2.RequestTimeoutException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The connections of the route for iterating. Each is used by one caller, on that caller's thread. One is kept. */
public final class StreamPool {
    private final Shared shared;
    private final Settings settings;
    private final Semaphore permits;
    private final Set<Stream> used = new HashSet<>();
    private @Nullable Stream kept;

    StreamPool(Shared shared) {
        this.shared = shared;
        this.settings = shared.settings;
        permits = new Semaphore(settings.maxStreams);
    }

    /** A connection of one caller. */
    static final class Stream {
        final Address address;
        final Connector.Ready ready;
        final Map<IndexDef, Integer> ids = new HashMap<>();
        /** The hello that turns texts on was sent. */
        boolean greeted;

        Stream(Address address, Connector.Ready ready) {
            this.address = address;
            this.ready = ready;
        }
    }

    /** Sends a find whose rows are read one by one. The time-out bounds each wait. */
    public Cursor open(IndexDef index, byte[] prefix, LineWriter line, long timeout) {
        return new Cursor(this, shared, index, prefix, line, timeout);
    }

    /** Has to be given back by release(). */
    Stream acquire(long until) {
        refuseClosed();
        try {
            boolean fail = settings.whenFull == WhenFull.FAIL;
            if (!permits.tryAcquire(fail ? 0 : until - Clock.now(), TimeUnit.NANOSECONDS)) {
                throw fail
                        ? new BusyException("as many iterate as may")
                        : new RequestTimeoutException("as many iterate as may, for too long", false, false);
            }
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
            throw new RequestCancelledException("the thread was interrupted", false, false);
        }
        try {
            refuseClosed();
            return connected(until);
        } catch (RuntimeException problem) {
            permits.release();
            throw problem;
        }
    }

    private void refuseClosed() {
        if (shared.closed) {
            throw new ClientClosedException("the client is closed", false, false);
        }
    }

    private Stream connected(long until) {
        Stream stream = takeKept();
        if (stream != null) {
            return stream;
        }
        long delay = settings.backoffMin.toNanos();
        for (int attempt = 1; ; attempt++) {
            try {
                stream = attempt(until);
                synchronized (this) {
                    used.add(stream);
                }
                if (shared.closed) {
                    stream.ready.close();
                }
                refuseClosed();
                return stream;
            } catch (Connector.Refused refused) {
                refuseClosed();
                pause(attempt, delay, until, refused);
                delay = Math.min(delay * 2, settings.backoffMax.toNanos());
            }
        }
    }

    /** Tries each address once. */
    private Stream attempt(long until) throws Connector.Refused {
        Connector.Refused refused = null;
        for (Address address : shared.addresses.order(false)) {
            try {
                long limit = Math.min(until, Clock.after(Clock.now(), settings.connectTimeout));
                Connector.Ready ready = shared.connector.connect(address, false, limit, () -> shared.closed);
                shared.observer.connected(address, Route.STREAM);
                return new Stream(address, ready);
            } catch (Connector.Refused problem) {
                refused = refused != null && refused.forGood ? refused : problem;
                shared.leave(address, false, String.valueOf(problem.reason.getMessage()));
            }
        }
        throw refused;
    }

    private void pause(int attempt, long delay, long until, Connector.Refused refused) {
        HandlerSocketException reason = refused.reason;
        long wait = (long) (delay * ThreadLocalRandom.current().nextDouble());
        shared.observer.attemptFailed(Route.STREAM, reason, java.time.Duration.ofNanos(wait));
        if (Thread.currentThread().isInterrupted()) {
            throw new RequestCancelledException("the thread was interrupted", false, false);
        }
        if (attempt >= settings.connectAttempts || refused.forGood) {
            throw reason;
        }
        if (Clock.now() + wait >= until) {
            throw new RequestTimeoutException("the call's time is over", false, false);
        }
        try {
            TimeUnit.NANOSECONDS.sleep(wait);
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
            throw new RequestCancelledException("the thread was interrupted", false, false);
        }
    }

    private synchronized @Nullable Stream takeKept() {
        Stream stream = kept;
        kept = null;
        if (stream == null) {
            return null;
        }
        // An idle connection has nothing to say. If it has, or has ended, it is of no use.
        boolean silent = false;
        try {
            silent = shared.addresses.accepts(stream.address, false)
                    && stream.ready.transport().read(java.nio.ByteBuffer.allocate(1)) == 0;
        } catch (java.io.IOException problem) {
            // It has ended.
        }
        if (!silent) {
            stream.ready.close();
            return null;
        }
        used.add(stream);
        return stream;
    }

    /** Gives back, to be used again or not. */
    void release(Stream stream, boolean good) {
        boolean close;
        synchronized (this) {
            used.remove(stream);
            close = !good || kept != null || shared.closed;
            if (!close) {
                kept = stream;
            }
        }
        if (close) {
            stream.ready.close();
        }
        permits.release();
    }

    void close() {
        synchronized (this) {
            for (Stream stream : used) {
                // Its caller closes the selector.
                stream.ready.transport().close();
                stream.ready.selector().wakeup();
            }
            if (kept != null) {
                kept.ready.close();
                kept = null;
            }
        }
        // The first that waits is refused, and its permit is the next one's.
        permits.release();
    }
}
