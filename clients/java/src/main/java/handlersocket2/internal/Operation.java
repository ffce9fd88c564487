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
    /** Asks what the columns of an index are. */
    DESCRIBE,
    /** Asks what the server is and understands. It has no index. */
    HELLO,
    /** Asks which databases, tables or indexes there are. */
    LIST,
    /** Asks whether the server is there. */
    PING;

    public boolean modifies() {
        return switch (this) {
            case FIND, COUNT, EXISTS, DESCRIBE, HELLO, LIST, PING -> false;
            default -> true;
        };
    }

    /** It asks about the server or its tables, and not for rows. */
    boolean isAboutServer() {
        return this == DESCRIBE || this == HELLO || this == LIST || this == PING;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
