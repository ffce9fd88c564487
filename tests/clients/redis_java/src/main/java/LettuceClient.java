import io.lettuce.core.ClientOptions;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Lettuce, whose callers share one connection. */
final class LettuceClient implements Application.Client {
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final StatefulRedisConnection<String, byte[]> binary;
    private final RedisCommands<String, String> sync;

    LettuceClient(Application.Place place) {
        RedisURI.Builder uri = RedisURI.builder().withHost("127.0.0.1").withPort(place.port());
        if (place.user() != null) {
            uri.withAuthentication(place.user(), place.password()).withClientName("app");
        }
        uri.withSsl(place.authority() != null);
        client = RedisClient.create(uri.build());
        ClientOptions.Builder options = ClientOptions.builder().autoReconnect(false);
        if (place.authority() != null) {
            options.sslOptions(SslOptions.builder().trustManager(new File(place.authority())).build());
        }
        client.setOptions(options.build());
        connection = client.connect();
        binary = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
        sync = connection.sync();
    }

    @Override
    public String ping() {
        return sync.ping();
    }

    @Override
    public Map<String, String> all(String key) {
        return sync.hgetall(key);
    }

    @Override
    public String get(String key, String field) {
        return sync.hget(key, field);
    }

    @Override
    public List<String> some(String key, String... fields) {
        List<String> values = new ArrayList<>();
        for (KeyValue<String, String> one : sync.hmget(key, fields)) {
            values.add(one.getValueOrElse(null));
        }
        return values;
    }

    @Override
    public Object set(String key, Map<String, String> fields) {
        return sync.hset(key, fields);
    }

    @Override
    public Object setBytes(String key, String field, byte[] value) {
        return binary.sync().hset(key, Map.of(field, value));
    }

    @Override
    public byte[] getBytes(String key, String field) {
        return binary.sync().hget(key, field);
    }

    @Override
    public long add(String key, String field, long amount) {
        return sync.hincrby(key, field, amount);
    }

    @Override
    public long deleteField(String key, String field) {
        return sync.hdel(key, field);
    }

    @Override
    public long exists(String... keys) {
        return sync.exists(keys);
    }

    @Override
    public long delete(String... keys) {
        return sync.del(keys);
    }

    @Override
    public List<String> scan(String pattern) {
        return ScanIterator.scan(sync, ScanArgs.Builder.matches(pattern).limit(1)).stream().toList();
    }

    @Override
    public List<Object> readAndRaise(String key, int times, boolean isUnit) {
        List<Object> answers = new ArrayList<>();
        if (isUnit) {
            sync.multi();
            for (int i = 0; i < times; i++) {
                sync.hget(key, "name");
                sync.hincrby(key, "salary", 1);
            }
            sync.exec().forEach(answers::add);
            return answers;
        }
        RedisAsyncCommands<String, String> async = connection.async();
        List<RedisFuture<?>> pending = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            pending.add(async.hget(key, "name"));
            pending.add(async.hincrby(key, "salary", 1));
        }
        for (RedisFuture<?> one : pending) {
            try {
                answers.add(one.get(20, TimeUnit.SECONDS));
            } catch (Exception error) {
                answers.add(error.toString());
            }
        }
        return answers;
    }

    @Override
    public Object setTwice(String key, String first, String second) {
        sync.multi();
        sync.hset(key, "name", first);
        sync.hset(key, "name", second);
        TransactionResult done = sync.exec();
        return done.wasDiscarded();
    }

    @Override
    public void close() {
        connection.close();
        binary.close();
        client.shutdown(0, 1, TimeUnit.SECONDS);
    }
}
