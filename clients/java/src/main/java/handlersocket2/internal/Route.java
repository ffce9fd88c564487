package handlersocket2.internal;

import java.util.Locale;

/** What a connection is for. */
public enum Route {
    READ,
    WRITE,
    LONG,
    STREAM;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
