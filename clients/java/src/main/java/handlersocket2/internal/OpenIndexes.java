package handlersocket2.internal;

import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What a connection was told before its requests: the hello that turns texts on, and a P for each index that was needed.
 * Each is written in front of the first request that needs it, and has a slot of its own. Everything is called under the
 * lane's lock.
 */
final class OpenIndexes {
    /** The slot of the hello that the client says by itself. Whatever is answered to it is no error. */
    static final Object HELLO = new Object();
    /** What the server answers to a P of a connection that has as many open indexes as it may. */
    static final String FULL = "stmtnum";

    private final Outgoing out;
    private final Queue<Object> slots;
    private Opening[] openings = new Opening[8];
    private int lastId;
    /** A P has succeeded, so the server opens indexes here. */
    private boolean hasOpened;
    private boolean owesHello;

    OpenIndexes(Outgoing out, Queue<Object> slots, boolean texts) {
        this.out = out;
        this.slots = slots;
        this.owesHello = texts;
    }

    /** Says hello in front of the first request, if the client wants texts. */
    void greet() {
        if (owesHello) {
            owesHello = false;
            out.put(Hello.TEXTS);
            slots.add(HELLO);
        }
    }

    /** The call's index, which is opened in front of it unless it is open. */
    Opening open(Call<?> call, IndexDef index) {
        Opening opening = opened(index);
        call.opening = opening.reply == null ? opening : null;
        return opening;
    }

    /**
     * The reply to a P has come.
     *
     * @return whether the connection is full. If it has opened none at all, another connection would open none, either
     */
    boolean isFull(Opening opening, Reply reply) {
        opening.reply = reply;
        hasOpened |= reply.code == 0;
        opening.full = hasOpened && reply.code != 0 && reply.errorText().equals(FULL);
        return opening.full;
    }

    private Opening opened(IndexDef index) {
        if (index.number >= openings.length) {
            openings = Arrays.copyOf(openings, Math.max(index.number + 1, openings.length * 2));
        }
        @Nullable Opening opening = openings[index.number];
        // One with all columns keeps those of its opening, and is asked for because somebody wants those of now.
        if (opening == null || opening.failed() || index.hasAllColumns) {
            opening = new Opening(index, opening == null ? ++lastId : opening.id);
            openings[index.number] = opening;
            out.put(Opening.WORD, opening.id, index.opening, index.opening.length);
            slots.add(opening);
        }
        return opening;
    }
}
