package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientBuilder.ReadAfterWrite;
import handlersocket2.ClientBuilder.ReadFrom;
import handlersocket2.ClientBuilder.Tls;
import handlersocket2.ClientBuilder.WhenFull;
import handlersocket2.ClientListener;
import handlersocket2.UsageException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** The options of a client. A builder fills them; a client has a copy of its own, which nobody changes. */
public final class Settings {
    public List<Address> addresses = new ArrayList<>();
    public @Nullable String database;
    public @Nullable String user;
    public @Nullable Supplier<String> password;
    public @Nullable Supplier<String> secret;

    public Duration timeout = Duration.ofSeconds(30);
    public Duration connectTimeout = Duration.ofSeconds(10);
    public Duration deadAfter = Duration.ofSeconds(60);

    public int readConnections = 1;
    public int writeConnections = 1;
    public int longConnections = 1;
    public int maxStreams = 8;
    public long longLimit = 1000;
    public ReadAfterWrite readAfterWrite = ReadAfterWrite.AWAITED;
    public ReadFrom readFrom = ReadFrom.WRITER;

    public int maxInFlight = 10_000;
    public long maxInFlightBytes = 16 << 20;
    public WhenFull whenFull = WhenFull.WAIT;
    public int maxReplyBytes = 256 << 20;
    public boolean texts;
    public boolean stayAwake = true;

    public int retryReads = 0;
    public int connectAttempts = 3;
    public Duration backoffMin = Duration.ofMillis(50);
    public Duration backoffMax = Duration.ofSeconds(5);

    public Tls tls = Tls.OFF;
    public @Nullable Path tlsCa;
    public @Nullable String tlsName;
    public @Nullable Path tlsCert;
    public @Nullable Path tlsKey;
    public @Nullable SSLContext sslContext;
    public @Nullable Path socket;
    public @Nullable Path socketWr;

    public @Nullable ClientListener listener;
    public System.@Nullable Logger logger;

    /** A copy in which everything is there and nothing contradicts. */
    public Settings complete() {
        Settings copy = copy();
        copy.check();
        return copy;
    }

    private Settings copy() {
        Settings copy = new Settings();
        copy.addresses = new ArrayList<>(addresses);
        copy.database = database;
        copy.user = user;
        copy.password = password;
        copy.secret = secret;
        copy.timeout = timeout;
        copy.connectTimeout = connectTimeout;
        copy.deadAfter = deadAfter;
        copy.readConnections = readConnections;
        copy.writeConnections = writeConnections;
        copy.longConnections = longConnections;
        copy.maxStreams = maxStreams;
        copy.longLimit = longLimit;
        copy.readAfterWrite = readAfterWrite;
        copy.readFrom = readFrom;
        copy.maxInFlight = maxInFlight;
        copy.maxInFlightBytes = maxInFlightBytes;
        copy.whenFull = whenFull;
        copy.maxReplyBytes = maxReplyBytes;
        copy.texts = texts;
        copy.stayAwake = stayAwake;
        copy.retryReads = retryReads;
        copy.connectAttempts = connectAttempts;
        copy.backoffMin = backoffMin;
        copy.backoffMax = backoffMax;
        copy.tls = tls;
        copy.tlsCa = tlsCa;
        copy.tlsName = tlsName;
        copy.tlsCert = tlsCert;
        copy.tlsKey = tlsKey;
        copy.sslContext = sslContext;
        copy.socket = socket;
        copy.socketWr = socketWr;
        copy.listener = listener;
        copy.logger = logger;
        return copy;
    }

    private void check() {
        if (socket != null || socketWr != null) {
            require(addresses.isEmpty(), "an address is a host or a Unix socket, and not both");
            addresses.add(
                    Address.ofSockets(
                            java.util.Optional.ofNullable(socket), java.util.Optional.ofNullable(socketWr)));
        }
        if (addresses.isEmpty()) {
            addresses.add(Address.of("127.0.0.1"));
        }
        require(secret == null || user == null && password == null, "a client has a secret or a user, and not both");
        require(password == null || user != null, "a password needs a user");
        require(tls == Tls.OFF || addresses.stream().noneMatch(Address::isUnix), "there is no TLS on a Unix socket");
        withTls(tlsCa, "tls_ca");
        withTls(tlsName, "tls_name");
        withTls(tlsCert, "tls_cert");
        withTls(tlsKey, "tls_key");
        withTls(sslContext, "an SSLContext");
        require(tlsCert == null == (tlsKey == null), "tls_cert and tls_key belong together");
        require(tls != Tls.UNVERIFIED || tlsCa == null, "tls_ca verifies, tls=unverified does not");
        require(
                sslContext == null || tls == Tls.VERIFY && tlsCa == null && tlsCert == null,
                "an SSLContext takes the place of tls_ca, tls_cert and tls=unverified");
        require(readConnections > 0, "read_connections has to be at least 1");
        require(writeConnections > 0, "write_connections has to be at least 1");
        require(longConnections > 0, "long_connections has to be at least 1");
        require(maxStreams > 0, "max_streams has to be at least 1");
        require(longLimit > 0, "long_limit has to be at least 1");
        require(
                readAfterWrite == ReadAfterWrite.AWAITED || writeConnections == 1,
                "read_after_write=sent needs write_connections=1");
        require(maxInFlight > 0, "max_in_flight has to be at least 1");
        require(maxInFlightBytes > 0, "max_in_flight_bytes has to be at least 1");
        require(maxReplyBytes > 0, "max_reply_bytes has to be at least 1");
        require(retryReads >= 0, "retry_reads cannot be negative");
        require(connectAttempts > 0, "connect_attempts has to be at least 1");
        positive(connectTimeout, "connect_timeout");
        positive(deadAfter, "dead_after");
        positive(backoffMin, "backoff_min");
        positive(backoffMax, "backoff_max");
        require(!timeout.isNegative(), "timeout cannot be negative");
        addresses = List.copyOf(addresses);
    }

    /** Why a connection is given up on which nothing comes. */
    String silence() {
        return "the server has sent nothing for " + deadAfter.toMillis() + " ms";
    }

    private void withTls(@Nullable Object option, String name) {
        require(option == null || tls != Tls.OFF, name + " is for TLS: tls has to be verify or unverified");
    }

    private static void positive(Duration time, String name) {
        require(!time.isNegative() && !time.isZero(), name + " has to be longer than nothing");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new UsageException(message);
        }
    }
}
