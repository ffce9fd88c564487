package handlersocket2.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import handlersocket2.Json;
import handlersocket2.UsageException;
import handlersocket2.internal.Reply.Expect;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The vectors that all clients share: values, requests, replies. */
@SuppressWarnings("unchecked")
class VectorsTest {

    private static byte[] bytes(Object latin) {
        return ((String) latin).getBytes(ISO_8859_1);
    }

    private static Object value(Object latin) {
        return latin == null ? null : bytes(latin);
    }

    private static List<Object> values(Object list) {
        List<Object> result = new ArrayList<>();
        if (list != null) {
            ((List<Object>) list).forEach(item -> result.add(value(item)));
        }
        return result;
    }

    private static long number(Map<String, Object> from, String name, long usual) {
        return from.containsKey(name) ? ((BigInteger) from.get(name)).longValue() : usual;
    }

    private static Reply parse(String line, Expect expect, int columns) throws Reply.WrongReply {
        byte[] all = line.getBytes(ISO_8859_1);
        return Reply.parse(all, 0, all.length - 1, expect, columns);
    }

    @Test
    void values() throws Exception {
        for (Map<String, Object> vector : Json.vectors("values.json")) {
            String token = (String) vector.get("token");
            if (vector.containsKey("error")) {
                assertThrows(Reply.WrongReply.class, () -> parse("0\t1\t" + token + "\n", Expect.ROWS, 1));
                continue;
            }
            Object value = value(vector.get("value"));
            LineWriter line = new LineWriter(1);
            line.value(value);
            assertEquals("\t" + token, new String(line.toByteArray(), ISO_8859_1));
            List<Object> tokens = new ArrayList<>(List.of(token));
            tokens.addAll((List<Object>) vector.getOrDefault("accepts", List.of()));
            for (Object accepted : tokens) {
                Reply reply = parse("0\t1\t" + accepted + "\n", Expect.ROWS, 1);
                assertArrayEquals((byte[]) value, reply.bytes(0));
            }
        }
    }

    @Test
    void textIsWrittenAsItsUtf8() {
        for (Map<String, Object> vector : Json.vectors("values.json")) {
            Object value = vector.get("value");
            if (value == null || !new String(bytes(value), UTF_8).equals(new String(bytes(value), UTF_8).replace("\uFFFD", ""))) {
                continue;
            }
            LineWriter line = new LineWriter(1);
            line.value(new String(bytes(value), UTF_8));
            assertEquals("\t" + vector.get("token"), new String(line.toByteArray(), ISO_8859_1));
        }
    }

    @Test
    void requests() {
        int written = 0;
        List<Map<String, Object>> vectors = new ArrayList<>(Json.vectors("requests.json"));
        vectors.addAll(Json.vectors("new_requests.json"));
        for (Map<String, Object> vector : vectors) {
            List<Object> writes = (List<Object>) vector.get("writes");
            Map.Entry<String, Object> request =
                    ((Map<String, Object>) vector.get("request")).entrySet().iterator().next();
            Map<String, Object> members = (Map<String, Object>) request.getValue();
            if (writes.isEmpty()) {
                continue;
            }
            String line = new String(write(request.getKey(), members), ISO_8859_1);
            assertEquals(writes.get(0), line, (String) vector.get("why"));
            written++;
        }
        assertTrue(written > 90);
    }

    private static byte[] write(String kind, Map<String, Object> members) {
        LineWriter line = new LineWriter();
        switch (kind) {
            case "open_index" -> {
                IndexDef.Key key = new IndexDef.Key(
                        utf8(members.get("database")), utf8(members.get("table")), utf8(members.get("index")),
                        names(members.get("columns")), names(members.get("filter_columns")));
                line.raw("P\t").number(number(members, "id", 0));
                line.raw(new String(IndexDef.tail(key), ISO_8859_1));
            }
            case "auth" -> {
                if (members.containsKey("user")) {
                    line.raw("A\t2").value(value(members.get("user"))).value(value(members.get("secret"))).raw('\n');
                } else {
                    line.raw("A\t1").value(value(members.get("secret"))).raw('\n');
                }
            }
            case "insert" -> {
                line.number(number(members, "id", 0));
                RequestWriter.insert(line, values(members.get("values")));
            }
            case "insert_rows" -> {
                line.number(number(members, "id", 0));
                List<List<?>> rows = new ArrayList<>();
                ((List<Object>) members.get("rows")).forEach(row -> rows.add(values(row)));
                RequestWriter.insertRows(
                        line, rows, (String) members.getOrDefault("else", "fail"), assigned(members), filters(members));
            }
            case "find" -> {
                line.number(number(members, "id", 0));
                find(line, members);
            }
            default -> fail("unknown kind " + kind);
        }
        return line.toByteArray();
    }

    private static String utf8(Object latin) {
        return new String(bytes(latin), UTF_8);
    }

    private static List<String> names(Object list) {
        return list == null ? List.of() : ((List<Object>) list).stream().map(VectorsTest::utf8).toList();
    }

    private static void find(LineWriter line, Map<String, Object> members) {
        Map<String, Object> in = (Map<String, Object>) members.get("in");
        Map<String, Object> modify = (Map<String, Object>) members.get("modify");
        Object answer = members.get("answer");
        long usual = "count".equals(answer) ? 0 : 1;
        RequestWriter.Selection selection = new RequestWriter.Selection(
                (String) members.get("op"), values(members.get("key")).toArray(), ends(members),
                number(members, "limit", usual), usual, number(members, "offset", 0),
                in == null ? 0 : (int) number(in, "key_part", 0), in == null ? null : values(in.get("values")),
                filters(members));
        if (answer != null) {
            RequestWriter.answer(line, selection, answer.equals("count") ? 'C' : 'E');
            return;
        }
        String word = modify == null ? null
                : modify.get("op") + (Boolean.TRUE.equals(modify.get("rows_before")) ? "?" : "")
                        + (Boolean.TRUE.equals(modify.get("rows_after")) ? "!" : "");
        if (modify != null && modify.get("op").equals("set")) {
            RequestWriter.assign(line, selection, word, assigned(modify));
        } else {
            RequestWriter.find(line, selection, word, modify == null ? List.of() : values(modify.get("values")));
        }
    }

    private static List<RequestWriter.End> ends(Map<String, Object> members) {
        List<RequestWriter.End> ends = new ArrayList<>();
        for (String side : List.of("lower", "upper")) {
            Map<String, Object> end = (Map<String, Object>) members.get(side);
            if (end != null) {
                String op = (side.equals("lower") ? ">" : "<") + (Boolean.TRUE.equals(end.get("open")) ? "" : "=");
                ends.add(new RequestWriter.End(op, value(end.get("value"))));
            }
        }
        if (members.containsKey("prefix")) {
            ends.add(new RequestWriter.End("^", value(members.get("prefix"))));
        }
        return ends;
    }

    private static List<RequestWriter.Filter> filters(Map<String, Object> members) {
        List<RequestWriter.Filter> filters = new ArrayList<>();
        for (Object item : (List<Object>) members.getOrDefault("filters", List.of())) {
            Map<String, Object> filter = (Map<String, Object>) item;
            filters.add(new RequestWriter.Filter(
                    ((String) filter.get("kind")).charAt(0), (String) filter.get("op"), number(filter, "column", 0),
                    value(filter.get("value"))));
        }
        return filters;
    }

    private static List<RequestWriter.Assigned> assigned(Map<String, Object> members) {
        List<RequestWriter.Assigned> all = new ArrayList<>();
        for (Object item : (List<Object>) members.getOrDefault("assignments", List.of())) {
            Map<String, Object> each = (Map<String, Object>) item;
            List<Object> values = new ArrayList<>();
            values.add(value(each.get("value")));
            if (each.containsKey("low")) {
                values.add(value(each.get("low")));
                values.add(value(each.get("high")));
            }
            all.add(new RequestWriter.Assigned(number(each, "column", 0), (String) each.get("how"), values));
        }
        return all;
    }

    @Test
    void replies() throws Exception {
        List<Map<String, Object>> vectors = new ArrayList<>(Json.vectors("replies.json"));
        vectors.addAll(Json.vectors("new_replies.json"));
        for (Map<String, Object> vector : vectors) {
            String why = (String) vector.get("why");
            String line = (String) vector.get("line");
            Expect expect = switch ((String) vector.getOrDefault("to", "find")) {
                case "find", "modify_rows_before", "modify_rows_after" -> Expect.ROWS;
                case "modify", "count" -> Expect.COUNT;
                case "exists" -> Expect.EXISTS;
                case "insert_rows" -> Expect.OUTCOMES;
                case "insert" -> Expect.ID;
                default -> Expect.NOTHING;
            };
            List<Object> outcomes = (List<Object>) vector.get("outcomes");
            int columns = outcomes != null ? outcomes.size() : (int) number(vector, "columns", -1);
            if (vector.containsKey("no_reply")) {
                int asked = (int) number(vector, "asked", -1);
                assertThrows(Reply.WrongReply.class, () -> parse(line, expect, asked), why);
                continue;
            }
            Reply reply = parse(line, expect, columns);
            Map<String, Object> error = (Map<String, Object>) vector.get("error");
            assertEquals(error == null ? 0 : number(error, "code", 0), reply.code, why);
            if (error != null) {
                assertEquals(error.get("text"), reply.errorText(), why);
            } else if (vector.containsKey("rows")) {
                rows((List<Object>) vector.get("rows"), reply);
                assertThrows(Reply.WrongReply.class, () -> parse(line, expect, columns + 1), why);
            } else if (outcomes != null) {
                outcomes(outcomes, reply);
            } else if (vector.containsKey("count")) {
                assertEquals(number(vector, "count", 0), reply.number, why);
            } else if (vector.containsKey("exists")) {
                assertEquals(Boolean.TRUE.equals(vector.get("exists")) ? 1 : 0, reply.number, why);
            } else if (vector.containsKey("modified")) {
                assertEquals(number(vector, "modified", 0), reply.number, why);
            } else if (vector.containsKey("id")) {
                assertEquals(vector.get("id") != null, reply.hasNumber, why);
                assertEquals(vector.get("id") == null ? 0 : number(vector, "id", 0), reply.number, why);
            }
        }
    }

    /** What it makes of them is tested by DescriptionTest. */
    @Test
    void descriptions() throws Exception {
        for (Map<String, Object> vector : Json.vectors("descriptions.json")) {
            String why = (String) vector.get("why");
            String line = (String) vector.get("line");
            List<String> columns = vector.get("columns") == null ? null : names(vector.get("columns"));
            if (columns != null && columns.contains("a\tb")) {
                // It can be answered, although this client cannot ask for it.
                columns = null;
            }
            IndexDef index =
                    new IndexDef(0, new IndexDef.Key("d", "t", "", columns, names(vector.get("filter_columns"))));
            byte[] bytes = line.getBytes(ISO_8859_1);
            Call<?> call = new Call<>(
                    Operation.DESCRIBE, index, new byte[0], new LineWriter(), Expect.DESCRIPTION, false, 0, 0, 0,
                    reply -> reply, null);
            if (vector.containsKey("no_reply")) {
                assertThrows(Reply.WrongReply.class, () -> call.read(bytes, 0, bytes.length - 1), why);
            } else {
                Map<String, Object> error = (Map<String, Object>) vector.get("error");
                Reply reply = call.read(bytes, 0, bytes.length - 1);
                assertEquals(error == null ? 0 : number(error, "code", 0), reply.code, why);
                assertEquals(error == null ? "" : error.get("text"), error == null ? "" : reply.errorText(), why);
            }
        }
    }

    private static void outcomes(List<Object> outcomes, Reply reply) {
        assertEquals(outcomes.size(), reply.rows());
        int at = 0;
        for (Object outcome : outcomes) {
            List<Object> pair = (List<Object>) outcome;
            assertEquals(pair.get(0), reply.text(at));
            assertEquals(pair.get(1) == null, reply.isNull(at + 1));
            if (pair.get(1) != null) {
                assertEquals(((BigInteger) pair.get(1)).longValue(), reply.idOf(at + 1));
            }
            at += 2;
        }
    }

    private static void rows(List<Object> rows, Reply reply) {
        assertEquals(rows.size(), reply.rows());
        int at = 0;
        for (Object row : rows) {
            for (Object value : (List<Object>) row) {
                if (value == null) {
                    assertNull(reply.bytes(at));
                    assertTrue(reply.isNull(at));
                } else {
                    assertArrayEquals(bytes(value), reply.bytes(at));
                }
                at++;
            }
        }
    }

    @Test
    void whatCannotBeMeantIsRefused() {
        LineWriter line = new LineWriter();
        for (Object wrong : new Object[] {Double.NaN, Float.POSITIVE_INFINITY, new Object(), "\uD800", java.time.Instant.now()}) {
            assertThrows(UsageException.class, () -> line.value(wrong), String.valueOf(wrong));
        }
        for (String name : List.of("a\tb", "a\nb", "a\rb", "a\0b")) {
            assertThrows(UsageException.class, () -> line.name(name));
        }
        IndexDef.Key comma = new IndexDef.Key("d", "t", "", List.of("a,b"), List.of());
        assertThrows(UsageException.class, () -> new IndexDef(0, comma));
        assertThrows(UsageException.class, () -> RequestWriter.insert(line, List.of()));
    }
}
