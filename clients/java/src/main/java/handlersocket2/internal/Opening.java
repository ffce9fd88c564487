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

    /** It was refused because its connection can open no more: another connection can. */
    boolean full;

    boolean failed() {
        return reply != null && reply.code != 0;
    }
}
