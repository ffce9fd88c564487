package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.internal.ClientUrl;
import handlersocket2.internal.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** URLs, the environment, and options that contradict. */
class UrlTest {

    private static Settings read(String url) {
        Settings settings = new Settings();
        ClientUrl.read(url, settings);
        return settings.complete();
    }

    private static String addresses(String url) {
        return read(url).addresses.toString();
    }

    @Test
    void parts() {
        Settings settings = read("handlersocket://us%40er:p%3A%25w@h:1,2/d%2Fb?tls=verify&timeout=5s");
        assertEquals("us@er", settings.user);
        assertEquals("p:%w", settings.password.get());
        assertEquals("d/b", settings.database);
        assertEquals(Duration.ofSeconds(5), settings.timeout);
        assertEquals(ClientBuilder.Tls.VERIFY, settings.tls);
        assertEquals("s", read("handlersocket://h?secret=s").secret.get());
        assertNull(read("handlersocket://u:@h").password);
        Settings colons = read("handlersocket://user:a:b@h");
        assertEquals("user", colons.user);
        assertEquals("a:b", colons.password.get());
        assertEquals("a+b", read("handlersocket://h?secret=a+b").secret.get());
        assertEquals("a+b c", read("handlersocket://h?tls=verify&tls_name=a+b%20c").tlsName);
        assertEquals(Duration.ZERO, read("handlersocket://h?timeout=0s").timeout);
    }

    @Test
    void hosts() {
        assertEquals("[h:9998,9999]", addresses("handlersocket://h"));
        assertEquals("[127.0.0.1:9998,9999]", addresses("handlersocket:///db"));
        assertEquals("[127.0.0.1:9998,9999]", addresses("handlersocket://"));
        assertEquals("[127.0.0.1:9998,9999]", addresses("handlersocket://u:p@/db?timeout=0s"));
        assertEquals("[h:1]", addresses("handlersocket://h:1"));
        assertEquals("[h:1,2]", addresses("handlersocket://h:1,2"));
        assertEquals("[h:,9]", addresses("handlersocket://h:,9/"));
        assertEquals(
                "[db1:9998,9999, db2:5,6, [::1]:7,8, [::2]:9998,9999]",
                addresses("handlersocket://db1,db2:5,6,[::1]:7,8,[::2]/db"));
        Settings sockets = read("handlersocket:///db?socket=/run/a.sock&socket_wr=/run/b.sock");
        assertTrue(sockets.addresses.get(0).isUnix());
        assertEquals(Path.of("/run/b.sock"), sockets.addresses.get(0).writeSocket().orElseThrow());
    }

    @Test
    void options() {
        Settings settings = read("handlersocket://h?timeout=0ms&connect_timeout=100ms&dead_after=2m&read_connections=2"
                + "&write_connections=3&long_connections=4&max_streams=5&long_limit=6&read_from=replicas&max_in_flight=7"
                + "&max_in_flight_bytes=8&when_full=fail&max_reply_bytes=9&retry_reads=10&connect_attempts=11"
                + "&backoff_min=12ms&backoff_max=13ms&tls=unverified&texts=on");
        assertEquals(Duration.ZERO, settings.timeout);
        assertEquals(Duration.ofMinutes(2), settings.deadAfter);
        assertEquals(6, settings.longLimit);
        assertEquals(ClientBuilder.ReadFrom.REPLICAS, settings.readFrom);
        assertEquals(ClientBuilder.WhenFull.FAIL, settings.whenFull);
        assertEquals(8, settings.maxInFlightBytes);
        assertEquals(11, settings.connectAttempts);
        assertTrue(settings.texts);
        assertFalse(read("handlersocket://h?texts=off").texts || read("handlersocket://h").texts);
        assertTrue(read("handlersocket://h?stay_awake=on").stayAwake && read("handlersocket://h").stayAwake);
        assertFalse(read("handlersocket://h?stay_awake=off").stayAwake);
        assertEquals(
                ClientBuilder.ReadAfterWrite.SENT, read("handlersocket://h?read_after_write=sent").readAfterWrite);
    }

    @Test
    void whatIsRefused() {
        for (String url : List.of(
                "http://h", "handlersocket:h", "handlersocket://h?x=1", "handlersocket://h?timeout=1s&timeout=2s",
                "handlersocket://h?timeout=5", "handlersocket://h?timeout", "handlersocket://h?tls=yes", "handlersocket://h?texts=1",
                "handlersocket://h:0", "handlersocket://h:65536", "handlersocket://h:x", "handlersocket://h:,",
                "handlersocket://h,1", "handlersocket://1", "handlersocket://,h", "handlersocket://[::1",
                "handlersocket://h/a/b", "handlersocket://h#x", "handlersocket://%zz", "handlersocket://%ff",
                "handlersocket://@h", "handlersocket://u:p@h?secret=s", "handlersocket://h?retry_reads=-1",
                "handlersocket://h?secret=", "handlersocket://h?tls=verify&tls_name=", "handlersocket:///?socket_wr=",
                "handlersocket://:p@h", "handlersocket://h?timeout=1.5m", "handlersocket://h?timeout=-1s", "handlersocket://h?dead_after=0s",
                "handlersocket://h?connect_timeout=0s", "handlersocket://h?backoff_min=0s", "handlersocket://h?backoff_max=0s",
                "handlersocket://h?tls=off&tls_name=x", "handlersocket://h?tls_cert=/x", "handlersocket://h?tls_key=/x",
                "handlersocket://h?max_in_flight=0", "handlersocket://h?socket=/x", "handlersocket://h?tls_ca=/x",
                "handlersocket://h?read_after_write=sent&write_connections=2", "handlersocket:///?socket=/x&tls=verify",
                "handlersocket://h?tls=unverified&tls_ca=/x", "handlersocket://h?tls=verify&tls_cert=/x")) {
            assertThrows(UsageException.class, () -> read(url), url);
        }
    }

    /** Who gives them believes that the connection is encrypted. */
    @Test
    void anOptionOfTlsWithoutTlsIsNamed() {
        for (String tls : List.of("", "tls=off&")) {
            for (String name : List.of("tls_ca", "tls_name", "tls_cert", "tls_key")) {
                UsageException wrong =
                        assertThrows(UsageException.class, () -> read("handlersocket://h?" + tls + name + "=/x"));
                assertTrue(wrong.getMessage().contains(name), wrong.getMessage());
            }
        }
    }

    /** What urls.json says, which all clients read. */
    @Test
    void vectors() throws Exception {
        for (Map<String, Object> vector : Json.vectors("urls.json")) {
            String url = (String) vector.get("url");
            if (vector.containsKey("error")) {
                assertThrows(UsageException.class, () -> read(url), url + ": " + vector.get("why"));
                continue;
            }
            Settings settings = read(url);
            assertEquals(vector.get("addresses").toString(), settings.addresses.stream().map(UrlTest::shown).toList().toString(), url);
            assertEquals(vector.get("user"), settings.user, url);
            assertEquals(vector.get("database"), settings.database, url);
            assertEquals(vector.getOrDefault("password", ""), settings.password == null ? "" : settings.password.get(), url);
            assertEquals(vector.get("secret"), settings.secret == null ? null : settings.secret.get(), url);
            Map<?, ?> options = (Map<?, ?>) vector.getOrDefault("options", Map.of());
            for (Map.Entry<?, ?> option : options.entrySet()) {
                assertEquals(option.getValue().toString(), shown(settings, option.getKey().toString()), url);
            }
        }
    }

    private static Map<String, Object> shown(Address address) {
        Map<String, Object> shown = new LinkedHashMap<>();
        if (address.isUnix()) {
            shown.put("socket", address.readSocket().orElse(null));
            shown.put("socket_wr", address.writeSocket().orElse(null));
        } else {
            shown.put("host", address.host());
            shown.put("read", address.readPort().isPresent() ? address.readPort().getAsInt() : null);
            shown.put("write", address.writePort().isPresent() ? address.writePort().getAsInt() : null);
        }
        return shown;
    }

    /** An option by its name in urls.json, as it stands there. */
    private static String shown(Settings settings, String name) throws ReflectiveOperationException {
        StringBuilder field = new StringBuilder();
        for (String word : name.replaceFirst("_ms$", "").split("_")) {
            field.append(field.isEmpty() ? word : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        Object value = Settings.class.getField(field.toString()).get(settings);
        if (value instanceof Duration time) {
            return String.valueOf(time.toMillis());
        }
        if (value instanceof Boolean isOn) {
            return isOn ? "on" : "off";
        }
        return value instanceof Enum<?> constant ? constant.name().toLowerCase(Locale.ROOT) : value.toString();
    }

    @Test
    void secretsAreNotShown() {
        String url = "handlersocket://ann:topsecret@h/db";
        try (HandlerSocketClient client = HandlerSocketClient.builder().url(url).build()) {
            assertEquals("HandlerSocketClient([h:9998,9999], database db, user ann, tls off)", client.toString());
        }
        assertFalse(HandlerSocketClient.builder().secret("topsecret").toString().contains("topsecret"));
        UsageException wrong = assertThrows(UsageException.class, () -> read("handlersocket://a:topsecret@h:x"));
        assertFalse(wrong.getMessage().contains("topsecret"));
    }

    @Test
    void environment() {
        Map<String, String> environment = Map.of("HANDLERSOCKET_PASSWORD", "p", "HANDLERSOCKET_SECRET", "s");
        Settings[] seen = new Settings[3];
        String[] urls = {"handlersocket://u@h", "handlersocket://h", "handlersocket://u:own@h"};
        for (int i = 0; i < 3; i++) {
            ClientBuilder builder = HandlerSocketClient.builder().url(urls[i]).environment(environment);
            seen[i] = builder.settings();
        }
        assertEquals("p", seen[0].password.get());
        assertEquals(null, seen[0].secret);
        assertEquals("s", seen[1].secret.get());
        assertEquals("own", seen[2].password.get());
    }
}
