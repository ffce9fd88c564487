package handlersocket2.internal;

/** Knows the port of SQL by its greeting: a packet's length, the number 0, the version 10 of its protocol. */
final class Greetings {
    private Greetings() {}

    static boolean isOfSql(byte[] bytes, int length) {
        return length > 5 && bytes[3] == 0 && bytes[4] == 10 && bytes[5] >= '0' && bytes[5] <= '9';
    }

    /** Whether what has come cannot even be the beginning of a reply. */
    static boolean isForeign(byte[] bytes, int length) {
        return length > 0 && (bytes[0] < '0' || bytes[0] > '9');
    }

    static String words(byte[] bytes, int length) {
        return isOfSql(bytes, length)
                ? "what came is no reply of HandlerSocket; this looks like the port of SQL"
                : "what came is no reply of HandlerSocket";
    }
}
