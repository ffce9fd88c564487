package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.ConnectionEvent.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is read does not depend on where the bytes were cut. */
@SuppressWarnings("unchecked")
class ReadingTest {

    /** Each stream of the vectors, cut in two at each place. */
    @Test
    void streamsCutAnywhere() throws Exception {
        for (Map<String, Object> vector : Json.vectors("streams.json")) {
            String stream = (String) vector.get("stream");
            for (int cut = 0; cut <= stream.length(); cut++) {
                stream(vector, stream.substring(0, cut), stream.substring(cut));
            }
        }
    }

    private static void stream(Map<String, Object> vector, String one, String two) throws Exception {
        List<Object> lines = (List<Object>) vector.get("lines");
        CountDownLatch wrong = new CountDownLatch(vector.get("rest").equals("") ? 0 : 1);
        FakeServer.Conversation conversation = peer -> {
            // Each line is asked for by an index of its own, which has to be opened first.
            List<String> opened = new ArrayList<>();
            for (int i = 0; i < 2 * lines.size(); i++) {
                opened.add(peer.line());
            }
            StringBuilder answers = new StringBuilder();
            // Replies to P stand between the lines, so the lines are sent for the second round of finds.
            for (String line : opened) {
                String width = line.startsWith("P") ? "1" : width(lines, Integer.parseInt(line.split("\t")[0]) - 1);
                answers.append("0\t").append(width).append("\n");
            }
            peer.send(answers.toString());
            for (int i = 0; i < lines.size(); i++) {
                peer.line();
            }
            peer.send(one);
            Thread.sleep(1);
            peer.send(two);
            peer.line();
        };
        ClientListener listener = new ClientListener() {
            @Override
            public void connectionChanged(ConnectionEvent event) {
                if (event.what() == What.PROTOCOL_ERROR) {
                    wrong.countDown();
                }
            }
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().listener(listener).build()) {
            List<Index<Row>> indexes = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                int width = Integer.parseInt(width(lines, i));
                String[] columns = new String[width];
                for (int c = 0; c < width; c++) {
                    columns[c] = "c" + c;
                }
                indexes.add(client.index("t" + i, columns));
            }
            ask(client, indexes);
            List<CompletableFuture<List<Row>>> results = ask(client, indexes);
            for (int i = 0; i < results.size(); i++) {
                String line = (String) lines.get(i);
                CompletableFuture<List<Row>> result = results.get(i);
                if (line.startsWith("0")) {
                    String body = line.substring(0, line.length() - 1);
                    StringBuilder again = new StringBuilder("0\t" + width(lines, i));
                    for (Row row : result.join()) {
                        for (int c = 0; c < row.size(); c++) {
                            again.append('\t').append(token(row.getBytes(c)));
                        }
                    }
                    assertEquals(body, again.toString());
                } else {
                    assertTrue(result.isCompletedExceptionally());
                }
            }
            assertTrue(wrong.await(5, TimeUnit.SECONDS));
        }
    }

    private static String width(List<Object> lines, int i) {
        String line = (String) lines.get(i);
        return line.startsWith("0") ? line.split("\t")[1].trim() : "1";
    }

    private static String token(byte[] value) {
        return new String(RandomRows.token(value), ISO_8859_1);
    }

    private static List<CompletableFuture<List<Row>>> ask(HandlerSocketClient client, List<Index<Row>> indexes) {
        Pipeline pipeline = client.pipeline();
        List<CompletableFuture<List<Row>>> results = new ArrayList<>();
        for (Index<Row> index : indexes) {
            results.add(pipeline.on(index).find(Find.eq(1)));
        }
        pipeline.run();
        return results;
    }

    /** Random rows in random pieces, by find and row by row. */
    @Test
    void randomRowsInRandomPieces() throws Exception {
        for (int seed = 0; seed < 60; seed++) {
            RandomRows rows = new RandomRows(seed);
            Random random = new Random(seed);
            FakeServer.Conversation conversation = peer -> {
                peer.line();
                String reply = "0\t1\n" + rows.reply();
                peer.line();
                for (int at = 0; at < reply.length(); ) {
                    int end = Math.min(reply.length(), at + 1 + random.nextInt(random.nextInt(400) + 1));
                    peer.send(reply.substring(at, end));
                    at = end;
                }
                peer.line();
            };
            try (FakeServer server = new FakeServer(conversation);
                    HandlerSocketClient client = server.client().build()) {
                Index<Row> index = client.index("t", rows.columns());
                rows.check(index.find(Find.ge(1).limit(100_000)));
                List<Row> streamed = new ArrayList<>();
                try (RowIterator<Row> iterator = index.iterate(Find.ge(1).limit(100_000))) {
                    iterator.forEachRemaining(streamed::add);
                }
                rows.check(streamed);
            }
        }
    }

    /** Whatever is answered, a call ends, and with one of our errors. */
    @Test
    void brokenRepliesEndCalls() throws Exception {
        for (int seed = 0; seed < 150; seed++) {
            Random random = new Random(seed);
            StringBuilder reply = new StringBuilder("0\t1\n" + new RandomRows(seed).reply());
            for (int i = 0; i <= random.nextInt(3); i++) {
                int at = random.nextInt(reply.length());
                switch (random.nextInt(3)) {
                    case 0 -> reply.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> reply.deleteCharAt(at);
                    default -> reply.insert(at, "\t\n\u0001\u00000".charAt(random.nextInt(5)));
                }
            }
            FakeServer.Conversation conversation = peer -> {
                peer.line();
                peer.line();
                peer.send(reply.toString());
            };
            try (FakeServer server = new FakeServer(conversation);
                    HandlerSocketClient client = server.client().timeout(Duration.ofSeconds(5)).build()) {
                Index<Row> index = client.index("t", new RandomRows(seed).columns());
                for (boolean streamed : new boolean[] {false, true}) {
                    try {
                        Find find = Find.ge(1).limit(9);
                        if (streamed) {
                            index.iterate(find).forEachRemaining(Row::toMap);
                        } else {
                            index.find(find).forEach(Row::toMap);
                        }
                    } catch (RuntimeException problem) {
                        assertTrue(problem instanceof Failure, "seed " + seed + ": " + problem);
                        assertTrue(((Failure) problem).kind() != Failure.Kind.TIMEOUT, "seed " + seed);
                    }
                }
            }
        }
    }

    /** A slow consumer of a large result holds up the server, and not the client's memory. */
    @Test
    void iteratingHoldsUpTheServer() throws Exception {
        int rows = 400_000;
        long[] sent = new long[1];
        FakeServer.Conversation conversation = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1");
            String value = "\t" + "x".repeat(99);
            String piece = value.repeat(1000);
            for (int i = 0; i < rows / 1000; i++) {
                peer.send(piece);
                sent[0] += piece.length();
            }
            peer.send("\n");
            peer.line();
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().build();
                RowIterator<String> iterator =
                        client.index("t", "a").as(String.class).iterate(Find.ge(1).limit(rows))) {
            assertTrue(iterator.hasNext());
            Thread.sleep(300);
            assertTrue(sent[0] < 30_000_000, "the server could send " + sent[0]);
            int count = 0;
            while (iterator.hasNext()) {
                assertEquals(99, iterator.next().length());
                count++;
            }
            assertEquals(rows, count);
        }
    }

    @Test
    void anUnfinishedRowDoesNotFillTheMemory() throws Exception {
        FakeServer.Conversation conversation = peer -> {
            peer.line();
            peer.line();
            peer.send("0\t1\n0\t1\t" + "x".repeat(100_000));
            peer.line();
        };
        try (FakeServer server = new FakeServer(conversation);
                HandlerSocketClient client = server.client().maxReplyBytes(10_000).build();
                RowIterator<Row> iterator = client.index("t", "a").iterate(Find.ge(1).limit(5))) {
            assertThrows(ProtocolException.class, iterator::hasNext);
        }
    }

    @Test
    void rowsAreRight() {
        RandomRows rows = new RandomRows(1);
        assertArrayEquals(new byte[] {1, 0x40}, RandomRows.token(new byte[] {0}));
        assertTrue(rows.reply().endsWith("\n"));
    }
}
