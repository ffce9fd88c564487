package handlersocket2;

import handlersocket2.internal.IndexDef;

/** What the rows of an index have in common: the columns, and the types that the caller has given them. */
record RowShape(IndexDef index, Class<?>[] types) {

    int position(String column) {
        return index.position(column);
    }

    String name(int position) {
        return index.columns().get(position);
    }
}
