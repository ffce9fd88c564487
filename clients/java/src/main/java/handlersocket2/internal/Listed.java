package handlersocket2.internal;

import org.jspecify.annotations.Nullable;

/** Lists of names and of indexes, and the echo of a ping: their lines, and what is no reply to them. */
public final class Listed {
    /** Values of a row: the index, whether it is unique and ordered, the column, whether it descends and is a prefix. */
    public static final int WIDTH = 6;

    private static final String WORD = "ping";
    private static final int UNKNOWN = 2;

    private Listed() {}

    /** The line that asks for what stands below these names. */
    public static LineWriter line(String... names) {
        LineWriter line = new LineWriter().raw('L');
        for (String name : names) {
            line.raw('\t').name(name);
        }
        return line.raw('\n');
    }

    /** The line that asks whether the server is there. */
    public static LineWriter ping() {
        return new LineWriter().raw("echo\t").raw(WORD).raw('\n');
    }

    /** Refuses what is no list of names. */
    static void checkNames(Reply reply) throws Reply.WrongReply {
        for (int i = 0; i < reply.values(); i++) {
            if (reply.isNull(i)) {
                throw new Reply.WrongReply("the reply has NULL in place of a name");
            }
        }
    }

    /** Refuses what is no list of indexes. */
    static void checkIndexes(Reply reply) throws Reply.WrongReply {
        for (int at = 0; at < reply.values(); at += WIDTH) {
            boolean right = !reply.isNull(at) && isTruth(reply.text(at + 1)) && isTruth(reply.text(at + 2))
                    && isTruth(reply.text(at + 4)) && isTruth(reply.text(at + 5));
            if (!right) {
                throw new Reply.WrongReply("the reply is no list of indexes");
            }
        }
    }

    /** Refuses what is no echo of a ping. */
    static void checkEcho(Reply reply) throws Reply.WrongReply {
        if (reply.values() != 1 || !WORD.equals(reply.text(0))) {
            throw new Reply.WrongReply("the reply is no echo of a ping");
        }
    }

    /** A server that does not know the request is there, too. */
    static Reply ofPing(Reply reply) {
        boolean unknown = reply.code == UNKNOWN && reply.errorText().equals("cmd");
        return unknown ? new Reply(new byte[0], new int[1], 0, 0, 0, 0, false) : reply;
    }

    private static boolean isTruth(@Nullable String value) {
        return "0".equals(value) || "1".equals(value);
    }
}
