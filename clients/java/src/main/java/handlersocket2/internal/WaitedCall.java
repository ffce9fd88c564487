package handlersocket2.internal;

import org.jspecify.annotations.Nullable;

/**
 * A call whose caller waits for the reply, and converts it on a thread of its own, so that the thread which reads for all
 * callers goes on. How it has ended is known only then, so the caller says it.
 */
public final class WaitedCall extends Call<Reply> {
    private int bytesIn;

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
        tell(problem == null ? reply : null, problem == null ? bytesIn : 0, problem);
    }
}
