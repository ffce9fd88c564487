package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientListener;
import handlersocket2.ConnectionEvent;
import handlersocket2.ConnectionEvent.What;
import handlersocket2.Counters;
import handlersocket2.Failure;
import handlersocket2.HandlerSocketException;
import handlersocket2.ReplyException;
import handlersocket2.RequestEvent;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts, and tells the listener and the logger, if the application has given any. */
public final class Observer {
    private static final IndexDef.Key NO_INDEX = new IndexDef.Key("", "", "", List.of(), List.of());

    private final @Nullable ClientListener listener;
    private final System.@Nullable Logger logger;
    private final LongAdder errors = new LongAdder();
    private final LongAdder givenUp = new LongAdder();
    private final LongAdder made = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder streams = new LongAdder();
    private final LongAdder streamReplies = new LongAdder();
    private final LongAdder streamBytesOut = new LongAdder();
    private final LongAdder streamBytesIn = new LongAdder();

    Observer(Settings settings) {
        listener = settings.listener;
        logger = settings.logger;
    }

    boolean hasListener() {
        return listener != null;
    }

    /** A call has ended with a reply or an error. */
    void ended(Call<?> call, @Nullable Reply reply, int bytesIn, @Nullable Throwable error) {
        countError(error);
        if (listener == null) {
            return;
        }
        Connection connection = call.connection;
        Route route =
                connection != null ? connection.lane.route
                        : call.modifies() ? Route.WRITE : call.isLong ? Route.LONG : Route.READ;
        long rows = reply == null ? 0 : reply.hasNumber && call.expect != Reply.Expect.ID ? reply.number
                : call.expect == Reply.Expect.ID ? 1 : reply.rows();
        ended(
                call.operation, keyOf(call), Optional.ofNullable(connection).map(c -> c.address), route, call.began,
                call.length, bytesIn, rows, error);
    }

    /** A stream has ended. */
    void ended(IndexDef index, @Nullable Address address, long began, long out, long in, long rows,
            @Nullable Throwable error) {
        if (address != null) {
            streams.increment();
            streamBytesOut.add(out);
            streamBytesIn.add(in);
            streamReplies.add(error == null || error instanceof ReplyException ? 1 : 0);
        }
        countError(error);
        if (listener != null) {
            ended(Operation.FIND, index.key, Optional.ofNullable(address), Route.STREAM, began, out, in, rows, error);
        }
    }

    private static IndexDef.Key keyOf(Call<?> call) {
        IndexDef.Key named = call.index == null ? call.listed : call.index.key;
        return named == null ? NO_INDEX : named;
    }

    private void countError(@Nullable Throwable error) {
        if (error != null) {
            errors.increment();
            if (error instanceof Failure failure
                    && (failure.kind() == Failure.Kind.CANCELLED || failure.kind() == Failure.Kind.TIMEOUT)) {
                givenUp.increment();
            }
        }
    }

    private void ended(
            Operation operation,
            IndexDef.Key key,
            Optional<Address> address,
            Route route,
            long began,
            long out,
            long in,
            long rows,
            @Nullable Throwable error) {
        Duration took = Duration.ofNanos(Clock.now() - began);
        try {
            listener.requestEnded(
                    new RequestEvent(
                            operation.word(), key.database(), key.table(), key.index(), address,
                            route.word(), took, out, in, rows, Optional.ofNullable(error)));
        } catch (Throwable ignored) {
            // A listener may not break the client.
        }
    }

    void connected(Address address, Route route) {
        made.increment();
        tell(new ConnectionEvent(What.CONNECTED, route.word(), Optional.of(address), "", Optional.empty()), Level.DEBUG);
    }

    void connectionEnded(Address address, Route route, boolean wasLost, boolean violated, String reason) {
        if (wasLost) {
            lost.increment();
        }
        What what = violated ? What.PROTOCOL_ERROR : wasLost ? What.LOST : What.CLOSED;
        Level level = violated || wasLost ? Level.WARNING : Level.DEBUG;
        tell(new ConnectionEvent(what, route.word(), Optional.of(address), reason, Optional.empty()), level);
    }

    void attemptFailed(Route route, HandlerSocketException reason, Duration delay) {
        String words = String.valueOf(reason.getMessage());
        tell(
                new ConnectionEvent(What.ATTEMPT_FAILED, route.word(), Optional.empty(), words, Optional.of(delay)),
                Level.WARNING);
    }

    void failedOver(Address from, Address to, String reason) {
        String words = "to " + to + ": " + reason;
        tell(new ConnectionEvent(What.FAILED_OVER, "", Optional.of(from), words, Optional.empty()), Level.WARNING);
    }

    private void tell(ConnectionEvent event, Level level) {
        if (logger != null) {
            try {
                log(event, level);
            } catch (Throwable ignored) {
                // Nor may a logger.
            }
        }
        if (listener != null) {
            try {
                listener.connectionChanged(event);
            } catch (Throwable ignored) {
                // A listener may not break the client.
            }
        }
    }

    private void log(ConnectionEvent event, Level level) {
        if (logger.isLoggable(level)) {
            logger.log(
                    level,
                    "handlersocket2: {0} {1} {2} {3}",
                    event.what(), event.route(), event.address().map(Address::toString).orElse(""), event.reason());
        }
    }

    Counters counters(Counts sum, int inFlight, long dropped) {
        return new Counters(
                sum.requests + streams.sum(), sum.replies + streamReplies.sum(), errors.sum(), givenUp.sum(), dropped,
                inFlight, sum.bytesOut + streamBytesOut.sum(), sum.bytesIn + streamBytesIn.sum(),
                sum.writes, sum.reads, made.sum(), lost.sum());
    }
}
