import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** An application's work by Jedis or Lettuce, as published. Prints what each step has answered, as JSON. */
public final class Application {
    /** What both libraries can do. */
    interface Client extends AutoCloseable {
        String ping();

        Map<String, String> all(String key);

        String get(String key, String field);

        List<String> some(String key, String... fields);

        Object set(String key, Map<String, String> fields);

        Object setBytes(String key, String field, byte[] value);

        byte[] getBytes(String key, String field);

        long add(String key, String field, long amount);

        long deleteField(String key, String field);

        long exists(String... keys);

        long delete(String... keys);

        /** The keys of a pattern, one row a page. */
        List<String> scan(String pattern);

        /** A name is read and a salary is raised, so many times, together; as a transaction or not. */
        List<Object> readAndRaise(String key, int times, boolean isUnit);

        /** Two names are set in a transaction. */
        Object setTwice(String key, String first, String second);

        @Override
        void close();
    }

    record Place(int port, String user, String password, String authority) {}

    interface Call {
        Object run() throws Exception;
    }

    private static final int CALLERS = 20;
    private static final int TURNS = 50;
    private static final String KEY = "app.employee:1";

    /** Its arguments: the client, the port, an account, its password, and the file of the authority for TLS. */
    public static void main(String[] arguments) throws Exception {
        String how = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        try (Client client = open(how, new Place(port, null, null, null))) {
            work(client);
        }
        String user = arguments[2];
        String password = arguments[3];
        for (String way : List.of("log in", "log in by TLS")) {
            String authority = way.equals("log in") ? null : arguments[4];
            try (Client other = open(how, new Place(port, user, password, authority))) {
                tell(way, () -> other.get("app.employee:2", "name"));
                tell(way + ", what is not allowed", () -> other.get("app.secret:1", "v"));
            }
        }
        tell("wrong password", () -> {
            try (Client wrong = open(how, new Place(port, user, "wrong", null))) {
                return wrong.ping();
            } catch (Exception error) {
                return chain(error).contains("WRONGPASS");
            }
        });
        System.exit(0);
    }

    private static Client open(String how, Place place) throws Exception {
        return how.startsWith("jedis") ? new JedisClient(place, how.endsWith("resp3")) : new LettuceClient(place);
    }

    private static void work(Client client) throws Exception {
        tell("ping", () -> client.ping().equals("PONG"));
        tell("read all", () -> client.all(KEY));
        tell("read one", () -> client.get(KEY, "name"));
        tell("read NULL", () -> client.get(KEY, "photo"));
        tell("read some", () -> client.some(KEY, "name", "photo", "salary"));
        tell("read nothing", () -> client.all("app.employee:99"));
        Map<String, String> eve = new LinkedHashMap<>();
        eve.put("name", "Eve");
        eve.put("salary", "5");
        tell("insert", () -> client.set("app.employee:10", eve));
        tell("update", () -> client.set("app.employee:10", Map.of("name", "Eva")));
        byte[] photo = new byte[256];
        for (int i = 0; i < photo.length; i++) {
            photo[i] = (byte) i;
        }
        tell("set bytes", () -> client.setBytes(KEY, "photo", photo));
        tell("read bytes", () -> HexFormat.of().formatHex(client.getBytes(KEY, "photo")));
        tell("add", () -> client.add(KEY, "salary", 50));
        tell("delete a field", () -> client.deleteField(KEY, "photo"));
        tell("exists", () -> client.exists(KEY, "app.employee:99"));
        tell("delete", () -> client.delete("app.employee:10", "app.employee:99"));
        tell("wrong type", () -> client.add(KEY, "name", 1));
        tell("pipeline", () -> client.readAndRaise("app.employee:2", 20, false));
        tell("unit", () -> client.readAndRaise("app.employee:2", 1, true));
        tell("unit that fails", () -> {
            try {
                return client.setTwice(KEY, "x", "x".repeat(50));
            } catch (Exception error) {
                return chain(error).contains("1406");
            }
        });
        tell("after it", () -> client.get(KEY, "name"));
        tell("scan", () -> client.scan("app.employee:*"));
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        for (int caller = 0; caller < CALLERS; caller++) {
            callers.submit(() -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    client.add("app.employee:3", "salary", 1);
                }
            });
        }
        callers.shutdown();
        if (!callers.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the callers have not ended");
        }
        tell("many callers", () -> client.get("app.employee:3", "salary"));
    }

    private static void tell(String step, Call call) {
        Object value;
        try {
            value = call.run();
        } catch (Exception error) {
            value = "error: " + error.getMessage();
        }
        System.out.println("[" + json(step) + ", " + json(value) + "]");
    }

    private static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof byte[] bytes) {
            return json(new String(bytes, StandardCharsets.UTF_8));
        }
        if (value instanceof Map<?, ?> map) {
            return "{" + String.join(", ", map.entrySet().stream()
                    .map(entry -> json(entry.getKey()) + ": " + json(entry.getValue())).toList()) + "}";
        }
        if (value instanceof Iterable<?> list) {
            StringBuilder text = new StringBuilder("[");
            for (Object one : list) {
                text.append(text.length() > 1 ? ", " : "").append(json(one));
            }
            return text.append("]").toString();
        }
        return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    private static String chain(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable one = error; one != null; one = one.getCause()) {
            text.append(one.getMessage()).append(Arrays.toString(one.getSuppressed())).append('\n');
        }
        return text.toString();
    }
}
