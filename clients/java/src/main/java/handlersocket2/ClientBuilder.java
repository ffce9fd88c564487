package handlersocket2;

import handlersocket2.internal.ClientUrl;
import handlersocket2.internal.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** The options of a client. Each has a default, so a builder on which nothing was called is for 127.0.0.1. */
public final class ClientBuilder {
    private final Settings settings = new Settings();
    ClientBuilder() {}

    /** What a find sees of this client's writes that have no reply yet. */
    public enum ReadAfterWrite {
        /** It sees all writes that were answered before it was called, and perhaps others. */
        AWAITED,
        /** It goes behind them, so it sees them. */
        SENT
    }

    /** Which of several addresses finds go to. */
    public enum ReadFrom {
        /** The current one, to which writes go, too. */
        WRITER,
        /** One of them, chosen at random. */
        ANY,
        /** One of the others, chosen at random. */
        REPLICAS
    }

    /** What happens to a call when as much is in flight as may be. */
    public enum WhenFull {
        /** It waits for its turn. */
        WAIT,
        /** It fails at once, with a {@link BusyException}. */
        FAIL
    }

    /** Whether connections use TLS. */
    public enum Tls {
        /** They do not. */
        OFF,
        /** They do, and the server's certificate and name are verified. */
        VERIFY,
        /** They do, and anybody may be the server. */
        UNVERIFIED
    }

    /**
     * Takes what an URL says: {@code handlersocket://user:password@host:9998,9999/db?timeout=5s}.
     *
     * @param url the URL
     * @return this builder
     */
    public ClientBuilder url(String url) {
        ClientUrl.read(url, settings);
        return this;
    }

    /**
     * Where the servers are. The first is current at first.
     *
     * @param addresses one or more
     * @return this builder
     */
    public ClientBuilder addresses(List<Address> addresses) {
        settings.addresses = new ArrayList<>(addresses);
        return this;
    }

    /**
     * Where the server is.
     *
     * @param host a name or an IP address
     * @param readPort the port for reading, or 0
     * @param writePort the port for reading and writing, or 0
     * @return this builder
     */
    public ClientBuilder address(String host, int readPort, int writePort) {
        return addresses(List.of(Address.of(host, readPort, writePort)));
    }

    /**
     * The database of indexes that name none.
     *
     * @param database its name
     * @return this builder
     */
    public ClientBuilder database(String database) {
        settings.database = database;
        return this;
    }

    /**
     * The account to log in to.
     *
     * @param user its name
     * @return this builder
     */
    public ClientBuilder user(String user) {
        settings.user = user;
        return this;
    }

    /**
     * The account's password.
     *
     * @param password the password
     * @return this builder
     */
    public ClientBuilder password(String password) {
        return password(() -> password);
    }

    /**
     * The account's password, asked for at each log-in.
     *
     * @param password gives the password
     * @return this builder
     */
    public ClientBuilder password(Supplier<String> password) {
        settings.password = password;
        return this;
    }

    /**
     * The port's secret, in place of an account. It goes over plain TCP, too, where everybody on the way can read it.
     *
     * @param secret the secret
     * @return this builder
     */
    public ClientBuilder secret(String secret) {
        return secret(() -> secret);
    }

    /**
     * The port's secret, asked for at each log-in.
     *
     * @param secret gives the secret
     * @return this builder
     */
    public ClientBuilder secret(Supplier<String> secret) {
        settings.secret = secret;
        return this;
    }

    /**
     * How long a call may take, 30 s if nothing is said.
     *
     * @param timeout the time; zero is for ever
     * @return this builder
     */
    public ClientBuilder timeout(Duration timeout) {
        settings.timeout = timeout;
        return this;
    }

    /**
     * How long connecting to one address may take, with TLS and log-in; 10 s.
     *
     * @param timeout the time
     * @return this builder
     */
    public ClientBuilder connectTimeout(Duration timeout) {
        settings.connectTimeout = timeout;
        return this;
    }

    /**
     * A connection with requests in flight is dead if nothing has come for so long; 60 s.
     *
     * @param time the time
     * @return this builder
     */
    public ClientBuilder deadAfter(Duration time) {
        settings.deadAfter = time;
        return this;
    }

    /**
     * How many connections are for finds; 1.
     *
     * @param count the number
     * @return this builder
     */
    public ClientBuilder readConnections(int count) {
        settings.readConnections = count;
        return this;
    }

    /**
     * How many connections are for what modifies; 1.
     *
     * @param count the number
     * @return this builder
     */
    public ClientBuilder writeConnections(int count) {
        settings.writeConnections = count;
        return this;
    }

    /**
     * How many connections are for long finds; 1.
     *
     * @param count the number
     * @return this builder
     */
    public ClientBuilder longConnections(int count) {
        settings.longConnections = count;
        return this;
    }

    /**
     * How many callers may iterate at a time; 8.
     *
     * @param count the number
     * @return this builder
     */
    public ClientBuilder maxStreams(int count) {
        settings.maxStreams = count;
        return this;
    }

    /**
     * A find with such a limit or a greater one is long; 1,000.
     *
     * @param limit the limit
     * @return this builder
     */
    public ClientBuilder longLimit(long limit) {
        settings.longLimit = limit;
        return this;
    }

    /**
     * What a find sees of writes that have no reply yet.
     *
     * @param choice the choice
     * @return this builder
     */
    public ClientBuilder readAfterWrite(ReadAfterWrite choice) {
        settings.readAfterWrite = choice;
        return this;
    }

    /**
     * Which of several addresses finds go to.
     *
     * @param choice the choice
     * @return this builder
     */
    public ClientBuilder readFrom(ReadFrom choice) {
        settings.readFrom = choice;
        return this;
    }

    /**
     * How many requests of a connection may be in flight; 10,000.
     *
     * @param count the number
     * @return this builder
     */
    public ClientBuilder maxInFlight(int count) {
        settings.maxInFlight = count;
        return this;
    }

    /**
     * How many bytes of requests may be in flight on a connection; 16 MiB.
     *
     * @param bytes the number
     * @return this builder
     */
    public ClientBuilder maxInFlightBytes(long bytes) {
        settings.maxInFlightBytes = bytes;
        return this;
    }

    /**
     * What happens beyond these bounds.
     *
     * @param choice the choice
     * @return this builder
     */
    public ClientBuilder whenFull(WhenFull choice) {
        settings.whenFull = choice;
        return this;
    }

    /**
     * How long a reply may be, or a row of an iteration; 256 MiB.
     *
     * @param bytes the number
     * @return this builder
     */
    public ClientBuilder maxReplyBytes(int bytes) {
        settings.maxReplyBytes = bytes;
        return this;
    }

    /**
     * Whether errors have what the server says about them: {@link ReplyException#serverMessage()}; they have not.
     *
     * @param wanted whether they have
     * @return this builder
     */
    public ClientBuilder texts(boolean wanted) {
        settings.texts = wanted;
        return this;
    }

    /**
     * Whether the reply to a call that is alone is looked for without sleeping, for 100 µs at most, while that pays; it is.
     *
     * @param wanted whether it is
     * @return this builder
     */
    public ClientBuilder stayAwake(boolean wanted) {
        settings.stayAwake = wanted;
        return this;
    }

    /**
     * How often a find is sent again whose connection was lost; 0. What modifies never is.
     *
     * @param times how often
     * @return this builder
     */
    public ClientBuilder retryReads(int times) {
        settings.retryReads = times;
        return this;
    }

    /**
     * For how many attempts to connect a call waits; 3.
     *
     * @param attempts how many
     * @return this builder
     */
    public ClientBuilder connectAttempts(int attempts) {
        settings.connectAttempts = attempts;
        return this;
    }

    /**
     * How long the client waits between attempts: a random time up to the least, which doubles up to the most; 50 ms, 5 s.
     *
     * @param least the least
     * @param most the most
     * @return this builder
     */
    public ClientBuilder backoff(Duration least, Duration most) {
        settings.backoffMin = least;
        settings.backoffMax = most;
        return this;
    }

    /**
     * Whether connections use TLS.
     *
     * @param choice the choice
     * @return this builder
     */
    public ClientBuilder tls(Tls choice) {
        settings.tls = choice;
        return this;
    }

    /**
     * Authorities to verify the server, in place of the machine's.
     *
     * @param file certificates in PEM
     * @return this builder
     */
    public ClientBuilder tlsCa(Path file) {
        settings.tlsCa = file;
        return this;
    }

    /**
     * The name by which the server is asked, in place of the host's. If the server is verified, its certificate has it.
     *
     * @param name the name
     * @return this builder
     */
    public ClientBuilder tlsName(String name) {
        settings.tlsName = name;
        return this;
    }

    /**
     * The client's own certificate.
     *
     * @param certificate certificates in PEM, its own first
     * @param key its key in PEM, as PKCS#8 without a password
     * @return this builder
     */
    public ClientBuilder tlsCertificate(Path certificate, Path key) {
        settings.tlsCert = certificate;
        settings.tlsKey = key;
        return this;
    }

    /**
     * What TLS trusts and shows, in place of files.
     *
     * @param context the context
     * @return this builder
     */
    public ClientBuilder sslContext(SSLContext context) {
        settings.sslContext = context;
        return this;
    }

    /**
     * Sees what the client does.
     *
     * @param listener the listener
     * @return this builder
     */
    public ClientBuilder listener(ClientListener listener) {
        settings.listener = listener;
        return this;
    }

    /**
     * Gets what happens to connections. Without it the client logs nothing.
     *
     * @param logger the logger
     * @return this builder
     */
    public ClientBuilder logger(System.Logger logger) {
        settings.logger = logger;
        return this;
    }

    /**
     * Unix sockets in place of hosts.
     *
     * @param read the socket for reading, or null
     * @param write the socket for reading and writing, or null
     * @return this builder
     */
    public ClientBuilder sockets(@Nullable Path read, @Nullable Path write) {
        return addresses(List.of(Address.ofSockets(Optional.ofNullable(read), Optional.ofNullable(write))));
    }

    /**
     * An option by the name that it has in URLs.
     *
     * @param name the name
     * @param value the value, as in an URL
     * @return this builder
     */
    public ClientBuilder option(String name, String value) {
        ClientUrl.set(settings, name, value);
        return this;
    }

    Settings settings() {
        return settings;
    }

    /** What HANDLERSOCKET_PASSWORD and HANDLERSOCKET_SECRET give, if the URL has none. */
    ClientBuilder environment(Map<String, String> environment) {
        String password = environment.get("HANDLERSOCKET_PASSWORD");
        if (password != null && settings.password == null && settings.user != null) {
            settings.password = () -> password;
        }
        String secret = environment.get("HANDLERSOCKET_SECRET");
        if (secret != null && settings.secret == null && settings.user == null) {
            settings.secret = () -> secret;
        }
        return this;
    }

    /**
     * Makes the client. Nothing is connected until the first call needs it.
     *
     * @return the client
     * @throws UsageException if options contradict each other, or a file for TLS cannot be used
     */
    public HandlerSocketClient build() {
        return new HandlerSocketClient(settings.complete());
    }

    @Override
    public String toString() {
        // It shows no password and no secret.
        return HandlerSocketClient.describe(settings);
    }
}
