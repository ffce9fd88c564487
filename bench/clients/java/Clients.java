import handlersocket2.AsyncIndex;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.ArrayBlockingQueue;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;

/** The clients by name. Each gives a {@link Bench.Lookup} or a {@link Bench.AsyncLookup}. */
final class Clients {
    private static final String HOST = "127.0.0.1";
    private static final String QUERY = "SELECT user_id, user_name, user_email FROM user WHERE user_id = ?";
    private static final int MOST_CONNECTIONS = 100;

    /** The size of a pool, for the clients whose callers have a connection each. */
    private final int connections;

    private final String hsPort;
    private final int redisPort;
    private final String sqlPort;

    Clients(int callers, String hsPort, String redisPort, String sqlPort) {
        this.connections = Math.min(callers, MOST_CONNECTIONS);
        this.hsPort = hsPort;
        this.redisPort = Integer.parseInt(redisPort);
        this.sqlPort = sqlPort;
    }

    record User(int user_id, String user_name, String user_email) {}

    Object open(String name) throws Exception {
        return switch (name) {
            case "ours-futures" -> ours(true);
            case "ours" -> ours(false);
            case "lettuce-async" -> lettuce(true);
            case "lettuce" -> lettuce(false);
            case "jedis" -> jedis();
            case "jdbc" -> jdbc();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private Object ours(boolean futures) {
        HandlerSocketClient client = HandlerSocketClient.open("handlersocket://" + HOST + ":" + hsPort + "/test");
        Index<User> users = client.table("user").open(User.class);
        AsyncIndex<User> async = users.async();
        if (futures) {
            return (Bench.AsyncLookup) key ->
                    async.findOne(key).thenAccept(row -> check(key, row.orElseThrow().user_id()));
        }
        return (Bench.Lookup) key -> check(key, users.findOne(key).orElseThrow().user_id());
    }

    private Object lettuce(boolean futures) {
        StatefulRedisConnection<String, String> connection =
                RedisClient.create("redis://" + HOST + ":" + redisPort).connect();
        if (futures) {
            var async = connection.async();
            return (Bench.AsyncLookup) key -> async.get("user:" + key).thenAccept(value -> checkValue(key, value));
        }
        var sync = connection.sync();
        return (Bench.Lookup) key -> checkValue(key, sync.get("user:" + key));
    }

    private Object jedis() {
        GenericObjectPoolConfig<Jedis> size = new GenericObjectPoolConfig<>();
        size.setMaxTotal(connections);
        size.setMaxIdle(connections);
        JedisPool pool = new JedisPool(size, HOST, redisPort);
        return (Bench.Lookup) key -> {
            try (Jedis jedis = pool.getResource()) {
                checkValue(key, jedis.get("user:" + key));
            }
        };
    }

    private Object jdbc() throws Exception {
        ArrayBlockingQueue<PreparedStatement> pool = new ArrayBlockingQueue<>(connections);
        String url = "jdbc:mariadb://" + HOST + ":" + sqlPort + "/test?user=root&sslMode=disable&useServerPrepStmts=true";
        for (int i = 0; i < connections; i++) {
            Connection connection = DriverManager.getConnection(url);
            pool.add(connection.prepareStatement(QUERY));
        }
        return (Bench.Lookup) key -> {
            PreparedStatement statement = pool.take();
            statement.setInt(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                User user = new User(rows.getInt(1), rows.getString(2), rows.getString(3));
                check(key, user.user_id());
            }
            pool.put(statement);
        };
    }

    private static void check(int key, int found) {
        if (found != key) {
            throw new IllegalStateException("a wrong row");
        }
    }

    /** A value of Redis begins with user_0000042. */
    private static void checkValue(int key, String value) {
        if (Integer.parseInt(value, 5, 12, 10) != key) {
            throw new IllegalStateException("a wrong value");
        }
    }
}
