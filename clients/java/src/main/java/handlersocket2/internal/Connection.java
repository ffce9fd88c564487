package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientClosedException;
import handlersocket2.ConnectException;
import handlersocket2.ConnectionLostException;
import handlersocket2.ProtocolException;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One socket: its open indexes, the bytes that go out, the slots of requests without a reply, and the thread that reads
 * replies. Callers add requests under the lane's lock, and write them if nobody else does; they never block. What they
 * leave is written by the connection's thread.
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
    /** The connection's thread will look at what was added without being woken. */
    private boolean awake = true;

    private @Nullable Thread thread;

    private boolean retired;
    private boolean dead;
    private @Nullable String condemned;
    private long lastByte = Clock.now();
    private boolean answered;

    // Of the connection's thread.
    private final Incoming in;
    /** Lines that wait for the rest of a group's reply. */
    private int gathered;

    private boolean gathers;
    private boolean readable;
    private final ArrayList<Object> batch = new ArrayList<>();
    private int batchDone;

    Connection(Lane lane, Address address, Connector.Ready ready, Settings settings) {
        this.lane = lane;
        this.address = address;
        this.ready = ready;
        this.settings = settings;
        this.out = new Outgoing(lane.lock, lane.counts, ready.transport());
        this.indexes = new OpenIndexes(out, slots, settings.texts);
        this.in = new Incoming(ready.transport(), settings.maxReplyBytes);
    }

    // What follows is called under the lane's lock.

    boolean fits(Call<?> call) {
        return calls == 0 || calls < settings.maxInFlight && callBytes + call.length <= settings.maxInFlightBytes;
    }

    int inFlight() {
        return calls;
    }

    boolean hasWrites() {
        return modifying > 0;
    }

    void add(Call<?> call, long now) {
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

    private void wake() {
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

    // What follows is called by the connection's thread, without the lock.

    /** Serves until the connection has ended. */
    void serve() {
        thread = Thread.currentThread();
        String reason = "the server has closed the connection";
        boolean violated = false;
        Throwable cause = null;
        try {
            while ((!readable || read()) && prepare()) {
                readable = false;
                ready.selector().select(key -> readable = key.isReadable());
            }
            IOException problem = out.problem();
            if (problem != null) {
                // What was answered before that counts.
                read();
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
            if (out.problem() != null || retired && slots.isEmpty()) {
                return false;
            }
            // Bytes may have been added while the lock was given away.
            boolean again = !out.isWriting() && out.length() > 0;
            awake = again;
            int wanted = SelectionKey.OP_READ | (out.waitsForSocket() ? SelectionKey.OP_WRITE : 0);
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

    /** Reads what is there and answers all complete lines. Whether the connection goes on. */
    private boolean read() throws IOException, Reply.WrongReply {
        do {
            int count = in.read();
            if (count <= 0) {
                return count == 0;
            }
            answerLines(count);
        } while (ready.transport().mayHoldBytes());
        return true;
    }

    private void answerLines(int count) throws Reply.WrongReply {
        int lines = gathered + in.newLines();
        boolean owed = takeSlots(lines, count);
        int begin = 0;
        gathered = lines;
        while (batchDone < batch.size()) {
            int more = moreLines(batch.get(batchDone));
            int end = GroupCall.endOf(in.bytes(), begin, more);
            gathered -= more + 1;
            answer(batch.get(batchDone), begin, end);
            batchDone++;
            begin = end + 1;
        }
        if (gathered > 0 && !gathers) {
            throw new Reply.WrongReply(Greetings.words(in.bytes(), in.length()) + ": it answers no request");
        }
        int left = in.length() - begin;
        if (left > settings.maxReplyBytes) {
            throw new Reply.WrongReply("a reply is longer than max_reply_bytes");
        }
        if (left > 0 && !owed) {
            throw new Reply.WrongReply("bytes came while no request was in flight");
        }
        if (begin > 0) {
            in.drop(begin);
        }
    }

    /** Moves the oldest slots into the batch. Whether others are left. */
    private boolean takeSlots(int lines, int bytes) {
        batch.clear();
        batchDone = 0;
        lane.lock.lock();
        try {
            awake = true;
            lastByte = Clock.now();
            lane.counts.reads++;
            lane.counts.bytesIn += bytes;
            gathers = false;
            for (int left = lines; left > 0; ) {
                Object slot = slots.peek();
                if (moreLines(slot) >= left) {
                    gathers = true;
                    break;
                }
                left -= moreLines(slot) + 1;
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

    private static int moreLines(@Nullable Object slot) {
        return slot instanceof Call<?> call ? call.moreLines() : 0;
    }

    private void answer(Object slot, int begin, int end) throws Reply.WrongReply {
        if (end - begin > settings.maxReplyBytes) {
            throw new Reply.WrongReply("a reply is longer than max_reply_bytes");
        }
        if (slot instanceof Opening opening) {
            Reply reply = parse(Reply.Expect.NOTHING, begin, end);
            lane.lock.lock();
            try {
                opening.reply = reply;
            } finally {
                lane.lock.unlock();
            }
            return;
        }
        if (slot == OpenIndexes.HELLO) {
            // A server that knows no texts answers an error, and its others are as they are.
            parse(Reply.Expect.PAIRS, begin, end);
            return;
        }
        Call<?> call = (Call<?>) slot;
        Reply reply = read(call, begin, end);
        if (!answered) {
            answered = true;
            lane.hasAnswered();
        }
        Opening opening = call.failedOpening();
        if (opening != null) {
            lane.refused(call, opening.reply, address);
        } else if (reply.code != 0) {
            lane.refused(call, reply, address);
        } else if (!call.finish(reply, end - begin + 1)) {
            lane.shared.dropped.increment();
        }
    }

    private Reply read(Call<?> call, int begin, int end) throws Reply.WrongReply {
        try {
            return call.read(in.bytes(), begin, end);
        } catch (Reply.WrongReply problem) {
            throw wrong(problem);
        }
    }

    private Reply parse(Reply.Expect expect, int begin, int end) throws Reply.WrongReply {
        try {
            return Reply.parse(in.bytes(), begin, end, expect, -1);
        } catch (Reply.WrongReply problem) {
            throw wrong(problem);
        }
    }

    /** The first that a port of SQL says is its greeting. */
    private Reply.WrongReply wrong(Reply.WrongReply problem) {
        String words = Greetings.words(in.bytes(), in.length());
        return words.contains("SQL") && !answered ? new Reply.WrongReply(words) : problem;
    }

    /** The connection has ended. Each call in flight is looked at: some are sent again, the others fail. */
    private void finish(String reason, @Nullable Throwable cause, boolean violated) {
        List<Runnable> endings = new ArrayList<>();
        List<Call<?>> again = new ArrayList<>();
        boolean lost = false;
        boolean closed = false;
        lane.lock.lock();
        try {
            closed = dead;
            List<Object> left = new ArrayList<>(batch.subList(batchDone, batch.size()));
            left.addAll(slots);
            lost = !dead && (!left.isEmpty() || violated);
            boolean answers = violated;
            for (Object slot : left) {
                if (slot instanceof Call<?> call) {
                    sort(call, reason, cause, answers, again, endings);
                    answers = false;
                }
            }
            forgetSlots();
            dead = true;
            lane.ended(this, again, endings, answered, lost, reason);
        } finally {
            lane.lock.unlock();
            // Even if no thread can be had for the next connection: nobody may wait for ever.
            ready.close();
            // Who closes the client takes the slots away, so that what was read then seems to answer none.
            String told = closed ? "the client is closed" : reason;
            lane.shared.observer.connectionEnded(address, lane.route, lost, violated && !closed, told);
            endings.forEach(Runnable::run);
        }
    }

    private void sort(
            Call<?> call,
            String reason,
            @Nullable Throwable cause,
            boolean wrongAnswer,
            List<Call<?>> again,
            List<Runnable> endings) {
        boolean sent = out.wasHanded(call.start);
        Opening opening = call.failedOpening();
        if (call.isDone()) {
            lane.shared.dropped.increment();
        } else if (opening != null) {
            endings.add(() -> call.end(call.error(opening.reply)));
        } else if (!sent) {
            if (!answered && ++call.attempts >= settings.connectAttempts) {
                endings.add(() -> call.end(new ConnectException(reason, cause)));
            } else {
                again.add(call);
            }
        } else if (wrongAnswer) {
            endings.add(() -> call.end(new ProtocolException(reason, call.modifies())));
        } else if (!call.modifies() && call.retries < settings.retryReads) {
            call.retries++;
            again.add(call);
        } else {
            endings.add(() -> call.end(new ConnectionLostException(reason, cause, true, call.modifies())));
        }
    }
}
