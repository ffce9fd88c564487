package handlersocket2.internal;

import handlersocket2.DecodeException;
import handlersocket2.ReplyException;
import handlersocket2.RequestCancelledException;
import handlersocket2.RequestTimeoutException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request and the future of its result. The caller may give up at any time, on any thread. A lane hands it to a
 * connection, under the lane's lock.
 */
public class Call<T> extends CompletableFuture<T> {
    private static final VarHandle STATE;
    /** It has no slot, and nothing of it was sent. */
    private static final int WAITING = 0;
    /** It has a slot, so it was sent or will be. */
    private static final int SLOTTED = 1;
    /** It was given up before it had a slot. */
    private static final int GONE = 2;
    /** The code of errors that are about the connection's log-in. */
    static final int NO_LOG_IN = 3;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Call.class, "state", int.class);
        } catch (ReflectiveOperationException problem) {
            throw new ExceptionInInitializerError(problem);
        }
    }

    public final Operation operation;
    /** Null if the request has none: HELLO, LIST, PING. */
    public final @Nullable IndexDef index;
    /** What stands in front of the id, or of the line if it has none; empty in most calls. */
    final byte[] prefix;
    /** What stands behind the id, up to LF. */
    final byte[] line;
    /** How many bytes of the line count. */
    final int lineLength;
    /** The line and its prefix: what counts for the bounds. */
    final int length;

    final Reply.Expect expect;
    final boolean isLong;
    /** How many rows it sends, of each of which its reply tells what was done. */
    private final int rows;

    final long began;
    final long deadline;
    private final Function<Reply, T> convert;
    private final @Nullable Observer observer;

    private volatile int state = WAITING;
    private volatile boolean sentBefore;
    /** It is a request of a group that modifies: whoever asks for the group again does that twice. */
    boolean executed;

    /** For hooks: what a list is of. No connection opens it. It is set before the call is submitted. */
    public IndexDef.@Nullable Key listed;

    // Of the lane that has the call, under its lock.
    /** Where the request begins in the bytes of its connection. */
    long start;
    /** The P behind which it stands, if that was not answered when the request was added. */
    @Nullable Opening opening;
    /** How many attempts to connect have failed while it waited. */
    int attempts;
    /** How often it was sent again. */
    int retries;
    /** How many addresses have said that another one is meant. */
    int refusals;
    /** A connection that was full has refused it. */
    private boolean wasRefusedByFull;
    /** For hooks: the last connection that had it. */
    @Nullable Connection connection;

    public Call(
            Operation operation,
            @Nullable IndexDef index,
            byte[] prefix,
            LineWriter line,
            Reply.Expect expect,
            boolean isLong,
            int rows,
            long began,
            long deadline,
            Function<Reply, T> convert,
            @Nullable Observer observer) {
        this.operation = operation;
        this.index = index;
        this.line = line.bytes();
        this.prefix = prefix;
        this.lineLength = line.length();
        this.length = lineLength + prefix.length;
        this.expect = expect;
        this.isLong = isLong;
        this.rows = rows;
        this.began = began;
        this.deadline = deadline;
        this.convert = convert;
        this.observer = observer;
    }

    boolean modifies() {
        return operation.modifies();
    }

    /** How many columns its reply has to have, or how many rows it has to tell of. */
    private int wanted() {
        return expect == Reply.Expect.OUTCOMES ? rows : index == null ? -1 : index.columns().size();
    }

    /** Reads its reply, from begin to end without the last LF. */
    Reply read(byte[] in, int begin, int end) throws Reply.WrongReply {
        Reply reply = Reply.parse(in, begin, end, expect, wanted());
        if (expect == Reply.Expect.ECHO) {
            return Listed.ofPing(reply);
        }
        if (expect == Reply.Expect.DESCRIPTION && reply.code == 0 && index != null) {
            Columns.check(reply, index);
        }
        return reply;
    }

    /** Gives it a slot, unless the caller has given up. */
    boolean take() {
        return !isDone() && STATE.compareAndSet(this, WAITING, SLOTTED);
    }

    /**
     * Takes its slot away, because it has to be sent on another connection.
     *
     * @param sent whether a server has seen it already, and it is known that it was not executed or modifies nothing
     */
    void untake(boolean sent) {
        opening = null;
        sentBefore |= sent;
        STATE.compareAndSet(this, SLOTTED, WAITING);
    }

    /** The P in front of it that has failed, so that it was not executed. */
    @Nullable Opening failedOpening() {
        Opening last = opening;
        return last != null && last.failed() ? last : null;
    }

    /** A connection that is full has refused it. Whether it may go to another one, which it may once. */
    boolean leavesFull() {
        boolean first = !wasRefusedByFull;
        wasRefusedByFull = true;
        return first;
    }

    /** Whether a server has seen it already, which did not execute it, or it modifies nothing. */
    boolean isSentAgain() {
        return refusals > 0 || retries > 0 || wasRefusedByFull;
    }

    /** How many lines its reply has beside the first one. */
    int moreLines() {
        return 0;
    }

    /** Whether it has a slot. If not, it gets none any more. It may be on its way from one connection to another. */
    private boolean giveUp() {
        while (true) {
            int seen = state;
            if (seen != WAITING) {
                return seen == SLOTTED;
            }
            if (STATE.compareAndSet(this, WAITING, GONE)) {
                return false;
            }
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (isDone()) {
            return isCancelled();
        }
        boolean pending = giveUp();
        RequestCancelledException reason = new RequestCancelledException(
                "the call was given up", pending || sentBefore, pending && modifies());
        return end(reason) || isCancelled();
    }

    /** The thread that is about to submit it gives it up. A listener is told on that thread, where it must not wait. */
    public final void giveUpUnsent() {
        ClientThread.whileServing(() -> cancel(false));
    }

    // Newer versions of Java wrap what says that a future was cancelled. Here it always says whether it was sent.

    @Override
    public T get() throws InterruptedException, ExecutionException {
        try {
            return super.get();
        } catch (CancellationException problem) {
            throw own(problem);
        }
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return super.get(timeout, unit);
        } catch (CancellationException problem) {
            throw own(problem);
        }
    }

    @Override
    public T join() {
        try {
            return super.join();
        } catch (CancellationException problem) {
            throw own(problem);
        }
    }

    private static CancellationException own(CancellationException problem) {
        return problem.getCause() instanceof RequestCancelledException cause ? cause : problem;
    }

    /** Its time is over. */
    void expire() {
        boolean pending = giveUp();
        end(new RequestTimeoutException("the call's time is over", pending || sentBefore, pending && modifies()));
    }

    /** Its reply has come. Whether somebody still waits for it. */
    boolean finish(Reply reply, int bytesIn) {
        if (isDone()) {
            return false;
        }
        T value;
        noteExecution(reply);
        try {
            value = convert.apply(reply);
        } catch (Throwable problem) {
            // Whatever the caller's code throws: this thread reads for others, too.
            return end(DecodeException.of(problem, reply.executed));
        }
        boolean first = complete(value);
        if (first) {
            tell(reply, bytesIn, null);
        }
        return first;
    }

    /** A row knows whether the error of a value that does not fit leaves it safe to ask again. */
    final void noteExecution(Reply reply) {
        reply.executed = executed || modifies();
    }

    /** Tells the observer how it has ended. */
    final void tell(@Nullable Reply reply, int bytesIn, @Nullable Throwable problem) {
        if (observer != null) {
            observer.ended(this, reply, bytesIn, problem);
        }
    }

    final boolean hasListener() {
        return observer != null && observer.hasListener();
    }

    /** It has failed. Whether somebody still waits for it. */
    boolean end(Throwable reason) {
        boolean first = completeExceptionally(reason);
        if (first) {
            tell(null, 0, reason);
        }
        return first;
    }

    /** The error of a reply to it, or to the P in front of it. */
    ReplyException error(Reply reply) {
        return new ReplyException(false, modifies(), reply.code, reply.errorText(), 0, reply.texts(), where(reply));
    }

    /** The names of what an error is about. */
    final String where(Reply reply) {
        if (reply.code == NO_LOG_IN && connection != null) {
            return connection.address.toString();
        }
        IndexDef.Key key = index == null ? listed : index.key;
        return key == null ? "" : key.words(reply, failedOpening() != null);
    }
}
