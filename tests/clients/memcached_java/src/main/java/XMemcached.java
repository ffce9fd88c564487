import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.auth.AuthInfo;
import net.rubyeye.xmemcached.command.BinaryCommandFactory;

/** XMemcached, whose callers share a connection. */
final class XMemcached implements Application.Client {
    private final MemcachedClient client;

    XMemcached(Application.Place place) throws Exception {
        // Whoever has a log-in is looked for by the name that the address has.
        InetSocketAddress address = new InetSocketAddress("localhost", place.port());
        XMemcachedClientBuilder builder = new XMemcachedClientBuilder(List.of(address));
        if (place.isBinary()) {
            builder.setCommandFactory(new BinaryCommandFactory());
        }
        if (place.user() != null) {
            builder.addAuthInfo(address, AuthInfo.plain(place.user(), place.password()));
        }
        client = builder.build();
        client.setOpTimeout(place.patience());
    }

    @Override
    public Object get(String key) throws Exception {
        return client.get(key);
    }

    @Override
    public boolean set(String key, int ttl, Object value) throws Exception {
        return client.set(key, ttl, value);
    }

    @Override
    public boolean add(String key, Object value) throws Exception {
        return client.add(key, Application.TTL, value);
    }

    @Override
    public boolean replace(String key, Object value) throws Exception {
        return client.replace(key, Application.TTL, value);
    }

    @Override
    public boolean append(String key, String value) throws Exception {
        return client.append(key, value);
    }

    @Override
    public boolean prepend(String key, String value) throws Exception {
        return client.prepend(key, value);
    }

    @Override
    public long gets(String key) throws Exception {
        return client.gets(key).getCas();
    }

    @Override
    public boolean cas(String key, long cas, Object value) throws Exception {
        return client.cas(key, Application.TTL, value, cas);
    }

    @Override
    public long incr(String key, int by) throws Exception {
        return client.incr(key, by);
    }

    @Override
    public long decr(String key, int by) throws Exception {
        return client.decr(key, by);
    }

    @Override
    public boolean delete(String key) throws Exception {
        return client.delete(key);
    }

    @Override
    public boolean touch(String key) throws Exception {
        return client.touch(key, Application.TTL);
    }

    @Override
    public Map<String, Object> many(List<String> keys) throws Exception {
        return client.get(keys);
    }
}
