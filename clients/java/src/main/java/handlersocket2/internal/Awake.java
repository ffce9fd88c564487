package handlersocket2.internal;

/**
 * Whether it pays to look for the reply to a call that is alone, without sleeping. A thread that sleeps is woken later
 * than the server takes for a lookup. It owns nothing, and is called under the lane's lock.
 */
final class Awake {
    /** So long is looked at most, in ns. A reply of the same machine comes within a fifth of it. */
    static final long LONGEST = 100_000;

    /** So many calls in succession have to be alone. */
    private static final int CALLS = 8;
    /** Each within so many ns of the reply before it. */
    private static final long PAUSE = 1_000_000;
    /** After so many looks in vain in succession, the calls that are let pass grow no more. */
    private static final int MOST_DOUBLINGS = 10;

    private final boolean wanted;
    private int alone;
    private int inVain;
    private int toPass;

    Awake(boolean wanted) {
        // With one processor, nobody answers while this one looks.
        this.wanted = wanted && Runtime.getRuntime().availableProcessors() > 1;
    }

    /** A call was added, after so many ns without a reply. */
    void added(int calls, long pause) {
        alone = calls == 1 && pause < PAUSE ? Math.min(alone + 1, CALLS) : 0;
    }

    /** Whether it can ever pay. It may be asked without the lock. */
    boolean isWanted() {
        return wanted;
    }

    /** Whether to look for the reply to the latest call. It is asked once for each. */
    boolean pays() {
        if (!wanted || alone < CALLS) {
            return false;
        }
        if (toPass > 0) {
            toPass--;
            return false;
        }
        return true;
    }

    /** Somebody has looked for a reply. Whether it has come in time. */
    void looked(boolean found) {
        if (found) {
            inVain = 0;
            return;
        }
        inVain = Math.min(inVain + 1, MOST_DOUBLINGS);
        toPass = 1 << inVain;
    }
}
