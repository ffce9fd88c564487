package handlersocket2.internal;

import java.util.Locale;

/** What a request does, as hooks name it. */
public enum Operation {
    FIND,
    COUNT,
    EXISTS,
    INSERT,
    UPSERT,
    UPDATE,
    DELETE,
    INCREMENT,
    DECREMENT,
    /** Changes nothing, and keeps rows as they are until a group has ended. */
    LOCK,
    /** Requests that are done as a whole or not at all. */
    GROUP,
    /** Connects and waits; nothing is sent. */
    PING;

    public boolean modifies() {
        return switch (this) {
            case FIND, COUNT, EXISTS, PING -> false;
            default -> true;
        };
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
