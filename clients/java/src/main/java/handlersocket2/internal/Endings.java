package handlersocket2.internal;

import handlersocket2.ConnectException;
import handlersocket2.ConnectionLostException;
import handlersocket2.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What becomes of the calls of a connection that has ended: some are sent again, the others fail. */
final class Endings {
    /** Those that another connection shall have. */
    final List<Call<?>> again = new ArrayList<>();
    /** Give the others their errors. They are run without the lane's lock. */
    final List<Runnable> runs = new ArrayList<>();

    private final Settings settings;
    private final String reason;
    private final @Nullable Throwable cause;

    Endings(Settings settings, String reason, @Nullable Throwable cause) {
        this.settings = settings;
        this.reason = reason;
        this.cause = cause;
    }

    /**
     * Adds a call that somebody waits for.
     *
     * @param sent whether the server can have seen it
     * @param wrongAnswer what came in the place of its reply is none
     * @param answered whether the connection has answered any call
     */
    void add(Call<?> call, boolean sent, boolean wrongAnswer, boolean answered) {
        Opening opening = call.failedOpening();
        if (opening != null && opening.full && call.leavesFull()) {
            again.add(call);
        } else if (opening != null) {
            runs.add(() -> call.end(call.error(opening.reply)));
        } else if (!sent) {
            if (!answered && ++call.attempts >= settings.connectAttempts) {
                runs.add(() -> call.end(new ConnectException(reason, cause)));
            } else {
                again.add(call);
            }
        } else if (wrongAnswer) {
            runs.add(() -> call.end(new ProtocolException(reason, call.modifies())));
        } else if (!call.modifies() && call.retries < settings.retryReads) {
            call.retries++;
            again.add(call);
        } else {
            runs.add(() -> call.end(new ConnectionLostException(reason, cause, true, call.modifies())));
        }
    }
}
