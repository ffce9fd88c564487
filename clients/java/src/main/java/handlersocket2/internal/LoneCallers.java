package handlersocket2.internal;

import java.util.function.BooleanSupplier;

/**
 * The callers of a connection that are alone: each waits for the only reply. While that pays, they read it themselves,
 * one after the other, and the connection's thread does not wait for bytes. Its state is guarded by the lane's lock.
 */
final class LoneCallers {
    /** When no caller has read for so long, the connection's thread waits for bytes again. So it sees that they end. */
    private static final long PATIENCE_MS = 10;
    /** The same when callers have to stop and one still reads. It wakes the thread at its end, if it is not held up. */
    private static final long PATIENCE_TO_STOP_MS = 1;
    /** So many ns after a reply it is seldom that its connection has ended. To look costs a tenth of a call. */
    private static final long UNWATCHED_AT_MOST = 10_000;

    final Awake staying;
    private final Connection connection;
    private final Replies replies;
    /** The callers read. One that looks ends when this is over; it looks at this without the lock. */
    private volatile boolean read;
    /** One has done so since the connection's thread has looked. */
    private boolean haveRead;

    LoneCallers(Connection connection, Replies replies, Awake staying) {
        this.connection = connection;
        this.replies = replies;
        this.staying = staying;
    }

    // Under the lock.

    /** A call was added; so many are in flight, and for so many ns nothing has come. */
    void added(Call<?> call, int inFlight, long pause) {
        if (read && !(call instanceof WaitedCall && !call.isSentAgain())) {
            // Nobody comes and reads for it.
            stop();
        }
        staying.added(inFlight, pause);
    }

    /** A call waits for its turn. The connection's thread gives it that. */
    void othersWait() {
        if (read) {
            stop();
        }
    }

    /**
     * Asked before a call is added while none is in flight, so many ns after the last reply. While callers read, nobody
     * else looks at the socket.
     *
     * @return whether the server has ended the connection, or has sent what answers nothing
     */
    boolean hasEnded(long pause) {
        if (replies.wereLeft()) {
            // Nothing is in flight, so it is no reply.
            return true;
        }
        if (!read || pause < UNWATCHED_AT_MOST || !replies.reading.tryLock()) {
            return false;
        }
        try {
            return replies.findEnd();
        } finally {
            replies.reading.unlock();
        }
    }

    /** The connection's thread reads again, and looks at what was left for it. */
    private void stop() {
        read = false;
        connection.wake();
    }

    /**
     * By the connection's thread, before it sleeps.
     *
     * @return for how many ms it leaves the bytes to others, because each would wake it; 0: it waits for them
     */
    long patience() {
        boolean reads = replies.reading.isLocked();
        read &= haveRead || reads;
        haveRead = false;
        return read ? PATIENCE_MS : reads ? PATIENCE_TO_STOP_MS : 0;
    }

    // By the thread that waits for a call, without the lock.

    /**
     * If the call is alone, and if it has paid lately, this thread looks for its reply: nobody has to be woken. Whatever
     * else comes, and what goes wrong, is left to the connection's thread. With TLS that thread reads everything, because
     * the socket would not wake it for bytes that TLS has taken already.
     */
    void read(WaitedCall call) {
        BooleanSupplier ends = () -> !read || call.isDone();
        if (!begin(call)) {
            return;
        }
        try {
            replies.findAlone(call, ends);
        } finally {
            replies.reading.unlock();
            end(call.isFound());
        }
        // A listener may be told now. It must not wait for the client.
        ClientThread.whileServing(() -> call.takeFound(connection));
    }

    private boolean begin(WaitedCall call) {
        if (!staying.isWanted()) {
            return false;
        }
        connection.lane.lock.lock();
        try {
            boolean mayRead = connection.isAlone(call) && connection.letsCallersRead() && staying.pays();
            if (mayRead && !read) {
                read = true;
                connection.wake();
            }
            boolean reads = mayRead && replies.reading.tryLock();
            if (reads && (replies.wereLeft() || !replies.hasAnswered())) {
                replies.reading.unlock();
                reads = false;
            }
            haveRead |= reads;
            if (!reads && read) {
                stop();
            }
            return reads;
        } finally {
            connection.lane.lock.unlock();
        }
    }

    private void end(boolean found) {
        connection.lane.lock.lock();
        try {
            // A look that others have ended says nothing.
            if (found || read && !replies.wereLeft()) {
                staying.looked(found);
            }
            if (!read || connection.hasMore()) {
                stop();
            }
            connection.lane.count();
        } finally {
            connection.lane.lock.unlock();
        }
    }
}
