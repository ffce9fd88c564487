package handlersocket2.internal;

/**
 * Knows some ports of something else by what comes first: that of SQL by its greeting, which is a packet's length, the
 * number 0 and the version 10 of its protocol; and one with TLS by the head of an alert.
 */
final class Greetings {
    static final String NO_REPLY = "what came is no reply of HandlerSocket";

    private Greetings() {}

    static boolean isOfSql(byte[] bytes, int length) {
        return length > 5 && bytes[3] == 0 && bytes[4] == 10 && bytes[5] >= '0' && bytes[5] <= '9';
    }

    /** Whether what has come cannot even be the beginning of a reply. */
    static boolean isForeign(byte[] bytes, int length) {
        return length > 0 && (bytes[0] < '0' || bytes[0] > '9');
    }

    static String words(byte[] bytes, int length) {
        return NO_REPLY + hint(bytes, length);
    }

    /** What it looks like, or nothing. */
    static String hint(byte[] bytes, int length) {
        boolean tls = length > 2 && bytes[0] == 21 && bytes[1] == 3;
        return isOfSql(bytes, length) ? "; this looks like the port of SQL" : tls ? "; this looks like a port with TLS" : "";
    }
}
