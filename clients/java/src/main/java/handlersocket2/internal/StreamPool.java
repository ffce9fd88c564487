package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.BusyException;
import handlersocket2.ClientBuilder.WhenFull;
import handlersocket2.ClientClosedException;
import handlersocket2.HandlerSocketException;
import handlersocket2.RequestCancelledException;
import handlersocket2.RequestTimeoutException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The connections of the route for iterating. Each is used by one caller, on that caller's thread. One is kept. */
public final class StreamPool {
    static final String SERVER_CLOSED = "the server has closed the connection";

    private final Shared shared;
    private final Settings settings;
    private final Semaphore permits;
    private final Set<Stream> used = new HashSet<>();
    private @Nullable Stream kept;
    /** How many iterations have begun and not ended. */
    private int going;
    /** Those that have begun may go on, but no other one begins. */
    private boolean leaving;
    /** Ends the wait for the next attempt. */
    private final CountDownLatch over = new CountDownLatch(1);

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
        /** A find has its reply, or the beginning of it. */
        boolean answered;
        /** Under the pool's lock. */
        private boolean toldOfEnd;

        Stream(Address address, Connector.Ready ready) {
            this.address = address;
            this.ready = ready;
        }
    }

    /** Why a connection ends, and what that is for who listens. */
    record Ending(boolean lost, boolean violated, String reason) {
        static final Ending UNASKED = new Ending(true, true, "bytes came while no request was in flight");
        static final Ending MOVED = closed("requests go to another address now");
        static final Ending FULL = closed("it can open no more indexes");
        private static final Ending CLIENT_CLOSED = closed("the client is closed");

        static Ending closed(String reason) {
            return new Ending(false, false, reason);
        }
    }

    /** Sends a find whose rows are read one by one. The time-out bounds each wait. */
    public Cursor open(IndexDef index, byte[] prefix, LineWriter line, long timeout) {
        return new Cursor(this, shared, index, prefix, line, timeout);
    }

    /** An iteration begins. It has to be told of its end. */
    synchronized void begun() {
        if (leaving) {
            throw new ClientClosedException("the client is closed", false, false);
        }
        going++;
    }

    synchronized void ended() {
        going--;
    }

    synchronized void leave() {
        leaving = true;
    }

    synchronized boolean goOn() {
        return going > 0;
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
        } catch (Throwable problem) {
            // An Error, too: of a function that gives the password, for example.
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
                    end(stream, Ending.CLIENT_CLOSED);
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

    /** Tries each address once, and once more if another one has become current while it connected. */
    private Stream attempt(long until) throws Connector.Refused {
        while (true) {
            Stream stream = tryEach(until);
            if (stream != null) {
                return stream;
            }
        }
    }

    /** Null if the address that has let it in was left meanwhile. */
    private @Nullable Stream tryEach(long until) throws Connector.Refused {
        Connector.Refused refused = null;
        for (Address address : shared.addresses.order(false)) {
            try {
                long limit = Math.min(until, Clock.after(Clock.now(), settings.connectTimeout));
                Connector.Ready ready = shared.connector.connect(address, false, limit, () -> shared.closed);
                if (!shared.addresses.accepts(address, false)) {
                    ready.close();
                    return null;
                }
                shared.observer.connected(address, Route.STREAM);
                return new Stream(address, ready);
            } catch (Connector.Refused problem) {
                // What ends this iteration alone says nothing about the address.
                refuseClosed();
                refuseInterrupted();
                refuseLate(until);
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
        refuseInterrupted();
        refuseLate(until);
        if (attempt >= settings.connectAttempts || refused.forGood) {
            throw reason;
        }
        try {
            over.await(Math.min(wait, until - Clock.now()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException problem) {
            Thread.currentThread().interrupt();
            throw new RequestCancelledException("the thread was interrupted", false, false);
        }
        refuseClosed();
        refuseLate(until);
    }

    private static void refuseInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new RequestCancelledException("the thread was interrupted", false, false);
        }
    }

    private static void refuseLate(long until) {
        if (until <= Clock.now()) {
            throw new RequestTimeoutException("the call's time is over", false, false);
        }
    }

    private @Nullable Stream takeKept() {
        Stream stream;
        Ending ending;
        synchronized (this) {
            stream = kept;
            kept = null;
            if (stream == null) {
                return null;
            }
            ending = endOfIdle(stream);
            if (ending == null) {
                used.add(stream);
                return stream;
            }
        }
        end(stream, ending);
        return null;
    }

    /** An idle connection has nothing to say. If it has, or has ended, it is of no use. */
    private @Nullable Ending endOfIdle(Stream stream) {
        if (!shared.addresses.accepts(stream.address, false)) {
            return Ending.MOVED;
        }
        try {
            int count = stream.ready.transport().read(ByteBuffer.allocate(1));
            return count == 0 ? null : count > 0 ? Ending.UNASKED : Ending.closed(SERVER_CLOSED);
        } catch (IOException problem) {
            return Ending.closed("the connection broke: " + problem.getMessage());
        }
    }

    /** Gives back: to be used again, if nothing ends it. */
    void release(Stream stream, @Nullable Ending ending) {
        Ending why = ending;
        synchronized (this) {
            used.remove(stream);
            if (why == null && kept != null) {
                why = Ending.closed("another connection is kept");
            } else if (why == null && !shared.closed) {
                kept = stream;
            } else if (why == null) {
                why = Ending.CLIENT_CLOSED;
            }
        }
        try {
            if (why != null) {
                end(stream, why);
            }
        } finally {
            permits.release();
        }
    }

    private void end(Stream stream, Ending ending) {
        stream.ready.close();
        tell(stream, ending);
    }

    private void tell(Stream stream, Ending ending) {
        synchronized (this) {
            if (stream.toldOfEnd) {
                return;
            }
            stream.toldOfEnd = true;
        }
        shared.observer.connectionEnded(
                stream.address, Route.STREAM, ending.lost, ending.violated, ending.reason);
    }

    void close() {
        List<Stream> ended;
        synchronized (this) {
            ended = new ArrayList<>(used);
            for (Stream stream : used) {
                // Its caller closes the selector.
                stream.ready.transport().close();
                stream.ready.selector().wakeup();
            }
            if (kept != null) {
                kept.ready.close();
                ended.add(kept);
                kept = null;
            }
        }
        over.countDown();
        ended.forEach(stream -> tell(stream, Ending.CLIENT_CLOSED));
        // The first that waits is refused, and its permit is the next one's.
        permits.release();
    }
}
