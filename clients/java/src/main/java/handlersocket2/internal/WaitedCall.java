package handlersocket2.internal;

import handlersocket2.ConnectionLostException;
import org.jspecify.annotations.Nullable;

/**
 * A call whose caller waits for the reply, and converts it on a thread of its own, so that the thread which reads for all
 * callers goes on. How it has ended is known only then, so the caller says it.
 */
public final class WaitedCall extends Call<Reply> {
    private int bytesIn;
    /** Of the thread that waits for it: the reply, if that thread has read it itself. */
    private @Nullable Reply found;

    public WaitedCall(
            Operation operation,
            @Nullable IndexDef index,
            byte[] prefix,
            LineWriter line,
            Reply.Expect expect,
            boolean isLong,
            int rows,
            long began,
            long deadline,
            @Nullable Observer observer) {
        super(operation, index, prefix, line, expect, isLong, rows, began, deadline, reply -> reply, observer);
    }

    /** Called by the thread that waits for it, before it sleeps. */
    public void readAlone() {
        Connection current = connection;
        if (current != null && !isDone() && !Thread.currentThread().isInterrupted()) {
            current.loneCallers.read(this);
        }
    }

    /** Its own thread has read its reply. */
    void found(Reply reply, int bytesIn) {
        this.found = reply;
        this.bytesIn = bytesIn;
    }

    boolean isFound() {
        return found != null;
    }

    /** Ends it with the reply that its own thread has read, if it has. */
    void takeFound(Connection from) {
        Reply reply = found;
        if (reply != null) {
            found = null;
            try {
                from.give(this, reply, bytesIn);
            } catch (Throwable bug) {
                // There is no memory to send it elsewhere, for example. The caller gets an error of this client.
                end(new ConnectionLostException("the client has a bug: " + bug, bug, true, modifies()));
            }
        }
    }

    @Override
    boolean finish(Reply reply, int bytesIn) {
        if (isDone()) {
            return false;
        }
        this.bytesIn = bytesIn;
        noteExecution(reply);
        return complete(reply);
    }

    /**
     * The reply was converted.
     *
     * @param problem why it could not be; null if it could
     */
    public void converted(Reply reply, @Nullable Throwable problem) {
        // A listener that calls the client and waits is refused, as on the client's own threads. It would be told of that call, too.
        Runnable tells = () -> tell(problem == null ? reply : null, problem == null ? bytesIn : 0, problem);
        if (hasListener()) {
            ClientThread.whileServing(tells);
        } else {
            tells.run();
        }
    }
}
