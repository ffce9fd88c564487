package handlersocket2.internal;

import java.util.Locale;

/** What a request does, as hooks name it. */
public enum Operation {
    FIND,
    INSERT,
    UPDATE,
    DELETE,
    INCREMENT,
    DECREMENT,
    /** Connects and waits; nothing is sent. */
    PING;

    public boolean modifies() {
        return this != FIND && this != PING;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
