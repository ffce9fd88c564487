import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** Jedis, whose callers have a connection each. */
final class JedisClient implements Application.Client {
    private final RedisClient client;

    JedisClient(Application.Place place, boolean isThree) throws Exception {
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder();
        config.protocol(isThree ? RedisProtocol.RESP3 : RedisProtocol.RESP2);
        if (place.user() != null) {
            config.user(place.user()).password(place.password()).clientName("app");
        }
        if (place.authority() != null) {
            config.ssl(true).sslSocketFactory(trusting(place.authority()));
        }
        client = RedisClient.builder()
                .hostAndPort(new HostAndPort("127.0.0.1", place.port()))
                .clientConfig(config.build())
                .build();
    }

    private static SSLSocketFactory trusting(String authority) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (FileInputStream file = new FileInputStream(authority)) {
            trusted.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String ping() {
        return client.ping();
    }

    @Override
    public Map<String, String> all(String key) {
        return client.hgetAll(key);
    }

    @Override
    public String get(String key, String field) {
        return client.hget(key, field);
    }

    @Override
    public List<String> some(String key, String... fields) {
        return client.hmget(key, fields);
    }

    @Override
    public Object set(String key, Map<String, String> fields) {
        return client.hset(key, fields);
    }

    @Override
    public Object setBytes(String key, String field, byte[] value) {
        return client.hset(bytes(key), bytes(field), value);
    }

    @Override
    public byte[] getBytes(String key, String field) {
        return client.hget(bytes(key), bytes(field));
    }

    @Override
    public long add(String key, String field, long amount) {
        return client.hincrBy(key, field, amount);
    }

    @Override
    public long deleteField(String key, String field) {
        return client.hdel(key, field);
    }

    @Override
    public long exists(String... keys) {
        return client.exists(keys);
    }

    @Override
    public long delete(String... keys) {
        return client.del(keys);
    }

    @Override
    public List<String> scan(String pattern) {
        List<String> keys = new ArrayList<>();
        ScanParams page = new ScanParams().match(pattern).count(1);
        String cursor = ScanParams.SCAN_POINTER_START;
        do {
            ScanResult<String> found = client.scan(cursor, page);
            keys.addAll(found.getResult());
            cursor = found.getCursor();
        } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        return keys;
    }

    @Override
    public List<Object> readAndRaise(String key, int times, boolean isUnit) {
        if (isUnit) {
            try (AbstractTransaction unit = client.multi()) {
                for (int i = 0; i < times; i++) {
                    unit.hget(key, "name");
                    unit.hincrBy(key, "salary", 1);
                }
                return unit.exec();
            }
        }
        List<Object> answers = new ArrayList<>();
        try (AbstractPipeline batch = client.pipelined()) {
            List<redis.clients.jedis.Response<?>> pending = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                pending.add(batch.hget(key, "name"));
                pending.add(batch.hincrBy(key, "salary", 1));
            }
            batch.sync();
            pending.forEach(one -> answers.add(one.get()));
        }
        return answers;
    }

    @Override
    public Object setTwice(String key, String first, String second) {
        try (AbstractTransaction unit = client.multi()) {
            unit.hset(key, "name", first);
            unit.hset(key, "name", second);
            return unit.exec();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
