package handlersocket2;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The server answered an error: to a request, or to the log-in ({@link Failure.Kind#LOG_IN}). {@link #category()} is
 * what programs ask for. The message is for people: it ends with the table and the index of the request, or with the
 * address if a log-in is missing or wrong.
 */
public final class ReplyException extends HandlerSocketException {

    /** The class of errors to which an error belongs. */
    public enum Category {
        /** A row with the same unique key exists. */
        DUPLICATE,
        /** A foreign key does not allow it. */
        FOREIGN_KEY,
        /** A row or a table stayed locked, or there was a deadlock: try again. */
        LOCK,
        /** What was asked to be changed can only be read here. */
        READ_ONLY,
        /** This server does not serve requests now; another may. */
        ELSEWHERE,
        /** Not logged in, or the log-in was refused. */
        LOG_IN,
        /** The account may not do this. */
        PRIVILEGE,
        /** A value does not fit its column. */
        VALUE,
        /** There is no such table, index or column. */
        SCHEMA,
        /** A limit of the server was reached. */
        LIMIT,
        /** The request was interrupted. */
        INTERRUPTED,
        /** The request is wrong. */
        REQUEST,
        /** Anything else. */
        SERVER
    }

    /** Whether it is of use to ask again. */
    public enum Retry {
        /** The same request gets the same answer. */
        NO,
        /** It may succeed after a moment. */
        LATER,
        /** It may succeed on another server. */
        ELSEWHERE
    }

    /**
     * What the server says of an error, with the option {@code texts}.
     *
     * @param number SQL's number of the error; 0 if the server does not say it
     * @param sqlState SQL's five characters
     * @param message words that may contain values of a row
     */
    public record Texts(int number, @Nullable String sqlState, @Nullable String message) {
        /**
         * The number and the SQLSTATE. The message would get into logs.
         *
         * @return some words
         */
        @Override
        public String toString() {
            return "Texts(" + number + " " + sqlState + ")";
        }
    }

    /** The reply's first token. */
    private final int code;

    /** The reply's text. */
    private final String text;

    /** Which request of a group has failed. */
    private final int line;

    /** What the table of errors says about it. */
    private final ServerError meaning;

    /** SQL's number, if the server says it, or 0. */
    private final int sqlNumber;

    /** SQL's five characters, if the server or the table of errors says them. */
    private final @Nullable String sqlState;

    /** The server's words, if it says them. */
    private final @Nullable String serverMessage;

    /**
     * Makes one from what a reply says.
     *
     * @param logIn whether it was the reply to a log-in
     * @param modifies whether the request modifies rows
     * @param code the reply's first token
     * @param text the reply's text
     */
    public ReplyException(boolean logIn, boolean modifies, int code, String text) {
        this(logIn, modifies, code, text, 0, null, "");
    }

    /**
     * Makes one from what the reply to a request or to a group says.
     *
     * @param logIn whether it was the reply to a log-in
     * @param modifies whether the request modifies rows
     * @param code the reply's first token
     * @param text the reply's text
     * @param line the request of a group that has failed, from 1 on, or 0
     * @param texts what the server says about it, or null
     * @param where the names of what it is about, for the message, or an empty text
     */
    public ReplyException(
            boolean logIn, boolean modifies, int code, String text, int line, @Nullable Texts texts, String where) {
        this(logIn, modifies, code, text, line, texts, where, ServerError.of(code, text));
    }

    private ReplyException(
            boolean logIn,
            boolean modifies,
            int code,
            String text,
            int line,
            @Nullable Texts texts,
            String where,
            ServerError meaning) {
        super(
                logIn ? Kind.LOG_IN : Kind.REPLY,
                (line == 0 ? "" : "request " + line + " of the group: ") + "the server answered " + code + " " + text + ": "
                        + meaning.words() + (where.isEmpty() ? "" : ": " + where),
                null,
                !logIn,
                !logIn && modifies && meaning.maybeExecuted());
        this.code = code;
        this.text = text;
        this.line = line;
        this.meaning = meaning;
        this.sqlNumber = texts == null ? 0 : texts.number();
        this.sqlState = texts == null || texts.sqlState() == null ? meaning.sqlState() : texts.sqlState();
        this.serverMessage = texts == null ? null : texts.message();
    }

    /**
     * The reply's first token.
     *
     * @return 1, 2, 3, or a number that this client does not know
     */
    public int code() {
        return code;
    }

    /**
     * The reply's text: a word, or a number in decimal.
     *
     * @return the text
     */
    public String text() {
        return text;
    }

    /**
     * The request of a group that has failed.
     *
     * @return which it is, from 1 on; 0 if it is none, or the group as a whole
     */
    public int line() {
        return line;
    }

    /**
     * Whether a condition of a group was not met: no row where there must be one, or one where there must be none.
     *
     * @return true: nothing of the group was done
     */
    public boolean isUnmet() {
        return text.equals("unmet");
    }

    /**
     * The error's number: SQL's, if the server tells it ({@link ClientBuilder#texts}), or else the text, if that is one.
     *
     * @return SQL's number; without texts it may be the storage engine's, which is below 1000, or nothing
     */
    public OptionalInt number() {
        if (sqlNumber > 0) {
            return OptionalInt.of(sqlNumber);
        }
        boolean digits = !text.isEmpty() && text.length() <= 9 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return digits ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
    }

    /**
     * What the server says in words, with {@link ClientBuilder#texts}. It may contain values of a row, so it is no part
     * of {@link #getMessage()}: think of that before you log it.
     *
     * @return the words, or nothing if the server has not told them
     */
    public Optional<String> serverMessage() {
        return Optional.ofNullable(serverMessage);
    }

    /**
     * A name for the error, such as {@code duplicate_key}.
     *
     * @return the name, or the text of an error that this client does not know
     */
    public String name() {
        return meaning.name();
    }

    /**
     * The class of errors to which it belongs.
     *
     * @return the category
     */
    public Category category() {
        return meaning.category();
    }

    /**
     * Whether it is of use to ask again. Whether it is safe, {@link #isSafeToRetry()} says.
     *
     * @return whether, and where
     */
    public Retry retry() {
        return meaning.retry();
    }

    /**
     * SQL's five characters: those that the server tells ({@link ClientBuilder#texts}), or else those that such an error
     * usually has.
     *
     * @return the SQLSTATE, or nothing
     */
    public Optional<String> sqlState() {
        return Optional.ofNullable(sqlState);
    }

    @Override
    public String toString() {
        return "ReplyException(" + category().name().toLowerCase(Locale.ROOT) + "): " + getMessage();
    }
}
