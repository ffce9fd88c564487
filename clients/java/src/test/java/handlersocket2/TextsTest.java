package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The option texts: who says hello when, and what errors have. */
class TextsTest {
    private static final String DUPLICATE = "1\t4\t121\t1062\t23000\tDuplicate entry 'tops\u0001Icret' for key 'PRIMARY'\n";

    /** Answers everything, a find with a row, and a write with an error. Each connection ends behind so many finds. */
    private static FakeServer server(Queue<String> lines, String toHello, int finds) throws Exception {
        return new FakeServer(peer -> {
            int left = finds;
            for (String line = peer.line(); line != null; line = peer.line()) {
                lines.add(line.replace('\t', ' '));
                if (line.startsWith("H")) {
                    peer.send(toHello);
                } else if (line.startsWith("P")) {
                    peer.send("0\t1\n");
                } else if (line.contains("\t+\t")) {
                    peer.send(DUPLICATE);
                } else if (left-- > 0) {
                    peer.send("0\t1\tx\n");
                } else {
                    return;
                }
            }
        });
    }

    @Test
    void eachConnectionSaysHelloOnce() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        try (FakeServer server = server(lines, "0\t2\ttexts\t1\n", 2);
                HandlerSocketClient client = server.client().texts(true).retryReads(1).build()) {
            Index<String> index = client.index("t", "a").as(String.class);
            for (int i = 0; i < 3; i++) {
                assertEquals(Optional.of("x"), index.findOne(1));
            }
        }
        assertEquals(
                List.of("H texts", "P 1 db t PRIMARY a", "1 = 1 1", "1 = 1 1", "1 = 1 1",
                        "H texts", "P 1 db t PRIMARY a", "1 = 1 1"),
                List.copyOf(lines));
    }

    @Test
    void iterationsSayHelloToo() throws Exception {
        for (String toHello : List.of("0\t2\ttexts\t1\n", "2\t1\tcmd\n", "0\t2\n")) {
            Queue<String> lines = new ConcurrentLinkedQueue<>();
            try (FakeServer server = server(lines, toHello, 9);
                    HandlerSocketClient client = server.client().option("texts", "on").build()) {
                for (String table : List.of("t", "t", "u")) {
                    try (RowIterator<Row> rows = client.index(table, "a").iterate(Find.ge(1).limit(5))) {
                        assertEquals("x", rows.next().getString(0));
                        assertFalse(rows.hasNext());
                    }
                }
            }
            assertEquals(
                    List.of("H texts", "P 1 db t PRIMARY a", "1 >= 1 1 5", "1 >= 1 1 5", "P 2 db u PRIMARY a", "2 >= 1 1 5"),
                    List.copyOf(lines));
        }
    }

    @Test
    void iterationsCutAnywhere() throws Exception {
        String all = "0\t2\tplugin\t2.0.0\ttexts\t1\n0\t1\n0\t1\ta\tb\n";
        for (int cut = 0; cut <= all.length(); cut++) {
            int at = cut;
            try (FakeServer server = new FakeServer(peer -> {
                        for (int line = 0; line < 3; line++) {
                            peer.line();
                        }
                        peer.send(all.substring(0, at));
                        Thread.sleep(1);
                        peer.send(all.substring(at));
                        peer.line();
                    });
                    HandlerSocketClient client = server.client().texts(true).build()) {
                assertEquals(2, client.index("t", "a").stream(Find.ge(1).limit(5)).count());
            }
        }
    }

    @Test
    void anIterationThatFailsHasTexts() throws Exception {
        try (FakeServer server = new FakeServer(peer -> {
                    peer.line();
                    peer.line();
                    peer.line();
                    peer.send("0\t2\ttexts\t1\n2\t4\topen_table\t1146\t42S02\tTable 'db.t' doesn't exist\n");
                    peer.send("2\t4\tstmtnum\t1243\tHY000\tNo index is open by this number\n");
                    peer.line();
                });
                HandlerSocketClient client = server.client().texts(true).build()) {
            ReplyException error =
                    assertThrows(ReplyException.class, () -> client.index("t", "a").iterate(Find.ge(1)).hasNext());
            assertEquals("open_table", error.text());
            assertEquals(OptionalInt.of(1146), error.number());
            assertEquals(Optional.of("42S02"), error.sqlState());
            assertEquals(Optional.of("Table 'db.t' doesn't exist"), error.serverMessage());
        }
    }

    /** The reply to the first requests of a connection, cut in two at each place. */
    @Test
    void cutAnywhere() throws Exception {
        String all = "0\t2\tplugin\t2.0.0\ttexts\t1\n0\t1\n" + DUPLICATE;
        for (int cut = 0; cut <= all.length(); cut++) {
            int at = cut;
            try (FakeServer server = new FakeServer(peer -> {
                        for (int line = 0; line < 3; line++) {
                            peer.line();
                        }
                        peer.send(all.substring(0, at));
                        Thread.sleep(1);
                        peer.send(all.substring(at));
                        peer.line();
                    });
                    HandlerSocketClient client = server.client().texts(true).build()) {
                ReplyException error =
                        assertThrows(ReplyException.class, () -> client.index("t", "a").insert(List.of(1)));
                assertEquals(Optional.of("Duplicate entry 'tops\tcret' for key 'PRIMARY'"), error.serverMessage());
            }
        }
    }

    /** Neither what an error shows of itself nor what a hook and a logger get has the server's message. */
    @Test
    void theMessageIsNotLogged() throws Exception {
        LinkedBlockingQueue<RequestEvent> events = new LinkedBlockingQueue<>();
        List<Object> seen = new ArrayList<>();
        ClientListener listener = new ClientListener() {
            @Override
            public void requestEnded(RequestEvent event) {
                events.add(event);
            }
        };
        try (FakeServer server = server(new ConcurrentLinkedQueue<>(), "0\t2\n", 9);
                HandlerSocketClient client = server.client().texts(true).listener(listener).build()) {
            ReplyException error = assertThrows(ReplyException.class, () -> client.index("t", "a").insert(List.of(1)));
            assertEquals(OptionalInt.of(1062), error.number());
            assertEquals("121", error.text());
            StringWriter shown = new StringWriter();
            error.printStackTrace(new PrintWriter(shown));
            seen.add(shown);
            seen.add(new ReplyException.Texts(1062, "23000", "tops\tcret"));
            assertTrue(error.serverMessage().orElseThrow().contains("tops\tcret"));
            // A caller may have its result before the listener is called.
            RequestEvent event = events.poll(5, TimeUnit.SECONDS);
            seen.add(event);
            seen.add(event.attributes());
        }
        assertEquals(List.of(), List.copyOf(events));
        seen.forEach(each -> assertFalse(each.toString().contains("tops"), each.toString()));
    }

    /** What a server says less, or says wrongly, is what errors.json says. */
    @Test
    void lessThanTexts() throws Exception {
        Map<String, String> wanted = Map.of(
                "1\t1\t121\n", "121 23000 -",
                "1\t4\t121\t\0\t\0\t\0\n", "121 23000 -",
                "1\t4\t121\tx\t42000\tm\n", "121 42000 m",
                "1\t4\t121\t99999999999999999999\t42000\t\n", "121 42000 ",
                "1\t3\t121\t1062\t23000\n", "121 23000 -",
                "1\t4\t\0\t1062\t23000\tm\n", "1062 23000 m");
        for (Map.Entry<String, String> each : wanted.entrySet()) {
            try (FakeServer server = new FakeServer(peer -> {
                        for (String line = peer.line(); line != null; line = peer.line()) {
                            peer.send(line.startsWith("H") ? "2\t1\tcmd\n" : line.startsWith("P") ? "0\t1\n" : each.getKey());
                        }
                    });
                    HandlerSocketClient client = server.client().texts(true).build()) {
                ReplyException error = assertThrows(ReplyException.class, () -> client.index("t", "a").findOne(1));
                assertEquals(
                        each.getValue(),
                        error.number().orElseThrow() + " " + error.sqlState().orElseThrow() + " "
                                + error.serverMessage().orElse("-"));
            }
        }
    }

    @Test
    void aGroupThatFails() throws Exception {
        String undone = "undone\t1180\tHY000\tAnother line of the group has failed";
        try (FakeServer server = new FakeServer(peer -> {
                    for (int line = 0; line < 6; line++) {
                        peer.line();
                    }
                    peer.send("2\t1\tcmd\n0\t1\n1\t5\t" + undone + "\t2\n1\t4\t" + undone + "\n" + DUPLICATE + "1\t4\t" + undone + "\n");
                    peer.line();
                });
                HandlerSocketClient client = server.client().texts(true).build()) {
            Index<Row> index = client.index("t", "a");
            Group group = client.group();
            List<CompletableFuture<?>> parts = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                parts.add(group.on(index).insert(List.of(i)));
            }
            ReplyException error = assertThrows(ReplyException.class, group::run);
            assertEquals(2, error.line());
            assertEquals(OptionalInt.of(1062), error.number());
            for (int part : new int[] {0, 2}) {
                Throwable reason = parts.get(part).handle((value, problem) -> problem).get(5, TimeUnit.SECONDS);
                assertEquals("undone", ((ReplyException) reason).text());
                assertEquals(2, ((ReplyException) reason).line());
                assertEquals(Optional.of("Another line of the group has failed"), ((ReplyException) reason).serverMessage());
            }
        }
    }

    /** Who has waited for a group finds all of its requests done. */
    @Test
    void allOfAGroupHasEnded() throws Exception {
        try (FakeServer server = new FakeServer(peer -> {
                    for (String line = peer.line(); line != null; line = peer.line()) {
                        if (!line.startsWith("G")) {
                            peer.send(line.startsWith("1\t") ? "1\t1\tmax_request_time\n" : "0\t1\n");
                        } else {
                            peer.send("1\t1\tmax_request_time\n");
                        }
                    }
                });
                HandlerSocketClient client = server.client().build()) {
            Index<Row> index = client.index("t", "a");
            for (int i = 0; i < 2000; i++) {
                Group group = client.group();
                List<CompletableFuture<?>> parts = new ArrayList<>();
                for (int part = 0; part < 20; part++) {
                    parts.add(group.on(index).insert(List.of(part)));
                }
                assertThrows(ReplyException.class, group::run);
                assertTrue(parts.stream().allMatch(CompletableFuture::isCompletedExceptionally), "group " + i);
            }
        }
    }

    /** A hello without options would turn them off. */
    @Test
    void helloNamesThemAgain() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        for (boolean texts : new boolean[] {true, false}) {
            try (FakeServer server = server(lines, "0\t2\tb\t1\ta\t2\tb\t3\n", 9);
                    HandlerSocketClient client = server.client().texts(texts).build()) {
                assertEquals("{b=1, a=2}", client.hello().toString());
                assertThrows(UnsupportedOperationException.class, () -> client.hello().clear());
            }
        }
        assertEquals(List.of("H texts", "H texts", "H texts", "H", "H"), List.copyOf(lines));
    }

    @Test
    void aHelloThatIsNone() throws Exception {
        for (String answer : List.of("0\t1\tx\n", "0\t2\t\0\tx\n", "0\t2\tx\t\0\n", "0\t2\tx\n", "hello\n")) {
            try (FakeServer server = server(new ConcurrentLinkedQueue<>(), answer, 9);
                    HandlerSocketClient plain = server.client().build();
                    HandlerSocketClient client = server.client().texts(true).build()) {
                assertThrows(ProtocolException.class, plain::hello, answer);
                assertThrows(ProtocolException.class, () -> client.index("t", "a").findOne(1), answer);
            }
        }
    }
}
