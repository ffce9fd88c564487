import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import net.spy.memcached.CASResponse;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.auth.AuthDescriptor;
import net.spy.memcached.auth.PlainCallbackHandler;

/** spymemcached, whose callers share a connection. */
final class Spy implements Application.Client {
    private final MemcachedClient client;

    Spy(Application.Place place) throws Exception {
        ConnectionFactoryBuilder builder = new ConnectionFactoryBuilder()
                .setProtocol(place.isBinary() ? Protocol.BINARY : Protocol.TEXT)
                .setOpTimeout(place.patience())
                .setDaemon(true);
        if (place.user() != null) {
            PlainCallbackHandler handler = new PlainCallbackHandler(place.user(), place.password());
            builder.setAuthDescriptor(new AuthDescriptor(new String[] {"PLAIN"}, handler));
        }
        client = new MemcachedClient(builder.build(), List.of(new InetSocketAddress("127.0.0.1", place.port())));
    }

    @Override
    public Object get(String key) {
        return client.get(key);
    }

    @Override
    public boolean set(String key, int ttl, Object value) throws Exception {
        return client.set(key, ttl, value).get();
    }

    @Override
    public boolean add(String key, Object value) throws Exception {
        return client.add(key, Application.TTL, value).get();
    }

    @Override
    public boolean replace(String key, Object value) throws Exception {
        return client.replace(key, Application.TTL, value).get();
    }

    @Override
    public boolean append(String key, String value) throws Exception {
        return client.append(key, value).get();
    }

    @Override
    public boolean prepend(String key, String value) throws Exception {
        return client.prepend(key, value).get();
    }

    @Override
    public long gets(String key) {
        return client.gets(key).getCas();
    }

    @Override
    public boolean cas(String key, long cas, Object value) {
        return client.cas(key, cas, Application.TTL, value) == CASResponse.OK;
    }

    @Override
    public long incr(String key, int by) {
        return client.incr(key, by);
    }

    @Override
    public long decr(String key, int by) {
        return client.decr(key, by);
    }

    @Override
    public boolean delete(String key) throws Exception {
        return client.delete(key).get();
    }

    @Override
    public boolean touch(String key) throws Exception {
        return client.touch(key, Application.TTL).get();
    }

    @Override
    public Map<String, Object> many(List<String> keys) {
        return client.getBulk(keys);
    }
}
