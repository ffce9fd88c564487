import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** An application's work by spymemcached or XMemcached, as published. Prints what each step has answered, as JSON. */
public final class Application {
    static final int TTL = 100;

    /** What both libraries can do. */
    interface Client {
        Object get(String key) throws Exception;

        boolean set(String key, int ttl, Object value) throws Exception;

        boolean add(String key, Object value) throws Exception;

        boolean replace(String key, Object value) throws Exception;

        boolean append(String key, String value) throws Exception;

        boolean prepend(String key, String value) throws Exception;

        long gets(String key) throws Exception;

        boolean cas(String key, long cas, Object value) throws Exception;

        long incr(String key, int by) throws Exception;

        long decr(String key, int by) throws Exception;

        boolean delete(String key) throws Exception;

        boolean touch(String key) throws Exception;

        Map<String, Object> many(List<String> keys) throws Exception;
    }

    /** Without a user nobody logs in. */
    record Place(int port, boolean isBinary, String user, String password, int patience) {}

    private static final int CALLERS = 4;
    private static final int TURNS = 25;

    /** Its arguments: the client, the port; and, unless it is a memcached, an account and its password. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        Logger.getLogger("net.spy.memcached").setLevel(Level.OFF);
        String how = arguments[0];
        boolean isBinary = how.contains("binary");
        int port = Integer.parseInt(arguments[1]);
        Client client = open(how, new Place(port, isBinary, null, null, 20_000));
        work(client);
        if (arguments.length > 2 && isBinary) {
            Client other = open(how, new Place(port, true, arguments[2], arguments[3], 20_000));
            tell("log in", other.get("long"));
            tell("log in, what is not allowed", attempt(() -> other.set("long", TTL, "y")));
            // XMemcached goes on after a wrong password, as whoever the server lets it be.
            if (how.startsWith("spymemcached")) {
                Place wrong = new Place(port, true, arguments[2], "wrong", 3_000);
                String told = String.valueOf(attempt(() -> open(how, wrong).get("long")));
                tell("wrong password", told.startsWith("error: "));
            }
        }
        if (arguments.length > 2) {
            // Somebody holds this item meanwhile. Who has lost its patience goes on.
            Client hasty = open(how, new Place(port, isBinary, null, null, 300));
            tell("time-out", String.valueOf(attempt(() -> hasty.incr("locked", 1))).startsWith("error: "));
            tell("after a time-out", open(how, new Place(port, isBinary, null, null, 20_000)).get("long"));
        }
        System.exit(0);
    }

    private static Client open(String how, Place place) throws Exception {
        return how.startsWith("spymemcached") ? new Spy(place) : new XMemcached(place);
    }

    private static void work(Client client) throws Exception {
        tell("nothing", client.get("none") == null);
        tell("set", client.set("text", TTL, "Grüße"));
        tell("get", client.get("text"));
        ArrayList<Object> object = new ArrayList<>(Arrays.asList(1, null, Map.of("a", 2.5)));
        client.set("object", TTL, object);
        tell("an object", object.equals(client.get("object")));
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        client.set("bytes", TTL, bytes);
        tell("bytes", Arrays.equals(bytes, (byte[]) client.get("bytes")));
        client.set("large", TTL, "x".repeat(900_000));
        tell("a large one", ((String) client.get("large")).length());
        tell("add", List.of(client.add("text", "other"), client.add("new", "x")));
        tell("replace", List.of(client.replace("text", "b"), client.replace("none", "b")));
        client.prepend("text", "a");
        client.append("text", "c");
        tell("append and prepend", client.get("text"));
        long seen = client.gets("text");
        tell("cas", List.of(client.cas("text", seen, "won"), client.cas("text", seen, "lost"), client.get("text")));
        client.set("counter", TTL, "0");
        tell("count", List.of(client.incr("counter", 7), client.decr("counter", 9)));
        Map<String, Object> many = new HashMap<>();
        for (int i = 0; i < 150; i++) {
            many.put("many" + i, "value " + i);
            client.set("many" + i, TTL, "value " + i);
        }
        List<String> keys = new ArrayList<>(many.keySet());
        keys.add("none");
        tell("get many", client.many(keys).equals(many));
        tell("delete", List.of(client.delete("text"), client.delete("text")));
        // An item of one second lives until the next second begins, which may be before it is touched.
        client.set("short", 1, "x");
        client.set("long", 2, "x");
        tell("touch", client.touch("long"));
        Thread.sleep(2_000);
        tell("expired", Arrays.asList(client.get("short") == null, client.get("long")));
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        for (int caller = 0; caller < CALLERS; caller++) {
            callers.submit(() -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    client.incr("counter", 1);
                }
                return null;
            });
        }
        callers.shutdown();
        if (!callers.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the callers have not ended");
        }
        tell("many callers", Integer.parseInt(String.valueOf(client.get("counter")).strip()));
    }

    interface Call {
        Object run() throws Exception;
    }

    private static Object attempt(Call call) {
        try {
            return call.run();
        } catch (Exception error) {
            return "error: " + error.getMessage();
        }
    }

    private static void tell(String step, Object value) {
        System.out.println("[" + json(step) + ", " + json(value) + "]");
    }

    private static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof List<?> list) {
            return "[" + String.join(", ", list.stream().map(Application::json).toList()) + "]";
        }
        return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
