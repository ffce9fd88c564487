package handlersocket2;

import java.util.OptionalLong;

/**
 * What was done of a row that was sent.
 *
 * @param done what it was
 * @param id the AUTO_INCREMENT value of the row that is in the table now, as 64 bits without a sign, if there is any
 */
public record Outcome(Done done, OptionalLong id) {

    /** What can be done of a row. */
    public enum Done {
        /** It is in the table now. */
        INSERTED,
        /** The row that was there was changed. */
        UPDATED,
        /** The row that is there had these values already. */
        UNCHANGED,
        /** It was left out. */
        IGNORED,
        /** It is in the table now, in place of another one. */
        REPLACED,
        /** The row that is there does not meet the filters, and was left as it is. */
        UNMET
    }
}
