package handlersocket2;

import org.jspecify.annotations.Nullable;

/** The call cannot be meant, so nothing was sent. */
public final class UsageException extends IllegalArgumentException implements Failure {

    /**
     * Makes one.
     *
     * @param message what cannot be meant
     */
    public UsageException(String message) {
        this(message, null);
    }

    /**
     * Makes one.
     *
     * @param message what cannot be meant
     * @param cause what it comes from, or null
     */
    public UsageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    @Override
    public Kind kind() {
        return Kind.USAGE;
    }

    @Override
    public boolean wasSent() {
        return false;
    }

    @Override
    public boolean maybeExecuted() {
        return false;
    }
}
