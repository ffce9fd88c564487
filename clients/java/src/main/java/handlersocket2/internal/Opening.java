package handlersocket2.internal;

import org.jspecify.annotations.Nullable;

/** A P that was sent on a connection. Its lane's lock guards it. */
final class Opening {
    /** What stands in front of the id. */
    static final byte[] WORD = {'P', '\t'};

    final IndexDef index;
    final int id;
    /** Null until it has come. */
    @Nullable Reply reply;

    Opening(IndexDef index, int id) {
        this.index = index;
        this.id = id;
    }

    boolean failed() {
        return reply != null && reply.code != 0;
    }
}
