package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The table of errors is that of the vectors, and unknown errors have a category, too. */
class ErrorsTest {

    @Test
    void theTableIsThatOfAllClients() {
        List<Map<String, Object>> vectors = Json.vectors("errors.json");
        assertEquals(vectors.size(), ServerError.table().size());
        for (Map<String, Object> vector : vectors) {
            ServerError error = ServerError.table().get(vector.get("text"));
            assertEquals(((BigInteger) vector.get("code")).intValue(), error.code());
            assertEquals(vector.get("name"), error.name());
            assertEquals(vector.get("kind"), error.category().name().toLowerCase(Locale.ROOT));
            assertEquals(vector.get("retry"), error.retry().name().toLowerCase(Locale.ROOT));
            assertEquals(vector.get("words"), error.words());
            assertEquals(vector.get("sqlstate"), error.sqlState());
            assertEquals(vector.getOrDefault("maybe_executed", false), error.maybeExecuted());
        }
    }

    @Test
    void anUnknownErrorHasACategory() {
        assertEquals(ReplyException.Category.SERVER, new ReplyException(false, true, 1, "4711").category());
        assertEquals(ReplyException.Category.REQUEST, new ReplyException(false, true, 2, "new").category());
        assertEquals(ReplyException.Category.LOG_IN, new ReplyException(true, false, 3, "new").category());
        assertEquals(4711, new ReplyException(false, true, 1, "4711").number().orElseThrow());
        assertTrue(new ReplyException(false, true, 1, "").number().isEmpty());
    }

    @Test
    void whetherItIsSafeToRetry() {
        assertFalse(new ReplyException(false, true, 1, "1317").isSafeToRetry());
        assertTrue(new ReplyException(false, false, 1, "1317").isSafeToRetry());
        assertTrue(new ReplyException(false, true, 1, "121").isSafeToRetry());
        assertFalse(new ReplyException(true, false, 3, "unauth").wasSent());
    }
}
