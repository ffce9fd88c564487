package handlersocket2;

import java.util.Locale;

/** What is done about a row that is there already, because it has the value of a new one in a primary or unique key. */
public enum Duplicate {
    /** The request fails: none of its rows is inserted. */
    FAIL,
    /** The new row is left out. */
    IGNORE,
    /** The row that is there is deleted. */
    REPLACE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
