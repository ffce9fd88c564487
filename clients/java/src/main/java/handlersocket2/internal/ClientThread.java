package handlersocket2.internal;

/** A thread of a client. What is called back on it must not wait for the client, and calls that would are refused. */
public final class ClientThread extends Thread {
    /** Of another thread: it does for a moment what a thread of a client does. */
    private static final ThreadLocal<Boolean> SERVES = new ThreadLocal<>();

    ClientThread(Runnable work, String name) {
        super(null, work, "handlersocket2-" + name, 0, false);
        setDaemon(true);
    }

    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ClientThread || SERVES.get() != null;
    }

    /** Has this thread, which may be any, do something as a thread of a client. */
    static void whileServing(Runnable work) {
        if (SERVES.get() != null) {
            work.run();
            return;
        }
        SERVES.set(Boolean.TRUE);
        try {
            work.run();
        } finally {
            SERVES.remove();
        }
    }
}
