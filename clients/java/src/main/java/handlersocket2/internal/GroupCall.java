package handlersocket2.internal;

import handlersocket2.ReplyException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A group as one call: its requests are sent in one piece, and are answered together or not at all. */
public final class GroupCall extends Call<Void> {
    private static final String UNDONE = "undone";

    /**
     * A request of a group.
     *
     * @param place which it is, from 1 on
     * @param meets the condition in front of it, or an empty text
     */
    public record Line(int place, String meets, Call<?> call) {
        private byte[] condition() {
            return meets.getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    final List<Line> lines;
    /** Of each request, once they have come. */
    private volatile List<Reply> replies = List.of();
    /** Somebody ends it: its reply, an error, its deadline, or the caller. */
    private final AtomicBoolean ended = new AtomicBoolean();
    /** The request that has failed; 0 for none. */
    private volatile int failed;

    public GroupCall(byte[] prefix, List<Line> lines, long began, long deadline, Observer observer) {
        super(
                Operation.GROUP, lines.get(0).call.index, prefix, whole(lines), Reply.Expect.NOTHING, false, 0, began,
                deadline, reply -> null, observer);
        this.lines = lines;
        boolean modifies = lines.stream().anyMatch(line -> line.call.modifies());
        lines.forEach(line -> line.call.executed = modifies);
    }

    /** All bytes but the numbers of the indexes: what counts for the bounds. */
    private static LineWriter whole(List<Line> lines) {
        LineWriter whole = new LineWriter();
        for (Line line : lines) {
            whole.raw(line.meets).raw(new String(line.call.line, 0, line.call.lineLength, StandardCharsets.ISO_8859_1));
        }
        return whole;
    }

    @Override
    int moreLines() {
        return lines.size();
    }

    /** Where so many lines more than one end. */
    static int endOf(byte[] in, int begin, int more) {
        int end = begin;
        for (int left = more; in[end] != '\n' || left-- > 0; end++) {}
        return end;
    }

    /** Adds all lines, with the numbers of their indexes. The requests have no time of their own. Under the lane's lock. */
    void putInto(Outgoing out, List<Opening> opened) {
        out.put(prefix);
        out.put(("G\t" + lines.size() + "\n").getBytes(StandardCharsets.ISO_8859_1));
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            out.put(line.condition(), opened.get(i).id, line.call.line, line.call.lineLength);
        }
    }

    @Override
    void untake(boolean sent) {
        super.untake(sent);
        lines.forEach(line -> line.call.opening = null);
    }

    @Override
    @Nullable Opening failedOpening() {
        for (Line line : lines) {
            Opening opening = line.call.failedOpening();
            if (opening != null) {
                failed = line.place;
                return opening;
            }
        }
        return null;
    }

    /**
     * Reads all lines, and gives the one that says what became of the group. Lines that contradict each other are no
     * reply: a server that does not know groups does the requests one by one.
     */
    @Override
    Reply read(byte[] in, int begin, int end) throws Reply.WrongReply {
        int at = endOf(in, begin, 0);
        Reply first = Reply.parse(in, begin, at, Reply.Expect.NOTHING, -1);
        List<Reply> each = new ArrayList<>(lines.size());
        for (Line line : lines) {
            int from = at + 1;
            at = endOf(in, from, 0);
            Reply reply = line.call.read(in, from, at);
            if ((reply.code == 0) != (first.code == 0)) {
                throw new Reply.WrongReply("the lines of the reply contradict each other: this is no group");
            }
            each.add(reply);
        }
        failed = 0;
        replies = each;
        if (first.code == 0) {
            if (first.values() > 0) {
                throw new Reply.WrongReply("the reply to a group has a value");
            }
            return first;
        }
        if (!first.errorText().equals(UNDONE)) {
            return first;
        }
        // With texts it stands behind them.
        boolean tells = first.values() == 2 || first.values() == 5;
        long place = tells ? first.smallNumber(first.values() - 1) : 0;
        if (place < 1 || place > lines.size()) {
            throw new Reply.WrongReply("the reply does not say which request of the group has failed");
        }
        failed = lines.get((int) place - 1).place;
        return each.get((int) place - 1);
    }

    // Its requests end before it does: who has waited for the group finds all of them done.

    @Override
    boolean finish(Reply reply, int bytesIn) {
        if (!ended.compareAndSet(false, true)) {
            return false;
        }
        for (int i = 0; i < lines.size(); i++) {
            lines.get(i).call.finish(replies.get(i), 0);
        }
        return super.finish(reply, bytesIn);
    }

    @Override
    boolean end(Throwable reason) {
        if (!ended.compareAndSet(false, true)) {
            return false;
        }
        int place = reason instanceof ReplyException reply ? reply.line() : 0;
        for (int i = 0; i < lines.size(); i++) {
            boolean undone = place > 0 && place != lines.get(i).place;
            lines.get(i).call.end(undone ? undone(i, place) : reason);
        }
        return super.end(reason);
    }

    /** Another request has failed. */
    private ReplyException undone(int line, int place) {
        Reply reply = line < replies.size() ? replies.get(line) : null;
        boolean says = reply != null && reply.errorText().equals(UNDONE);
        return new ReplyException(false, false, 1, UNDONE, place, says ? reply.texts() : null, "");
    }

    /** Gives each request the same error. */
    public static void fail(List<Line> lines, Throwable reason) {
        lines.forEach(line -> line.call.end(reason));
    }

    @Override
    ReplyException error(Reply reply) {
        String where = reply.code == NO_LOG_IN ? where(reply) : "";
        for (Line line : lines) {
            if (line.place == failed && where.isEmpty()) {
                where = line.call.where(reply);
            }
        }
        return new ReplyException(false, true, reply.code, reply.errorText(), failed, reply.texts(), where);
    }
}
