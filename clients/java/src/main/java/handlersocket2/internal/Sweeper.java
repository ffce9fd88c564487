package handlersocket2.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the deadlines of all calls 40 times a second while there are calls, and sleeps otherwise. So no call needs a
 * timer of its own.
 */
final class Sweeper {
    private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(25);

    private final Router router;
    private volatile boolean asleep;
    private volatile @Nullable Thread thread;

    Sweeper(Router router) {
        this.router = router;
    }

    /** There is a new call. */
    void notice() {
        if (asleep) {
            asleep = false;
            LockSupport.unpark(thread);
        } else if (thread == null) {
            start();
        }
    }

    private synchronized void start() {
        if (thread == null) {
            thread = new ClientThread(this::run, "deadlines");
            thread.start();
        }
    }

    synchronized void close() {
        asleep = false;
        LockSupport.unpark(thread);
    }

    private boolean sweep() {
        try {
            List<Call<?>> expired = new ArrayList<>(0);
            boolean busy = router.sweep(Clock.now(), expired);
            expired.forEach(Call::expire);
            return busy;
        } catch (RuntimeException | Error problem) {
            // There is no memory, for example. Later calls have deadlines, too.
            return true;
        }
    }

    private void run() {
        while (!router.isClosed()) {
            if (sweep()) {
                LockSupport.parkNanos(this, INTERVAL);
                continue;
            }
            asleep = true;
            // A call that came before that did not wake this thread, so it has to be seen here.
            if (sweep()) {
                asleep = false;
            }
            while (asleep && !router.isClosed()) {
                LockSupport.park(this);
            }
        }
    }
}
