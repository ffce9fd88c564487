package handlersocket2;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an error of the server means. The table is the resource errors.txt, one error a line; a test compares it with
 * the vectors that all clients share.
 *
 * @param code the first number of the reply
 * @param text the text of the reply
 * @param name what the error is called
 * @param category what kind of error it is
 * @param retry whether it helps to ask again, and where
 * @param sqlState the SQLSTATE of the same error in SQL; null if there is none
 * @param maybeExecuted whether a modification may have been executed
 * @param words what the error says to a reader
 */
record ServerError(
        int code,
        String text,
        String name,
        ReplyException.Category category,
        ReplyException.Retry retry,
        @Nullable String sqlState,
        boolean maybeExecuted,
        String words)
        implements Serializable {

    private static final Map<String, ServerError> TABLE = read();

    /** An error that is not in the table has a category all the same. */
    static ServerError of(int code, String text) {
        ServerError known = TABLE.get(text);
        if (known != null) {
            return known;
        }
        ReplyException.Category category =
                switch (code) {
                    case 2 -> ReplyException.Category.REQUEST;
                    case 3 -> ReplyException.Category.LOG_IN;
                    default -> ReplyException.Category.SERVER;
                };
        return new ServerError(code, text, text, category, ReplyException.Retry.NO, null, false, "an error");
    }

    static Map<String, ServerError> table() {
        return TABLE;
    }

    private static Map<String, ServerError> read() {
        Map<String, ServerError> table = new LinkedHashMap<>();
        try (InputStream stream = ServerError.class.getResourceAsStream("errors.txt");
                BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] part = line.split("\\|", 8);
                ServerError error =
                        new ServerError(
                                Integer.parseInt(part[0]),
                                part[1],
                                part[2],
                                ReplyException.Category.valueOf(part[3].toUpperCase(Locale.ROOT)),
                                ReplyException.Retry.valueOf(part[4].toUpperCase(Locale.ROOT)),
                                part[5].equals("-") ? null : part[5],
                                part[6].equals("maybe"),
                                part[7]);
                table.put(error.text(), error);
            }
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
        return Map.copyOf(table);
    }
}
