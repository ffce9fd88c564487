package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.fail;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Compares what calls give with what a scenario wants. */
@SuppressWarnings("unchecked")
final class ScenarioResults {
    private ScenarioResults() {}

    static List<List<String>> texts(List<Row> rows) {
        List<List<String>> texts = new ArrayList<>();
        for (Row row : rows) {
            String[] values = new String[row.size()];
            for (int i = 0; i < values.length; i++) {
                byte[] bytes = row.getBytes(i);
                values[i] = bytes == null ? null : new String(bytes, ISO_8859_1);
            }
            texts.add(Arrays.asList(values));
        }
        return texts;
    }

    /** The call has succeeded. */
    static void compare(Map<String, Object> gives, Object result) {
        if (gives.containsKey("rows")) {
            assertEquals(gives.get("rows"), texts((List<Row>) result));
        } else if (gives.containsKey("modified")) {
            assertEquals(((BigInteger) gives.get("modified")).longValue(), result);
        } else if (gives.containsKey("count")) {
            assertEquals(((BigInteger) gives.get("count")).longValue(), result);
        } else if (gives.containsKey("exists")) {
            assertEquals(gives.get("exists"), result);
        } else if (gives.containsKey("outcomes")) {
            assertEquals(outcomes((List<Object>) gives.get("outcomes")), result);
        } else if (gives.containsKey("described")) {
            assertEquals(gives.get("described"), described((Description) result));
        } else if (gives.containsKey("names")) {
            assertEquals(gives.get("names"), result);
        } else if (gives.containsKey("listed")) {
            assertEquals(gives.get("listed"), listed((List<ListedIndex>) result));
        } else if (gives.containsKey("pong")) {
            assertNull(result);
        } else if (gives.containsKey("pairs")) {
            List<Object> pairs = new ArrayList<>();
            ((Map<String, String>) result).forEach((name, value) -> pairs.add(List.of(name, value)));
            assertEquals(gives.get("pairs"), pairs);
        } else if (gives.containsKey("id")) {
            Object id = gives.get("id");
            assertEquals(
                    id == null ? OptionalLong.empty() : OptionalLong.of(((BigInteger) id).longValue()), result);
        } else {
            fail("there should have been the error " + gives.get("error") + " in place of " + result);
        }
    }

    private static List<Outcome> outcomes(List<Object> wanted) {
        List<Outcome> outcomes = new ArrayList<>();
        for (Object each : wanted) {
            List<Object> pair = (List<Object>) each;
            OptionalLong id = pair.get(1) == null
                    ? OptionalLong.empty() : OptionalLong.of(((BigInteger) pair.get(1)).longValue());
            outcomes.add(new Outcome(Outcome.Done.valueOf(((String) pair.get(0)).toUpperCase(Locale.ROOT)), id));
        }
        return outcomes;
    }

    /** The call has failed. */
    static void compare(Map<String, Object> gives, Exception problem) {
        Object wanted = gives.get("error");
        if (wanted == null || !(problem instanceof Failure failure)) {
            throw new AssertionError("an error that should not be", problem);
        }
        String kind = failure.kind().name().toLowerCase(Locale.ROOT);
        boolean right = wanted instanceof List<?> several ? several.contains(kind) : kind.equals(wanted);
        if (!right) {
            throw new AssertionError("the error is " + kind + " in place of " + wanted, problem);
        }
        if (gives.containsKey("sent")) {
            assertEquals(gives.get("sent"), failure.wasSent(), "sent");
        }
        if (gives.containsKey("maybe_executed")) {
            assertEquals(gives.get("maybe_executed"), failure.maybeExecuted(), "maybe executed");
            assertEquals(gives.get("maybe_executed"), !failure.isSafeToRetry());
        }
        if (problem instanceof ReplyException reply) {
            compare(gives, reply);
        }
    }

    private static void compare(Map<String, Object> gives, ReplyException reply) {
        Map<String, Object> got = new LinkedHashMap<>();
        got.put("code", BigInteger.valueOf(reply.code()));
        got.put("text", reply.text());
        got.put("line", BigInteger.valueOf(reply.line()));
        got.put("kind", reply.category().name().toLowerCase(Locale.ROOT));
        OptionalInt number = reply.number();
        got.put("number", number.isEmpty() ? null : BigInteger.valueOf(number.getAsInt()));
        got.put("sqlstate", reply.sqlState().orElse(null));
        Optional<String> message = reply.serverMessage();
        got.put("message", message.orElse(null));
        got.keySet().retainAll(gives.keySet());
        got.forEach((name, value) -> assertEquals(gives.get(name), value, name));
        message.ifPresent(words -> assertFalse(reply.toString().contains(words), "a logger would get the message"));
    }

    /** Indexes as the vectors write them. */
    private static List<Object> listed(List<ListedIndex> indexes) {
        List<Object> all = new ArrayList<>();
        for (ListedIndex index : indexes) {
            List<Object> parts = new ArrayList<>();
            for (ListedIndex.Part part : index.parts()) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("column", part.column());
                one.put("descends", part.descends());
                one.put("prefix", part.prefix());
                parts.add(one);
            }
            all.add(
                    Map.of("name", index.name(), "unique", index.unique(), "ordered", index.ordered(), "parts", parts));
        }
        return all;
    }

    /** A description as the vectors write it. */
    static Map<String, Object> described(Description description) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("columns", columns(description.columns()));
        all.put("filter_columns", columns(description.filterColumns()));
        all.put("key", columns(description.key()));
        return all;
    }

    private static List<Object> columns(List<Description.Column> columns) {
        List<Object> all = new ArrayList<>();
        for (Description.Column column : columns) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", column.name());
            one.put("type", column.type());
            one.put("nullable", column.nullable());
            one.put("unsigned", column.unsigned());
            one.put("decimals", column.decimals() == null ? null : BigInteger.valueOf(column.decimals()));
            one.put("charset", column.charset());
            all.add(one);
        }
        return all;
    }
}
