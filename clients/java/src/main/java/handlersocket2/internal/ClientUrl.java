package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientBuilder.ReadAfterWrite;
import handlersocket2.ClientBuilder.ReadFrom;
import handlersocket2.ClientBuilder.Tls;
import handlersocket2.ClientBuilder.WhenFull;
import handlersocket2.UsageException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** Reads {@code handlersocket://user:password@host:9998,9999/db?option=value}. A message never shows a secret. */
public final class ClientUrl {
    private static final String SCHEME = "handlersocket://";

    private static final Map<String, BiConsumer<Settings, String>> OPTIONS =
            Map.ofEntries(
                    Map.entry("timeout", (s, v) -> s.timeout = time("timeout", v)),
                    Map.entry("connect_timeout", (s, v) -> s.connectTimeout = time("connect_timeout", v)),
                    Map.entry("dead_after", (s, v) -> s.deadAfter = time("dead_after", v)),
                    Map.entry("read_connections", (s, v) -> s.readConnections = count("read_connections", v)),
                    Map.entry("write_connections", (s, v) -> s.writeConnections = count("write_connections", v)),
                    Map.entry("long_connections", (s, v) -> s.longConnections = count("long_connections", v)),
                    Map.entry("max_streams", (s, v) -> s.maxStreams = count("max_streams", v)),
                    Map.entry("long_limit", (s, v) -> s.longLimit = count("long_limit", v)),
                    Map.entry(
                            "read_after_write",
                            (s, v) -> s.readAfterWrite = constant(ReadAfterWrite.class, "read_after_write", v)),
                    Map.entry("max_in_flight", (s, v) -> s.maxInFlight = count("max_in_flight", v)),
                    Map.entry("max_in_flight_bytes", (s, v) -> s.maxInFlightBytes = count("max_in_flight_bytes", v)),
                    Map.entry("when_full", (s, v) -> s.whenFull = constant(WhenFull.class, "when_full", v)),
                    Map.entry("texts", (s, v) -> s.texts = onOrOff("texts", v)),
                    Map.entry("stay_awake", (s, v) -> s.stayAwake = onOrOff("stay_awake", v)),
                    Map.entry("max_reply_bytes", (s, v) -> s.maxReplyBytes = count("max_reply_bytes", v)),
                    Map.entry("retry_reads", (s, v) -> s.retryReads = count("retry_reads", v)),
                    Map.entry("connect_attempts", (s, v) -> s.connectAttempts = count("connect_attempts", v)),
                    Map.entry("backoff_min", (s, v) -> s.backoffMin = time("backoff_min", v)),
                    Map.entry("backoff_max", (s, v) -> s.backoffMax = time("backoff_max", v)),
                    Map.entry("read_from", (s, v) -> s.readFrom = constant(ReadFrom.class, "read_from", v)),
                    Map.entry("tls", (s, v) -> s.tls = constant(Tls.class, "tls", v)),
                    Map.entry("tls_ca", (s, v) -> s.tlsCa = Path.of(v)),
                    Map.entry("tls_name", (s, v) -> s.tlsName = v),
                    Map.entry("tls_cert", (s, v) -> s.tlsCert = Path.of(v)),
                    Map.entry("tls_key", (s, v) -> s.tlsKey = Path.of(v)),
                    Map.entry("socket", (s, v) -> s.socket = Path.of(v)),
                    Map.entry("socket_wr", (s, v) -> s.socketWr = Path.of(v)),
                    Map.entry("secret", (s, v) -> s.secret = () -> v));

    private ClientUrl() {}

    /** Sets an option by its name in clients/README.md. */
    public static void set(Settings settings, String name, String value) {
        BiConsumer<Settings, String> option = OPTIONS.get(name);
        if (option == null) {
            throw new UsageException("there is no option called " + name);
        }
        option.accept(settings, value);
    }

    /** Reads an URL into settings. What it does not say stays as it is. */
    public static void read(String url, Settings settings) {
        if (!url.startsWith(SCHEME)) {
            throw new UsageException("the URL of a client begins with " + SCHEME);
        }
        String rest = url.substring(SCHEME.length());
        int query = rest.indexOf('?');
        if (query >= 0) {
            options(rest.substring(query + 1), settings);
            rest = rest.substring(0, query);
        }
        if (rest.indexOf('#') >= 0) {
            throw new UsageException("the URL of a client has no fragment; # is %23");
        }
        int slash = rest.indexOf('/');
        if (slash >= 0) {
            String database = rest.substring(slash + 1);
            if (database.indexOf('/') >= 0) {
                throw new UsageException("the URL has more than a database behind its hosts");
            }
            if (!database.isEmpty()) {
                settings.database = decode(database);
            }
            rest = rest.substring(0, slash);
        }
        int at = rest.lastIndexOf('@');
        if (at >= 0) {
            logIn(rest.substring(0, at), settings);
            rest = rest.substring(at + 1);
        }
        if (!rest.isEmpty()) {
            settings.addresses = hosts(rest);
        }
    }

    private static void logIn(String text, Settings settings) {
        int colon = text.indexOf(':');
        String user = decode(colon < 0 ? text : text.substring(0, colon));
        if (user.isEmpty()) {
            throw new UsageException("the URL has no user in front of its @");
        }
        settings.user = user;
        if (colon >= 0 && colon + 1 < text.length()) {
            String password = decode(text.substring(colon + 1));
            settings.password = () -> password;
        }
    }

    private static void options(String query, Settings settings) {
        Set<String> seen = new HashSet<>();
        for (String part : query.split("&", -1)) {
            int equals = part.indexOf('=');
            String name = decode(equals < 0 ? part : part.substring(0, equals));
            if (equals < 0 || equals + 1 == part.length()) {
                throw new UsageException("the option " + name + " of the URL has no value");
            }
            if (!seen.add(name)) {
                throw new UsageException("the option " + name + " comes twice in the URL");
            }
            set(settings, name, decode(part.substring(equals + 1)));
        }
    }

    private static List<Address> hosts(String text) {
        List<Address> addresses = new ArrayList<>();
        String[] pieces = text.split(",", -1);
        for (int i = 0; i < pieces.length; i++) {
            String piece = pieces[i];
            int colon = piece.startsWith("[") ? piece.indexOf(':', piece.indexOf(']') + 1) : piece.indexOf(':');
            if (piece.startsWith("[") && piece.indexOf(']') != (colon < 0 ? piece.length() : colon) - 1) {
                throw new UsageException("the URL has a host with a wrong bracket");
            }
            String host = colon < 0 ? piece : piece.substring(0, colon);
            if (host.startsWith("[")) {
                host = host.substring(1, host.length() - 1);
            }
            host = decode(host);
            if (host.isEmpty() || piece.chars().allMatch(c -> c >= '0' && c <= '9')) {
                throw new UsageException("the URL has an empty host, or a port that belongs to none");
            }
            String read = colon < 0 ? null : piece.substring(colon + 1);
            String write = null;
            if (i + 1 < pieces.length && pieces[i + 1].matches("[0-9]+")) {
                if (read == null) {
                    throw new UsageException("the URL has a port for writing without a colon in front of it");
                }
                write = pieces[++i];
            }
            if (read == null) {
                addresses.add(Address.of(host));
            } else {
                addresses.add(
                        Address.of(host, read.isEmpty() ? 0 : port(read), write == null ? 0 : port(write)));
            }
        }
        return addresses;
    }

    private static int port(String digits) {
        if (!digits.matches("[0-9]{1,5}") || Integer.parseInt(digits) == 0 || Integer.parseInt(digits) > 65535) {
            throw new UsageException("the URL has a port that is no number from 1 to 65535");
        }
        return Integer.parseInt(digits);
    }

    private static Duration time(String name, String value) {
        try {
            if (value.endsWith("ms")) {
                return Duration.ofMillis(plain(value.substring(0, value.length() - 2)));
            }
            if (value.endsWith("s")) {
                return Duration.ofSeconds(plain(value.substring(0, value.length() - 1)));
            }
            if (value.endsWith("m")) {
                return Duration.ofMinutes(plain(value.substring(0, value.length() - 1)));
            }
        } catch (NumberFormatException problem) {
            // Said below.
        }
        throw new UsageException("the option " + name + " is a number with ms, s or m");
    }

    private static int count(String name, String value) {
        try {
            return Math.toIntExact(plain(value));
        } catch (ArithmeticException | NumberFormatException problem) {
            throw new UsageException("the option " + name + " is a number");
        }
    }

    private static long plain(String digits) {
        if (!digits.matches("[0-9]{1,12}")) {
            throw new NumberFormatException();
        }
        return Long.parseLong(digits);
    }

    private static boolean onOrOff(String name, String value) {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new UsageException("the option " + name + " is on or off");
        };
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String name, String value) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().toLowerCase(Locale.ROOT).equals(value)) {
                return constant;
            }
        }
        throw new UsageException("the option " + name + " has an unknown value");
    }

    /** Takes away percent-encoding. A plus stands for itself. */
    private static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < encoded.length; i++) {
            if (encoded[i] != '%') {
                bytes.write(encoded[i]);
                continue;
            }
            int high = i + 2 < encoded.length ? Character.digit(encoded[i + 1], 16) : -1;
            int low = i + 2 < encoded.length ? Character.digit(encoded[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw new UsageException("the URL has a % that is not followed by two hexadecimal digits");
            }
            bytes.write(high << 4 | low);
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
        } catch (CharacterCodingException problem) {
            throw new UsageException("the URL has percent-encoded bytes that are not UTF-8");
        }
    }
}
