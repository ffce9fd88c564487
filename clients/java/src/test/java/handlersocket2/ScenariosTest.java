package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Plays every scenario of all clients, once with threads that wait and once with futures. */
@SuppressWarnings("unchecked")
class ScenariosTest {

    @TestFactory
    List<DynamicTest> scenarios() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Map<String, Object> scenario : Json.vectors("scenarios.json")) {
            for (Object cut : (List<Object>) scenario.getOrDefault("cuts", List.of(BigInteger.ZERO))) {
                for (boolean futures : new boolean[] {false, true}) {
                    String name = scenario.get("name") + " " + cut + (futures ? " with futures" : " with threads");
                    int at = ((BigInteger) cut).intValue();
                    tests.add(DynamicTest.dynamicTest(name, () -> new Player(scenario, at, futures).play()));
                }
            }
        }
        assertTrue(tests.size() > 100);
        return tests;
    }

    /** A call that was begun: how to wait for it, and how to give it up. */
    private record Begun(Callable<Object> result, Runnable cancel, long began) {}

    private static final class Player {
        private final Map<String, Object> scenario;
        private final PlayedServer server;
        private final boolean futures;
        private final Map<String, Begun> begun = new HashMap<>();
        private HandlerSocketClient client;

        Player(Map<String, Object> scenario, int cut, boolean futures) {
            this.scenario = scenario;
            this.server = new PlayedServer(cut);
            this.futures = futures;
        }

        void play() throws Exception {
            Throwable failure = null;
            try (server) {
                client = client();
                try (HandlerSocketClient closing = client) {
                    for (Object step : (List<Object>) scenario.get("steps")) {
                        step((Map<String, Object>) step);
                    }
                    server.finish();
                } catch (Throwable problem) {
                    failure = problem;
                }
                if (failure != null || !server.failures.isEmpty()) {
                    throw new AssertionError(scenario.get("why") + "; the servers say: " + server.failures, failure);
                }
            }
        }

        private HandlerSocketClient client() throws Exception {
            List<Address> addresses = new ArrayList<>();
            for (Object each : (List<Object>) scenario.get("servers")) {
                Map<String, Object> ports = (Map<String, Object>) each;
                addresses.add(Address.of("127.0.0.1", server.port(ports, "read"), server.port(ports, "write")));
            }
            ClientBuilder builder = HandlerSocketClient.builder()
                    .addresses(addresses)
                    .database("db")
                    .timeout(Duration.ofSeconds(5))
                    .connectTimeout(Duration.ofSeconds(5))
                    .backoff(Duration.ofMillis(1), Duration.ofMillis(10));
            ((Map<String, Object>) scenario.getOrDefault("options", Map.of())).forEach((name, value) -> {
                switch (name) {
                    case "user" -> builder.user((String) value);
                    case "password" -> builder.password((String) value);
                    default -> {
                        boolean time = name.endsWith("_ms");
                        builder.option(time ? name.replace("_ms", "") : name, value + (time ? "ms" : ""));
                    }
                }
            });
            return builder.build();
        }

        private void step(Map<String, Object> step) throws Exception {
            if (step.containsKey("result")) {
                Begun call = begun.get(step.get("result"));
                check(step.get("gives"), call);
            } else if (step.containsKey("cancel")) {
                begun.get(step.get("cancel")).cancel().run();
            } else if (step.containsKey("pipeline")) {
                pipeline((List<Object>) step.get("pipeline"), (List<Object>) step.get("gives"));
            } else if (step.containsKey("iterate")) {
                iterate(step);
            } else if (step.containsKey("close")) {
                client.close();
            } else if (step.containsKey("pause_ms")) {
                Thread.sleep(((BigInteger) step.get("pause_ms")).longValue());
            } else if (step.containsKey("signal")) {
                server.signal((String) step.get("signal"));
            } else if (step.containsKey("await")) {
                server.await((String) step.get("await"));
            } else {
                Begun call = begin(step);
                if (step.containsKey("call")) {
                    begun.put((String) step.get("call"), call);
                } else {
                    check(step.get("gives"), call);
                }
            }
        }

        private Index<Row> index(Map<String, Object> request, Map<String, Object> step) {
            Index<Row> index = "u".equals(request.get("index")) ? client.index("u", "a") : client.index("t", "a", "b");
            if (step.containsKey("timeout_ms")) {
                index = index.withTimeout(millis(step.get("timeout_ms")));
            }
            return step.containsKey("server_ms") ? index.within(millis(step.get("server_ms"))) : index;
        }

        private static Duration millis(Object number) {
            return Duration.ofMillis(((BigInteger) number).longValue());
        }

        /** What a step begins, waiting for it or not. */
        private record Work(Callable<Object> waits, Callable<CompletableFuture<?>> future) {}

        private Work work(Map<String, Object> step) {
            if (step.containsKey("hello")) {
                return new Work(client::hello, client::helloAsync);
            }
            if (step.containsKey("databases")) {
                return new Work(client::databases, client::databasesAsync);
            }
            if (step.containsKey("tables")) {
                String database = (String) step.get("tables");
                return new Work(() -> client.tables(database), () -> client.tablesAsync(database));
            }
            if (step.containsKey("indexes")) {
                List<String> of = (List<String>) step.get("indexes");
                return new Work(
                        () -> client.indexes(of.get(0), of.get(1)), () -> client.indexesAsync(of.get(0), of.get(1)));
            }
            if (step.containsKey("ping")) {
                return new Work(Executors.callable(client::ping), client::pingAsync);
            }
            if (step.containsKey("describe")) {
                IndexBuilder table = client.table("t");
                IndexBuilder asked = step.get("describe").equals("all") ? table : table.columns("a", "b");
                return new Work(asked::describe, asked::describeAsync);
            }
            if (step.containsKey("group")) {
                List<CompletableFuture<?>> parts = new ArrayList<>();
                Group group = group(step, parts);
                return new Work(() -> run(group, parts), () -> group.send().thenApply(nothing -> results(parts)));
            }
            Index<Row> index = index(request(step), step);
            return new Work(() -> sync(index, step), () -> async(index.async(), step));
        }

        private static Map<String, Object> request(Map<String, Object> step) {
            return (Map<String, Object>) Stream.of("find", "insert", "insert_rows", "iterate")
                    .map(step::get)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElseThrow();
        }

        private Begun begin(Map<String, Object> step) throws Exception {
            Work work = work(step);
            long now = System.nanoTime();
            if (futures) {
                CompletableFuture<?> future = work.future().call();
                return new Begun(() -> {
                    try {
                        return future.get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException problem) {
                        throw (Exception) problem.getCause();
                    }
                }, () -> future.cancel(true), now);
            }
            FutureTask<Object> task = new FutureTask<>(work.waits());
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
            return new Begun(() -> {
                try {
                    return task.get(20, TimeUnit.SECONDS);
                } catch (java.util.concurrent.ExecutionException problem) {
                    throw (Exception) problem.getCause();
                }
            }, thread::interrupt, now);
        }

        private Group group(Map<String, Object> step, List<CompletableFuture<?>> parts) {
            Group group = client.group();
            if (step.containsKey("timeout_ms")) {
                group.timeout(millis(step.get("timeout_ms")));
            }
            if (step.containsKey("server_ms")) {
                group.within(millis(step.get("server_ms")));
            }
            for (Object each : (List<Object>) step.get("group")) {
                Map<String, Object> one = (Map<String, Object>) each;
                Map<String, Object> modify = (Map<String, Object>) request(one).getOrDefault("modify", Map.of());
                Index<Row> index = index(request(one), one);
                parts.add(async(switch ((String) modify.getOrDefault("meets", "")) {
                    case "some" -> group.some(index);
                    case "none" -> group.none(index);
                    default -> group.on(index);
                }, one));
            }
            return group;
        }

        private static List<Object> results(List<CompletableFuture<?>> parts) {
            List<Object> results = new ArrayList<>();
            parts.forEach(part -> results.add(part.join()));
            return results;
        }

        private static Object run(Group group, List<CompletableFuture<?>> parts) {
            try {
                group.run();
            } catch (RuntimeException problem) {
                int line = problem instanceof ReplyException reply ? reply.line() : 0;
                for (int i = 0; i < parts.size(); i++) {
                    Throwable error = parts.get(i).handle((result, reason) -> reason).join();
                    if (line == 0 || line == i + 1) {
                        assertEquals(problem, error);
                    } else {
                        assertEquals("undone", ((ReplyException) error).text());
                        assertEquals(line, ((ReplyException) error).line());
                    }
                }
                throw problem;
            }
            return results(parts);
        }

        private static Object value(Object text) {
            if (text instanceof Map<?, ?> repeated) {
                int times = ((BigInteger) repeated.get("times")).intValue();
                return ((String) repeated.get("repeat")).repeat(times);
            }
            return text == null ? null : ((String) text).getBytes(ISO_8859_1);
        }

        private static List<Object> values(Object list) {
            List<Object> values = new ArrayList<>();
            ((List<Object>) list).forEach(item -> values.add(value(item)));
            return values;
        }

        private static Find find(Map<String, Object> request) {
            Find find = Find.where((String) request.getOrDefault("op", "="), values(request.get("key")).toArray());
            if (request.containsKey("limit")) {
                find = find.limit(((BigInteger) request.get("limit")).longValue());
            }
            if (request.containsKey("offset")) {
                find = find.offset(((BigInteger) request.get("offset")).longValue());
            }
            assertTrue(!request.containsKey("in") && !request.containsKey("filters"), "the driver does not know it");
            return find;
        }

        private static List<List<Object>> rows(Map<String, Object> step) {
            List<List<Object>> rows = new ArrayList<>();
            ((List<Object>) request(step).get("rows")).forEach(row -> rows.add(values(row)));
            return rows;
        }

        private static Duplicate duplicate(Map<String, Object> step) {
            return Duplicate.valueOf(((String) request(step).getOrDefault("else", "fail")).toUpperCase(Locale.ROOT));
        }

        private static Object sync(Index<Row> index, Map<String, Object> step) {
            if (step.containsKey("insert")) {
                return index.insert(values(((Map<String, Object>) step.get("insert")).get("values")));
            }
            if (step.containsKey("insert_rows")) {
                return index.insertMany(rows(step), duplicate(step));
            }
            Map<String, Object> request = (Map<String, Object>) step.get("find");
            Map<String, Object> modify = (Map<String, Object>) request.get("modify");
            Object answer = request.get("answer");
            if (answer != null) {
                return answer.equals("count") ? index.count(find(request)) : index.exists(find(request));
            }
            if (modify == null) {
                return index.find(find(request));
            }
            assertEquals("U", modify.get("op"));
            return index.update(find(request), values(modify.get("values")));
        }

        private static CompletableFuture<?> async(AsyncIndex<Row> index, Map<String, Object> step) {
            if (step.containsKey("insert")) {
                return index.insert(values(((Map<String, Object>) step.get("insert")).get("values")));
            }
            if (step.containsKey("insert_rows")) {
                return index.insertMany(rows(step), duplicate(step));
            }
            Map<String, Object> request = (Map<String, Object>) step.get("find");
            Map<String, Object> modify = (Map<String, Object>) request.get("modify");
            Object answer = request.get("answer");
            if (answer != null) {
                return answer.equals("count") ? index.count(find(request)) : index.exists(find(request));
            }
            if (modify == null) {
                return index.find(find(request));
            }
            return switch ((String) modify.get("op")) {
                case "lock" -> index.lock(find(request));
                case "D" -> index.delete(find(request));
                default -> index.update(find(request), values(modify.get("values")));
            };
        }

        private void pipeline(List<Object> requests, List<Object> gives) throws Exception {
            Pipeline pipeline = client.pipeline();
            List<CompletableFuture<?>> results = new ArrayList<>();
            for (Object each : requests) {
                Map<String, Object> step = (Map<String, Object>) each;
                results.add(async(pipeline.on(index(request(step), step)), step));
            }
            long now = System.nanoTime();
            pipeline.run();
            for (int i = 0; i < results.size(); i++) {
                CompletableFuture<?> result = results.get(i);
                assertTrue(result.isDone());
                check((Map<String, Object>) gives.get(i), new Begun(() -> {
                    try {
                        return result.join();
                    } catch (CompletionException problem) {
                        throw (Exception) problem.getCause();
                    }
                }, () -> {}, now));
            }
        }

        private void iterate(Map<String, Object> step) throws Exception {
            Map<String, Object> request = (Map<String, Object>) step.get("iterate");
            Map<String, Object> gives = (Map<String, Object>) step.get("gives");
            int take = step.containsKey("take") ? ((BigInteger) step.get("take")).intValue() : Integer.MAX_VALUE;
            List<Row> rows = new ArrayList<>();
            try (RowIterator<Row> iterator = index(request, step).iterate(find(request))) {
                while (rows.size() < take && iterator.hasNext()) {
                    rows.add(iterator.next());
                    if (rows.size() == 1 && step.containsKey("signal_after_first")) {
                        server.signal((String) step.get("signal_after_first"));
                    }
                }
                assertTrue(!gives.containsKey("error"), "there should have been an error");
            } catch (RuntimeException problem) {
                ScenarioResults.compare(gives, problem);
            }
            assertEquals(gives.get("rows"), ScenarioResults.texts(rows));
        }

        private static void check(Object wanted, Begun call) throws Exception {
            if (wanted instanceof List<?> several) {
                List<Object> results = (List<Object>) call.result().call();
                assertEquals(several.size(), results.size());
                for (int i = 0; i < results.size(); i++) {
                    Object result = results.get(i);
                    check(several.get(i), new Begun(() -> result, () -> {}, call.began()));
                }
                return;
            }
            Map<String, Object> gives = (Map<String, Object>) wanted;
            Object result;
            try {
                result = call.result().call();
            } catch (Exception problem) {
                ScenarioResults.compare(gives, problem);
                long took = (System.nanoTime() - call.began()) / 1_000_000;
                if (gives.containsKey("after_ms")) {
                    assertTrue(took >= ((BigInteger) gives.get("after_ms")).longValue(), "too early: " + took);
                }
                if (gives.containsKey("within_ms")) {
                    assertTrue(took <= ((BigInteger) gives.get("within_ms")).longValue(), "too late: " + took);
                }
                return;
            }
            ScenarioResults.compare(gives, result);
        }
    }
}
