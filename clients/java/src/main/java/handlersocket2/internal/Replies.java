package handlersocket2.internal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of a connection, and gives them to its calls. One thread at a time reads: the connection's own, or a
 * caller that waits for the only reply (see {@link LoneCallers}).
 * A caller that has it waits for no lock and runs nobody's code, for others wait for their replies meanwhile.
 */
final class Replies {
    /** Who reads has it. It is never waited for, but at the end. */
    final ReentrantLock reading = new ReentrantLock();

    private final Connection connection;
    private final Transport transport;
    private final int maxReplyBytes;
    private final Incoming in;
    /** Lines that wait for the rest of a group's reply. */
    private int gathered;

    private final ArrayList<Object> batch = new ArrayList<>();
    private int batchDone;
    private boolean answered;

    // What a caller has left to the connection's thread.
    private int leftBytes;
    private @Nullable Throwable leftProblem;
    /** There is one of them. It is looked at by who does not read. */
    private volatile boolean left;

    Replies(Connection connection, Transport transport, int maxReplyBytes) {
        this.connection = connection;
        this.transport = transport;
        this.maxReplyBytes = maxReplyBytes;
        this.in = new Incoming(transport, maxReplyBytes);
    }

    /** Whether a reply to a caller has come. */
    boolean hasAnswered() {
        return answered;
    }

    /** Whether a caller has left something. It may be asked by anybody. */
    boolean wereLeft() {
        return left;
    }

    /** So many bytes were read, and are not answered. */
    private void leave(int bytes) {
        leftBytes += bytes;
        left = true;
    }

    /** The connection has to end. */
    private void leave(Throwable problem) {
        leftProblem = problem;
        left = true;
    }

    /** A problem stays: no caller may read before the connection has ended. */
    private void takeLeft() throws IOException, Reply.WrongReply {
        if (leftProblem instanceof IOException problem) {
            throw problem;
        }
        if (leftProblem instanceof Reply.WrongReply problem) {
            throw problem;
        }
        if (leftProblem instanceof Error problem) {
            throw problem;
        }
        if (leftProblem != null) {
            throw new IllegalStateException(leftProblem);
        }
        left = false;
        int bytes = leftBytes;
        leftBytes = 0;
        if (bytes > 0) {
            answer(bytes);
        }
    }

    /** By the connection's thread: looks, until somebody needs it. Whether something has come, which the end is, too. */
    boolean lookAndRead(BooleanSupplier ends) throws IOException, Reply.WrongReply {
        int count = look(ends, Clock.now() + Awake.LONGEST);
        if (count > 0) {
            answer(count);
        }
        if (count < 0 || count > 0 && transport.mayHoldBytes() && !read()) {
            // The socket need not tell of the end again: with TLS, the server may keep it open.
            leave(0);
        }
        return count != 0;
    }

    /** Looks for bytes without sleeping, once at least. How many have come, 0 if none, -1 at the end. */
    private int look(BooleanSupplier ends, long until) throws IOException {
        do {
            int count = in.read();
            if (count != 0) {
                return count;
            }
            Thread.onSpinWait();
        } while (!ends.getAsBoolean() && Clock.now() < until);
        return 0;
    }

    /** By the thread that waits for this call: looks for its reply for a moment. Whatever else comes is left. */
    void findAlone(WaitedCall call, BooleanSupplier ends) {
        try {
            long until = Clock.now() + Awake.LONGEST;
            while (!call.isFound()) {
                int count = look(ends, until);
                if (count <= 0) {
                    return;
                }
                if (!takeAlone(call, count)) {
                    leave(count);
                    return;
                }
            }
        } catch (Throwable problem) {
            leave(problem);
        }
    }

    /** By who is about to add the first call: whether something has come that can only be the end. It is left. */
    boolean findEnd() {
        try {
            int count = in.read();
            if (count != 0) {
                leave(Math.max(count, 0));
            }
        } catch (Throwable problem) {
            leave(problem);
        }
        return left;
    }

    /** So many bytes have come for this call, if it is alone. If not, or if that is not to be known at once, false. */
    private boolean takeAlone(WaitedCall call, int count) throws Reply.WrongReply {
        int lines = gathered + in.newLines();
        batch.clear();
        batchDone = 0;
        if (!connection.takeSlotAlone(call, lines, count, batch)) {
            in.scanAgain(count);
            return false;
        }
        answerBatch(lines, batch.isEmpty(), call);
        return true;
    }

    /** The slots that were taken and have no reply: the connection has ended. */
    List<Object> takeUnanswered() {
        return new ArrayList<>(batch.subList(batchDone, batch.size()));
    }

    /** Reads what is there and answers all complete lines. Whether the connection goes on. */
    boolean read() throws IOException, Reply.WrongReply {
        if (left) {
            takeLeft();
        }
        do {
            int count = in.read();
            if (count <= 0) {
                return count == 0;
            }
            answer(count);
        } while (transport.mayHoldBytes());
        return true;
    }

    /** So many bytes have come: answers all complete lines. If that fails, nobody reads on before the connection ends. */
    void answer(int count) throws Reply.WrongReply {
        try {
            answerLines(count);
        } catch (Throwable problem) {
            leave(problem);
            throw problem;
        }
    }

    private void answerLines(int count) throws Reply.WrongReply {
        int lines = gathered + in.newLines();
        batch.clear();
        batchDone = 0;
        answerBatch(lines, connection.takeSlots(lines, count, batch), null);
    }

    /**
     * Answers the slots of the batch.
     *
     * @param owed whether others have none yet
     * @param alone the call that is in the batch or will be, if its own thread reads; it only notes its reply
     */
    private void answerBatch(int lines, boolean owed, @Nullable WaitedCall alone) throws Reply.WrongReply {
        int begin = 0;
        gathered = lines;
        while (batchDone < batch.size()) {
            int more = moreLines(batch.get(batchDone));
            int end = GroupCall.endOf(in.bytes(), begin, more);
            gathered -= more + 1;
            if (alone == null) {
                answer(batch.get(batchDone), begin, end);
            } else {
                alone.found(read(alone, begin, end), end - begin + 1);
            }
            batchDone++;
            begin = end + 1;
        }
        if (gathered > 0 && !connection.gathers) {
            throw new Reply.WrongReply(Greetings.words(in.bytes(), in.length()) + ": it answers no request");
        }
        int rest = in.length() - begin;
        if (rest > maxReplyBytes) {
            throw new Reply.WrongReply("a reply is longer than max_reply_bytes");
        }
        if (rest > 0 && !owed) {
            throw new Reply.WrongReply("bytes came while no request was in flight");
        }
        if (begin > 0) {
            in.drop(begin);
        }
    }

    static int moreLines(@Nullable Object slot) {
        return slot instanceof Call<?> call ? call.moreLines() : 0;
    }

    private void answer(Object slot, int begin, int end) throws Reply.WrongReply {
        if (slot instanceof Opening opening) {
            connection.opened(opening, parse(Reply.Expect.NOTHING, begin, end));
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
            connection.lane.hasAnswered();
        }
        connection.give(call, reply, end - begin + 1);
    }

    private Reply read(Call<?> call, int begin, int end) throws Reply.WrongReply {
        checkLength(begin, end);
        try {
            return call.read(in.bytes(), begin, end);
        } catch (Reply.WrongReply problem) {
            throw wrong(problem);
        }
    }

    private Reply parse(Reply.Expect expect, int begin, int end) throws Reply.WrongReply {
        checkLength(begin, end);
        try {
            return Reply.parse(in.bytes(), begin, end, expect, -1);
        } catch (Reply.WrongReply problem) {
            throw wrong(problem);
        }
    }

    private void checkLength(int begin, int end) throws Reply.WrongReply {
        if (end - begin > maxReplyBytes) {
            throw new Reply.WrongReply("a reply is longer than max_reply_bytes");
        }
    }

    private Reply.WrongReply wrong(Reply.WrongReply problem) {
        return hint().isEmpty() ? problem : new Reply.WrongReply(Greetings.words(in.bytes(), in.length()));
    }

    /** Which port of something else this is, by the first that it says; or nothing. By who reads. */
    String hint() {
        return answered ? "" : Greetings.hint(in.bytes(), in.length());
    }
}
