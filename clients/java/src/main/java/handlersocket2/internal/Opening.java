package handlersocket2.internal;

/** A P that was sent on a connection. Its lane's lock guards it. */
final class Opening {
    final IndexDef index;
    final int id;
    boolean answered;
    /** 0 if it succeeded. */
    int code;

    String text = "";

    Opening(IndexDef index, int id) {
        this.index = index;
        this.id = id;
    }

    boolean failed() {
        return answered && code != 0;
    }
}
