package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.BusyException;
import handlersocket2.ClientBuilder.WhenFull;
import handlersocket2.ClientClosedException;
import handlersocket2.ReplyException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The place of one connection in a route. It has at most one connection that takes requests, makes it again when a call
 * needs one, and keeps the calls that wait: for the connection, or for their turn. Its lock guards it and its
 * connections.
 */
final class Lane {
    final ReentrantLock lock = new ReentrantLock();
    final Shared shared;
    final Route route;
    final Counts counts = new Counts();
    private final Settings settings;
    private final Router router;
    private final String name;
    private final Condition changed = lock.newCondition();

    private @Nullable Connection open;
    /** The open one, and those that end when nothing is in flight on them. */
    private final List<Connection> alive = new ArrayList<>();

    private final ArrayDeque<Call<?>> waiting = new ArrayDeque<>();
    private boolean attempting;
    private boolean closed;
    /** Attempts that failed in succession. */
    private int failures;

    private long nextAttempt;
    /** No deadline of its calls is earlier. */
    private long nextDeadline = Clock.NEVER;
    /** How many calls it has, for the choice between lanes. */
    private volatile int load;

    Lane(Router router, Shared shared, Route route, int number) {
        this.router = router;
        this.shared = shared;
        this.settings = shared.settings;
        this.route = route;
        this.name = route.word() + "-" + number;
    }

    boolean toWrite() {
        return route == Route.WRITE;
    }

    /** Calls wait for the connection. The lock is held. */
    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    int load() {
        return load;
    }

    /** Takes calls that belong together, in their order. Never blocks for longer than a write to a socket. */
    void submit(List<? extends Call<?>> calls) {
        submit(calls, settings.whenFull == WhenFull.FAIL);
    }

    private void submit(List<? extends Call<?>> calls, boolean failsWhenFull) {
        List<Runnable> endings = null;
        lock.lock();
        try {
            boolean added = false;
            boolean refuse = false;
            for (int i = 0; i < calls.size(); i++) {
                Call<?> call = calls.get(i);
                Connection connection = openFor(call);
                Runnable ending = null;
                if (closed) {
                    ending = () -> call.end(new ClientClosedException("the client is closed", false, false));
                } else if (refuse) {
                    ending = () -> call.end(new BusyException("as much is in flight as may be"));
                } else if (connection != null) {
                    give(connection, call, call.began);
                    added = true;
                } else if (i == 0 && failsWhenFull && isFull()) {
                    refuse = true;
                    i--;
                } else {
                    nextDeadline = Math.min(nextDeadline, call.deadline);
                    waiting.add(call);
                    startAttempt();
                    if (open != null) {
                        open.loneCallers.othersWait();
                    }
                }
                if (ending != null) {
                    endings = endings == null ? new ArrayList<>() : endings;
                    endings.add(ending);
                }
            }
            count();
            if (added && open != null) {
                open.urge();
            }
        } finally {
            lock.unlock();
        }
        if (endings != null) {
            endings.forEach(Runnable::run);
        }
    }

    /** The same for a call alone, which is what most callers have. */
    void submit(Call<?> call) {
        lock.lock();
        try {
            Connection connection = openFor(call);
            if (connection != null) {
                give(connection, call, call.began);
                count();
                connection.urge();
                return;
            }
        } finally {
            lock.unlock();
        }
        submit(List.of(call));
    }

    /** The connection that takes the call now; null if it has to wait. Under the lock. */
    private @Nullable Connection openFor(Call<?> call) {
        if (open != null && open.hasEnded(call.began)) {
            leaveOpen(open);
        }
        return open != null && waiting.isEmpty() && open.fits(call) ? open : null;
    }

    /** It takes no more requests. Under the lock. */
    private void leaveOpen(Connection connection) {
        connection.retire();
        open = null;
        count();
        startAttempt();
    }

    /** A connection can open no more indexes: the next ones are opened on a new one. Under the lock. */
    void leaveFull(Connection connection) {
        if (connection == open) {
            leaveOpen(connection);
        }
    }

    private boolean isFull() {
        return open != null || waiting.size() >= settings.maxInFlight;
    }

    /** Gives a call a slot, unless the caller has given up. */
    private void give(Connection connection, Call<?> call, long now) {
        if (call.take()) {
            nextDeadline = Math.min(nextDeadline, call.deadline);
            connection.add(call, now);
        }
    }

    void count() {
        load = (open == null ? 0 : open.inFlight()) + waiting.size();
    }

    // What follows is called by connections.

    /** Gives waiting calls their turn. Under the lock. */
    void pump(Connection connection) {
        count();
        if (connection != open || waiting.isEmpty()) {
            return;
        }
        long now = Clock.now();
        for (Call<?> call = waiting.peek(); call != null; call = waiting.peek()) {
            if (!call.isDone() && !connection.fits(call)) {
                return;
            }
            waiting.poll();
            if (!call.isDone()) {
                give(connection, call, now);
            }
        }
    }

    /** A connection has answered a caller. Without the lock. */
    void hasAnswered() {
        lock.lock();
        try {
            failures = 0;
        } finally {
            lock.unlock();
        }
    }

    /** A reply was an error: that to the call, or to the P in front of it, perhaps of a full connection. Without the lock. */
    void refused(Call<?> call, Reply reply, boolean byFull, Address address) {
        if (call.isDone()) {
            shared.dropped.increment();
            return;
        }
        if (byFull && !shared.closed && call.leavesFull()) {
            submitAgain(call);
            return;
        }
        ReplyException error = call.error(reply);
        boolean elsewhere = error.retry() == ReplyException.Retry.ELSEWHERE && !error.maybeExecuted();
        if (!elsewhere || !router.tryElsewhere(call, this, address, error)) {
            call.end(error);
        }
    }

    /** A server has seen the call and has not executed it: it gets another slot, or waits for one. Without the lock. */
    void submitAgain(Call<?> call) {
        call.untake(true);
        submit(List.of(call), false);
        router.notice();
    }

    /**
     * A connection has ended. Under the lock.
     *
     * @return whether another address is current now: what was lost without an answer did not serve
     */
    boolean ended(
            Connection connection, List<Call<?>> again, List<Runnable> endings, boolean answered, boolean lost) {
        alive.remove(connection);
        boolean moved = false;
        if (open == connection) {
            open = null;
            if (!answered && (lost || !again.isEmpty())) {
                postpone();
            }
            moved = !answered && lost && shared.addresses.leave(connection.address, toWrite());
        }
        for (int i = again.size() - 1; i >= 0; i--) {
            Call<?> call = again.get(i);
            call.untake(call.isSentAgain());
            if (closed) {
                endings.add(() -> call.end(new ClientClosedException("the client is closed", false, false)));
            } else {
                nextDeadline = Math.min(nextDeadline, call.deadline);
                waiting.addFirst(call);
            }
        }
        count();
        startAttempt();
        if (open != null && !waiting.isEmpty()) {
            // It may sleep with nothing in flight.
            open.loneCallers.othersWait();
            open.wake();
        }
        return moved;
    }

    // Attempts.

    /** Under the lock. */
    private void startAttempt() {
        if (open == null && !attempting && !closed && !waiting.isEmpty()) {
            // The thread waits for the lock, so it sees this.
            new ClientThread(this::attempt, name).start();
            attempting = true;
        }
    }

    /** The next attempt begins after a random time. Under the lock. */
    private Duration postpone() {
        failures++;
        double most = settings.backoffMin.toNanos() * Math.pow(2, failures - 1);
        long delay = (long) (Math.min(most, settings.backoffMax.toNanos()) * ThreadLocalRandom.current().nextDouble());
        nextAttempt = Clock.now() + delay;
        return Duration.ofNanos(delay);
    }

    /** Attempts until there is a connection, and serves it; or until nobody waits. On a thread of its own. */
    private void attempt() {
        try {
            attemptWhileNeeded();
        } catch (RuntimeException | Error problem) {
            // There is no memory, for example. The next call tries again.
            lock.lock();
            try {
                attempting = false;
            } finally {
                lock.unlock();
            }
            throw problem;
        }
    }

    private void attemptWhileNeeded() {
        while (awaitAttempt()) {
            Connector.Refused refused = null;
            for (Address address : shared.addresses.order(toWrite())) {
                try {
                    long until = Clock.after(Clock.now(), settings.connectTimeout);
                    Connector.Ready ready = shared.connector.connect(address, toWrite(), until, () -> shared.closed);
                    if (serve(address, ready)) {
                        return;
                    }
                    refused = null;
                    break;
                } catch (Connector.Refused problem) {
                    refused = refused != null && refused.forGood ? refused : problem;
                    shared.leave(address, toWrite(), String.valueOf(problem.reason.getMessage()));
                }
            }
            if (refused != null) {
                failed(refused);
            }
        }
    }

    /** Waits for the moment of the next attempt. False if it is not needed. */
    private boolean awaitAttempt() {
        lock.lock();
        try {
            while (true) {
                waiting.removeIf(Call::isDone);
                if (closed || waiting.isEmpty()) {
                    attempting = false;
                    count();
                    return false;
                }
                long left = nextAttempt - Clock.now();
                if (left <= 0) {
                    return true;
                }
                changed.awaitNanos(left);
            }
        } catch (InterruptedException problem) {
            attempting = false;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Makes the connection the open one, and serves it to its end; false if another address is current meanwhile. */
    private boolean serve(Address address, Connector.Ready ready) {
        Connection connection = new Connection(this, address, ready, settings);
        lock.lock();
        try {
            if (closed || !shared.addresses.accepts(address, toWrite())) {
                ready.close();
                return false;
            }
            open = connection;
            alive.add(connection);
            attempting = false;
        } finally {
            lock.unlock();
        }
        try {
            shared.observer.connected(address, route);
        } catch (RuntimeException | Error problem) {
            // There is no memory to tell of it, for example. Its calls wait for their replies all the same.
        }
        connection.serve();
        return true;
    }

    private void failed(Connector.Refused refused) {
        List<Call<?>> over = new ArrayList<>();
        Duration delay;
        lock.lock();
        try {
            delay = postpone();
            waiting.removeIf(
                    call -> (++call.attempts >= settings.connectAttempts || refused.forGood) && over.add(call));
            count();
        } finally {
            lock.unlock();
        }
        shared.observer.attemptFailed(route, refused.reason, delay);
        over.forEach(call -> call.end(refused.copy()));
    }

    // What follows is called by the router, without the lock.

    /** Another address is current. */
    void move() {
        lock.lock();
        try {
            if (open != null && !shared.addresses.accepts(open.address, toWrite())) {
                leaveOpen(open);
            }
        } finally {
            lock.unlock();
        }
    }

    boolean hasWrites() {
        lock.lock();
        try {
            for (Connection connection : alive) {
                if (connection.hasWrites()) {
                    return true;
                }
            }
            for (Call<?> call : waiting) {
                if (call.modifies() && !call.isDone()) {
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Collects calls whose time is over, and gives up connections that are silent. Whether it has any calls. */
    boolean sweep(long now, List<Call<?>> expired) {
        lock.lock();
        try {
            if (nextDeadline <= now) {
                nextDeadline = Clock.NEVER;
                for (Connection connection : alive) {
                    nextDeadline = Math.min(nextDeadline, connection.sweep(now, expired));
                }
                for (Call<?> call : waiting) {
                    if (call.deadline <= now) {
                        expired.add(call);
                    } else {
                        nextDeadline = Math.min(nextDeadline, call.deadline);
                    }
                }
                waiting.removeIf(call -> call.deadline <= now || call.isDone());
            }
            boolean busy = !waiting.isEmpty();
            for (Connection connection : alive) {
                busy |= connection.inFlight() > 0;
                if (connection.isSilent(now)) {
                    connection.condemn(settings.silence());
                }
            }
            count();
            return busy;
        } finally {
            lock.unlock();
        }
    }

    /** Adds what it has counted, and how many calls are in flight. */
    int addTo(Counts sum) {
        lock.lock();
        try {
            sum.requests += counts.requests;
            sum.replies += counts.replies;
            sum.bytesOut += counts.bytesOut;
            sum.bytesIn += counts.bytesIn;
            sum.writes += counts.writes;
            sum.reads += counts.reads;
            int inFlight = 0;
            for (Connection connection : alive) {
                inFlight += connection.inFlight();
            }
            return inFlight;
        } finally {
            lock.unlock();
        }
    }

    /** Ends everything. */
    void close() {
        List<Runnable> endings = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            for (Call<?> call : waiting) {
                endings.add(() -> call.end(new ClientClosedException("the client is closed", false, false)));
            }
            waiting.clear();
            alive.forEach(connection -> connection.close(endings));
            open = null;
            count();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        endings.forEach(Runnable::run);
    }
}
