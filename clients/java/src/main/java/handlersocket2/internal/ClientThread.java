package handlersocket2.internal;

/** A thread of a client. What is called back on it must not wait for the client, and calls that would are refused. */
public final class ClientThread extends Thread {
    ClientThread(Runnable work, String name) {
        super(null, work, "handlersocket2-" + name, 0, false);
        setDaemon(true);
    }

    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ClientThread;
    }
}
