package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientBuilder.ReadAfterWrite;
import handlersocket2.ClientClosedException;
import handlersocket2.ReplyException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Sends each call its way: chooses the route and the lane. Any thread may call it. */
public final class Router {
    private final Shared shared;
    private final Settings settings;
    private final Lane[] reads;
    private final Lane[] writes;
    private final Lane[] longs;
    private final Lane[][] routes;
    private final Sweeper sweeper = new Sweeper(this);
    private final StreamPool streams;
    /** Takes no new calls, but those that have come are answered. */
    private volatile boolean leaving;

    public Router(Settings settings) {
        this.settings = settings;
        shared = new Shared(settings);
        reads = lanes(Route.READ, settings.readConnections);
        writes = lanes(Route.WRITE, settings.writeConnections);
        longs = lanes(Route.LONG, settings.longConnections);
        routes = new Lane[][] {reads, writes, longs};
        streams = new StreamPool(shared);
        shared.whenMoved = this::move;
    }

    private Lane[] lanes(Route route, int count) {
        Lane[] lanes = new Lane[count];
        for (int i = 0; i < count; i++) {
            lanes[i] = new Lane(this, shared, route, i + 1);
        }
        return lanes;
    }

    public Settings settings() {
        return settings;
    }

    public Observer observer() {
        return shared.observer;
    }

    public StreamPool streams() {
        return streams;
    }

    boolean isClosed() {
        return shared.closed;
    }

    public void submit(Call<?> call) {
        if (refuses(call)) {
            return;
        }
        boolean behindWrites = !call.operation.isAboutServer() && readsBehindWrites();
        choose(behindWrites ? writes : usual(call)).submit(call);
        sweeper.notice();
    }

    /** The way of a call that does not depend on others. */
    private Lane[] usual(Call<?> call) {
        if (call.modifies() || call.operation.isAboutServer() && !shared.addresses.canRead()) {
            return writes;
        }
        return call.isLong ? longs : reads;
    }

    /** Calls that stay neighbours on one connection. */
    public void submit(List<? extends Call<?>> calls) {
        boolean modifies = false;
        boolean isLong = false;
        for (Call<?> call : calls) {
            if (refuses(call)) {
                calls.forEach(this::refuses);
                return;
            }
            modifies |= call.modifies();
            isLong |= call.isLong;
        }
        choose(modifies || readsBehindWrites() ? writes : isLong ? longs : reads).submit(calls);
        sweeper.notice();
    }

    /** Whether any address has a port for writing. Without one, a call that modifies must not come here. */
    public boolean canWrite() {
        return shared.addresses.canWrite();
    }

    private boolean refuses(Call<?> call) {
        if (leaving) {
            call.end(new ClientClosedException("the client is closed", false, false));
            return true;
        }
        return false;
    }

    private boolean readsBehindWrites() {
        return settings.readAfterWrite == ReadAfterWrite.SENT && writes[0].hasWrites();
    }

    private static Lane choose(Lane[] lanes) {
        Lane chosen = lanes[0];
        for (int i = 1; i < lanes.length; i++) {
            if (lanes[i].load() < chosen.load()) {
                chosen = lanes[i];
            }
        }
        return chosen;
    }

    /**
     * The call was not executed, because another server is meant. Whether it was sent to the next address: by the same
     * lane, so that a find stays behind the writes of its pipeline.
     */
    boolean tryElsewhere(Call<?> call, Lane lane, Address address, ReplyException error) {
        shared.leave(address, lane.toWrite(), String.valueOf(error.getMessage()));
        if (++call.refusals >= shared.addresses.size() || shared.closed) {
            return false;
        }
        lane.submitAgain(call);
        return true;
    }

    /** There is a call whose deadline has to be looked at. */
    void notice() {
        sweeper.notice();
    }

    /** Another address is current: lanes leave the former one. */
    private void move() {
        for (Lane[] lanes : routes) {
            for (Lane lane : lanes) {
                lane.move();
            }
        }
    }

    boolean sweep(long now, List<Call<?>> expired) {
        boolean busy = false;
        for (Lane[] lanes : routes) {
            for (Lane lane : lanes) {
                busy |= lane.sweep(now, expired);
            }
        }
        return busy;
    }

    /** The numbers of all lanes. */
    int addTo(Counts sum) {
        int inFlight = 0;
        for (Lane[] lanes : routes) {
            for (Lane lane : lanes) {
                inFlight += lane.addTo(sum);
            }
        }
        return inFlight;
    }

    public handlersocket2.Counters counters() {
        Counts sum = new Counts();
        int inFlight = addTo(sum);
        return shared.observer.counters(sum, inFlight, shared.dropped.sum());
    }

    /** Waits until nothing is owed, at most so long, and closes. */
    public void shutdown(Duration atMost) {
        leaving = true;
        long until = Clock.after(Clock.now(), atMost);
        streams.leave();
        while (!shared.closed && Clock.now() < until && (sweep(-1, List.of()) || streams.goOn())) {
            LockSupport.parkNanos(this, 1_000_000);
            if (Thread.currentThread().isInterrupted()) {
                break;
            }
        }
        close();
    }

    public void close() {
        leaving = true;
        shared.closed = true;
        for (Lane[] lanes : routes) {
            for (Lane lane : lanes) {
                lane.close();
            }
        }
        streams.close();
        sweeper.close();
    }
}
