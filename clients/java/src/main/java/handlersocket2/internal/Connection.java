package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientClosedException;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One socket: its open indexes, the bytes that go out, the slots of requests without a reply, and the thread that serves
 * it. {@link Replies} has the bytes that come in. Callers add requests under the lane's lock, and write them if nobody
 * else does; they never block. What they leave is written by the connection's thread.
 */
final class Connection {
    /** So many bytes are written at once. Fewer wait for the end of what the connection's thread does. */
    private static final int FLUSH_AT = 1024;
    /**
     * As measured: so many calls are written at once, too, if they are one of so many parts of what is in flight. If all
     * that were answered together also asked together, client and server would work in turns. Others than the
     * connection's thread write later, for they do not know how many will follow.
     */
    private static final int LEAST_OF_CALLBACKS = 2;

    private static final int PARTS_OF_CALLBACKS = 4;
    private static final int LEAST_OF_OTHERS = 4;
    private static final int PARTS_OF_OTHERS = 2;

    final Address address;
    final Lane lane;
    private final Connector.Ready ready;
    private final Settings settings;

    // Under the lane's lock.
    private final Outgoing out;
    /** A {@link Call}, or what {@link OpenIndexes} has put in front of one; the oldest first. */
    private final ArrayDeque<Object> slots = new ArrayDeque<>();

    private final OpenIndexes indexes;

    private int calls;
    /** Those of them that wait to be written. */
    private int waiting;

    private int modifying;
    private long callBytes;
    /** The connection's thread will look at what was added without being woken. It looks at this without the lock. */
    private volatile boolean awake = true;

    private @Nullable Thread thread;

    private boolean retired;
    private boolean dead;
    private @Nullable String condemned;
    private long lastByte = Clock.now();

    private final Replies replies;
    final LoneCallers loneCallers;

    /** Of who reads: lines are left that are the beginning of a group's reply. */
    boolean gathers;

    // Of the connection's thread.
    private boolean readable;
    private boolean looks;
    /** How long it sleeps at most, in ms; 0: until there is something to do. */
    private long patience;

    Connection(Lane lane, Address address, Connector.Ready ready, Settings settings) {
        this.lane = lane;
        this.address = address;
        this.ready = ready;
        this.settings = settings;
        this.out = new Outgoing(lane.lock, lane.counts, ready.transport());
        this.indexes = new OpenIndexes(out, slots, settings.texts);
        this.replies = new Replies(this, ready.transport(), settings.maxReplyBytes);
        this.loneCallers = new LoneCallers(this, replies, new Awake(settings.stayAwake));
    }

    // What follows is called under the lane's lock.

    boolean fits(Call<?> call) {
        return calls == 0 || calls < settings.maxInFlight && callBytes + call.length <= settings.maxInFlightBytes;
    }

    int inFlight() {
        return calls;
    }

    /** Whether the server has ended it, and its own thread does not know that yet. */
    boolean hasEnded(long now) {
        return calls == 0 && loneCallers.hasEnded(now - lastByte);
    }

    boolean hasWrites() {
        return modifying > 0;
    }

    void add(Call<?> call, long now) {
        loneCallers.added(call, calls + 1, now - lastByte);
        if (calls == 0) {
            lastByte = now;
        }
        call.connection = this;
        indexes.greet();
        if (call instanceof GroupCall group) {
            List<Opening> opened = new ArrayList<>(group.lines.size());
            group.lines.forEach(line -> opened.add(indexes.open(line.call(), line.call().index)));
            call.start = out.added();
            group.putInto(out, opened);
        } else if (call.index != null) {
            Opening opening = indexes.open(call, call.index);
            call.start = out.added();
            out.put(call.prefix, opening.id, call.line, call.lineLength);
        } else {
            call.start = out.added();
            out.put(call.line, call.lineLength);
        }
        slots.add(call);
        calls++;
        waiting++;
        callBytes += call.length;
        if (call.modifies()) {
            modifying++;
        }
        lane.counts.requests++;
    }

    /** Something was added: sees to it that it is written. A call that is alone does not wait for another thread. */
    void urge() {
        if (out.isWriting()) {
            return;
        }
        boolean own = Thread.currentThread() == thread;
        if (out.length() >= FLUSH_AT || calls == 1 && !own || muchWaits(own)) {
            flush();
        } else if (!own) {
            wake();
        }
    }

    private boolean muchWaits(boolean own) {
        int least = own ? LEAST_OF_CALLBACKS : LEAST_OF_OTHERS;
        int parts = own ? PARTS_OF_CALLBACKS : PARTS_OF_OTHERS;
        return waiting >= least && waiting * parts >= calls;
    }

    private void flush() {
        if (!dead && !out.flush()) {
            wake();
        }
        if (out.length() == 0) {
            waiting = 0;
        }
    }

    void wake() {
        if (!awake) {
            awake = true;
            ready.selector().wakeup();
        }
    }

    /** Another address is current: it ends when nothing is in flight on it. */
    void retire() {
        retired = true;
        wake();
    }

    /** It is given up, because the server is silent. Its own thread ends it. */
    void condemn(String reason) {
        if (condemned == null) {
            condemned = reason;
            awake = false;
            wake();
        }
    }

    /** Looks at the calls: adds those whose time is over, and returns the next deadline. */
    long sweep(long now, List<Call<?>> expired) {
        long next = Clock.NEVER;
        for (Object slot : slots) {
            if (slot instanceof Call<?> call && !call.isDone()) {
                if (call.deadline <= now) {
                    expired.add(call);
                } else {
                    next = Math.min(next, call.deadline);
                }
            }
        }
        return next;
    }

    boolean isSilent(long now) {
        return calls > 0 && now >= Clock.after(lastByte, settings.deadAfter);
    }

    /** The client is closed: adds the calls that are left to the list, each with its error. */
    void close(List<Runnable> endings) {
        dead = true;
        for (Object slot : slots) {
            if (slot instanceof Call<?> call) {
                boolean sent = out.wasHanded(call.start);
                endings.add(() -> call.end(new ClientClosedException("the client is closed", sent, sent && call.modifies())));
            }
        }
        forgetSlots();
        endings.add(ready.transport()::close);
        ready.selector().wakeup();
    }

    private void forgetSlots() {
        slots.clear();
        calls = 0;
        modifying = 0;
        callBytes = 0;
    }

    /** For {@link LoneCallers}: whether nothing else is in flight on it. */
    boolean isAlone(Call<?> call) {
        return !dead && calls == 1 && slots.peek() == call;
    }

    /** For {@link LoneCallers}: whether a socket without bytes means that there are none. */
    boolean letsCallersRead() {
        return !ready.transport().mayHoldBytes();
    }

    /** For {@link LoneCallers}: whether its own thread has something to do, now that a caller has read. */
    boolean hasMore() {
        return calls > 0 || retired || replies.wereLeft() || lane.hasWaiting();
    }

    // What follows is called by who reads, without the lock: see {@link Replies}.

    /** Takes the slot of this call if it is alone, as takeSlots(). False, too, if another has the lock. */
    boolean takeSlotAlone(WaitedCall call, int lines, int bytes, List<Object> batch) {
        if (!lane.lock.tryLock()) {
            return false;
        }
        try {
            boolean isAlone = slots.peek() == call && slots.size() == 1;
            if (isAlone) {
                takeSlots(lines, bytes, batch);
            }
            return isAlone;
        } finally {
            lane.lock.unlock();
        }
    }

    /** Moves the oldest slots, which these lines answer, into the batch. Whether others are left. */
    boolean takeSlots(int lines, int bytes, List<Object> batch) {
        lane.lock.lock();
        try {
            // A caller that reads does not look at what others add.
            awake |= Thread.currentThread() == thread;
            lastByte = Clock.now();
            lane.counts.reads++;
            lane.counts.bytesIn += bytes;
            gathers = false;
            for (int left = lines; left > 0; ) {
                Object slot = slots.peek();
                if (Replies.moreLines(slot) >= left) {
                    gathers = true;
                    break;
                }
                left -= Replies.moreLines(slot) + 1;
                if (slot instanceof Call<?> call) {
                    if (!out.wasHanded(call.start)) {
                        break;
                    }
                    calls--;
                    callBytes -= call.length;
                    if (call.modifies()) {
                        modifying--;
                    }
                    lane.counts.replies++;
                } else if (slot == null) {
                    break;
                }
                batch.add(slots.poll());
            }
            return !slots.isEmpty();
        } finally {
            lane.lock.unlock();
        }
    }

    /** A P has its reply, which may be an error. */
    void opened(Opening opening, Reply reply) {
        lane.lock.lock();
        try {
            if (indexes.isFull(opening, reply)) {
                lane.leaveFull(this);
            }
        } finally {
            lane.lock.unlock();
        }
    }

    /** A call has its reply, which may be an error. */
    void give(Call<?> call, Reply reply, int bytesIn) {
        Opening opening = call.failedOpening();
        if (opening != null) {
            lane.refused(call, opening.reply, opening.full, address);
        } else if (reply.code != 0) {
            lane.refused(call, reply, false, address);
        } else if (!call.finish(reply, bytesIn)) {
            lane.shared.dropped.increment();
        }
    }

    // What follows is called by the connection's thread, without the lock.

    /** Serves until the connection has ended. */
    void serve() {
        thread = Thread.currentThread();
        String reason = "the server has closed the connection";
        boolean violated = false;
        Throwable cause = null;
        try {
            while (readNow() && prepare()) {
                readable = false;
                if (!looks || !look()) {
                    ready.selector().select(key -> readable = key.isReadable(), patience);
                }
            }
            IOException problem = out.problem();
            if (problem != null) {
                // What was answered before that counts.
                replies.reading.lock();
                replies.read();
                throw problem;
            }
        } catch (IOException problem) {
            reason = "the connection broke: " + problem.getMessage();
            cause = problem;
        } catch (Reply.WrongReply problem) {
            reason = problem.getMessage();
            violated = true;
        } catch (CancelledKeyException closed) {
            reason = "the client is closed";
        } catch (Throwable bug) {
            // Whatever it is, nobody may wait for ever.
            reason = "the client has a bug: " + bug;
            cause = bug;
        }
        finish(reason, cause, violated);
    }

    /** Reads if there is something to read and no caller reads. Whether the connection goes on. */
    private boolean readNow() throws IOException, Reply.WrongReply {
        if (!readable && !replies.wereLeft() || !replies.reading.tryLock()) {
            return true;
        }
        try {
            return replies.read();
        } finally {
            replies.reading.unlock();
        }
    }

    /** Looks for the reply to a call that is alone, until somebody else needs this thread. Whether that is not to sleep. */
    private boolean look() throws IOException, Reply.WrongReply {
        if (!replies.reading.tryLock()) {
            return false;
        }
        boolean found = false;
        try {
            found = !replies.wereLeft() && replies.lookAndRead(() -> awake);
        } finally {
            replies.reading.unlock();
        }
        lane.lock.lock();
        try {
            if (found || !awake) {
                loneCallers.staying.looked(found);
            }
        } finally {
            lane.lock.unlock();
        }
        // TLS may have had something to say that the socket did not take.
        return found || ready.transport().holdsUnwritten();
    }

    /** Whether the connection goes on. */
    private boolean prepare() throws IOException {
        lane.lock.lock();
        try {
            awake = true;
            if (dead) {
                return false;
            }
            if (condemned != null) {
                throw new IOException(condemned);
            }
            lane.pump(this);
            out.flushRest();
            if (!out.isWriting() && out.length() > 0) {
                flush();
            }
            if (out.problem() != null || retired && slots.isEmpty() && !replies.wereLeft()) {
                return false;
            }
            // While the lock was given away, bytes may have been added, and a caller may have read the only reply for
            // which others wait. And one may have left something since this thread has read.
            // Who left it and still reads wakes this thread at its end.
            boolean left = replies.wereLeft() && !replies.reading.isLocked();
            boolean again = !out.isWriting() && out.length() > 0 || calls == 0 && lane.hasWaiting() || left;
            awake = again;
            patience = loneCallers.patience();
            boolean othersRead = patience > 0;
            looks = !again && !othersRead && calls == 1 && loneCallers.staying.pays();
            int wanted = (othersRead ? 0 : SelectionKey.OP_READ) | (out.waitsForSocket() ? SelectionKey.OP_WRITE : 0);
            if (ready.key().interestOps() != wanted) {
                ready.key().interestOps(wanted);
            }
            if (again) {
                ready.selector().wakeup();
            }
            return true;
        } finally {
            lane.lock.unlock();
        }
    }

    /** The connection has ended. Each call in flight is looked at: some are sent again, the others fail. */
    private void finish(String reason, @Nullable Throwable cause, boolean violated) {
        boolean lost = false;
        boolean closed = false;
        boolean moved = false;
        // A caller that reads has a moment left.
        replies.reading.lock();
        // One that has never answered may be none of HandlerSocket.
        String words = replies.hasAnswered() ? reason : address + ": " + reason + (violated ? "" : replies.hint());
        Endings endings = new Endings(settings, words, cause);
        lane.lock.lock();
        try {
            closed = dead;
            List<Object> left = replies.takeUnanswered();
            left.addAll(slots);
            lost = !dead && (!left.isEmpty() || violated);
            boolean answers = violated;
            for (Object slot : left) {
                if (slot instanceof Call<?> call && call.isDone()) {
                    lane.shared.dropped.increment();
                    answers = false;
                } else if (slot instanceof Call<?> call) {
                    endings.add(call, out.wasHanded(call.start), answers, replies.hasAnswered());
                    answers = false;
                }
            }
            forgetSlots();
            dead = true;
            moved = lane.ended(this, endings.again, endings.runs, replies.hasAnswered(), lost);
        } finally {
            lane.lock.unlock();
            // Even if no thread can be had for the next connection: nobody may wait for ever.
            ready.close();
            // Who closes the client takes the slots away, so that what was read then seems to answer none.
            String told = closed ? "the client is closed" : words;
            lane.shared.observer.connectionEnded(address, lane.route, lost, violated && !closed, told);
            try {
                if (moved) {
                    lane.shared.moved(address, lane.toWrite(), words);
                }
            } finally {
                endings.runs.forEach(Runnable::run);
            }
        }
    }
}
