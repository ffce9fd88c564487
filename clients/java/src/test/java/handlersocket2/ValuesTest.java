package handlersocket2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Year;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Values in both directions, by a server that answers the key as the row. */
class ValuesTest {
    private FakeServer server;
    private HandlerSocketClient client;

    enum Color {
        RED,
        GREEN
    }

    record Wide(
            @Column("a") long number, String b, boolean c, BigDecimal d, LocalDate e, Duration f, byte[] g, Color h,
            Integer i) {}

    record One(int a) {}

    record Unknown(Thread a) {}

    record Refuses(int a) {
        Refuses {
            if (a == 7) {
                throw new IllegalArgumentException("not 7");
            }
        }
    }

    @BeforeEach
    void begin() throws Exception {
        server = new FakeServer(peer -> {
            for (String line = peer.line(); line != null; line = peer.line()) {
                String[] token = line.split("\t", -1);
                if (token[0].equals("P")) {
                    peer.send("0\t1\n");
                    continue;
                }
                int parts = Integer.parseInt(token[2]);
                StringBuilder reply = new StringBuilder("0\t" + parts);
                for (int i = 0; i < parts; i++) {
                    reply.append('\t').append(token[3 + i]);
                }
                peer.send(reply + "\n");
            }
        });
        client = server.client().build();
    }

    @AfterEach
    void end() throws Exception {
        client.close();
        server.close();
    }

    private Row echo(Object value) {
        return client.index("t", "a").findOne(value).orElseThrow();
    }

    private void roundTrip(Object value, Class<?> type, String text) {
        assertEquals(text, echo(value).getString("a"));
        assertEquals(value, echo(value).get("a", type));
        assertEquals(value, client.table("t").column("a", type).open().findOne(value).orElseThrow().get(0));
    }

    @Test
    void roundTrips() {
        roundTrip("j\u00e4 \ud83d\ude00\t\n\0\u0001", String.class, "j\u00e4 \ud83d\ude00\t\n\0\u0001");
        roundTrip("", String.class, "");
        roundTrip(42, Integer.class, "42");
        roundTrip(-42L, Long.class, "-42");
        roundTrip(Long.MIN_VALUE, Long.class, "-9223372036854775808");
        roundTrip(Long.MAX_VALUE, Long.class, "9223372036854775807");
        roundTrip((short) -7, Short.class, "-7");
        roundTrip((byte) -128, Byte.class, "-128");
        roundTrip(true, Boolean.class, "1");
        roundTrip(false, Boolean.class, "0");
        roundTrip(1.5e300, Double.class, "1.5E300");
        roundTrip(0.1f, Float.class, "0.1");
        roundTrip(new BigInteger("18446744073709551615"), BigInteger.class, "18446744073709551615");
        roundTrip(new BigDecimal("12345678901234567890.123456789"), BigDecimal.class, "12345678901234567890.123456789");
        roundTrip(LocalDate.of(2024, 2, 29), LocalDate.class, "2024-02-29");
        roundTrip(LocalDate.of(1, 2, 3), LocalDate.class, "0001-02-03");
        roundTrip(LocalDateTime.of(2024, 2, 29, 12, 30, 0), LocalDateTime.class, "2024-02-29 12:30:00");
        roundTrip(LocalDateTime.of(2024, 2, 29, 12, 30, 0, 500_000_000), LocalDateTime.class, "2024-02-29 12:30:00.5");
        roundTrip(LocalTime.of(23, 59, 59, 1000), LocalTime.class, "23:59:59.000001");
        roundTrip(Duration.ofSeconds(-95400, -250_000_000), Duration.class, "-26:30:00.25");
        roundTrip(Duration.ofHours(838).plusSeconds(3599), Duration.class, "838:59:59");
        roundTrip(Year.of(2024), Year.class, "2024");
        roundTrip(UUID.fromString("123e4567-e89b-12d3-a456-426655440000"), UUID.class, "123e4567-e89b-12d3-a456-426655440000");
        roundTrip(Color.GREEN, Color.class, "GREEN");
    }

    /** Cut or replaced, it would be another value. */
    @Test
    void whatDoesNotFitIsNotChanged() {
        Row latin = echo(new byte[] {'j', (byte) 0xE4});
        assertThrows(DecodeException.class, () -> latin.getString("a"));
        assertThrows(DecodeException.class, () -> latin.get(0));
        assertThrows(DecodeException.class, () -> latin.get("a", CharSequence.class));
        assertThrows(DecodeException.class, () -> echo(new byte[] {1, (byte) 0x80}).getString(0));
        assertArrayEquals(new byte[] {'j', (byte) 0xE4}, latin.getBytes("a"));
        assertEquals("really \ufffd", echo("really \ufffd").getString("a"));
        assertThrows(DecodeException.class, () -> echo("1e39").get("a", Float.class));
        assertThrows(DecodeException.class, () -> echo("-1e39").get("a", float.class));
        assertThrows(DecodeException.class, () -> echo("1e309").get("a", Double.class));
        assertEquals(Float.MAX_VALUE, echo("3.4028235E38").get("a", Float.class));
        for (String wrong : List.of("2", "-1", "00", "01", "true", "", "\u0002")) {
            assertThrows(DecodeException.class, () -> echo(wrong).getBoolean("a"), wrong);
        }
        assertTrue(echo(new byte[] {1}).getBoolean("a"));
        assertFalse(echo("0").getBoolean("a"));
    }

    @Test
    void bytesAndNull() {
        byte[] all = new byte[256];
        for (int i = 0; i < 256; i++) {
            all[i] = (byte) i;
        }
        assertArrayEquals(all, echo(all).getBytes("a"));
        assertArrayEquals(all, echo(ByteBuffer.wrap(all)).get(0, ByteBuffer.class).array());
        assertEquals("x", echo('x').getString(0));
        Row nothing = echo((Object) null);
        assertTrue(nothing.isNull("a") && nothing.isNull(0));
        assertNull(nothing.getString("a"));
        assertNull(nothing.getBytes("a"));
        assertNull(nothing.getDateTime("a"));
        assertNull(nothing.get("a", Integer.class));
        assertThrows(DecodeException.class, () -> nothing.getLong("a"));
        assertThrows(DecodeException.class, () -> nothing.getBoolean("a"));
        assertFalse(echo("").isNull("a"));
    }

    @Test
    void unsigned() {
        Row row = echo("18446744073709551615");
        assertEquals(-1L, row.getUnsignedLong("a"));
        assertEquals("18446744073709551615", Long.toUnsignedString(row.getUnsignedLong("a")));
        assertEquals(new BigInteger("18446744073709551615"), row.getBigInteger("a"));
        assertThrows(DecodeException.class, () -> row.getLong("a"));
        assertThrows(DecodeException.class, () -> echo("-1").getUnsignedLong("a"));
        assertThrows(DecodeException.class, () -> echo("18446744073709551616").getUnsignedLong("a"));
    }

    @Test
    void whatDoesNotFitIsAnErrorAndTheConnectionStays() {
        assertThrows(DecodeException.class, () -> echo("2147483648").getInt("a"));
        assertThrows(DecodeException.class, () -> echo("128").get("a", Byte.class));
        for (String wrong : List.of("", "x", "1.5", " 1", "+1", "0x1", "\u0661", "9223372036854775808")) {
            assertThrows(DecodeException.class, () -> echo(wrong).getLong("a"), wrong);
        }
        for (String wrong : List.of("", "NaN", "Infinity", "0x1p3", " 1", "1d")) {
            assertThrows(DecodeException.class, () -> echo(wrong).getDouble("a"), wrong);
        }
        for (String wrong : List.of("0000-00-00", "2024-02-30", "2024-2-29", "2024-02-29x", "yesterday", "")) {
            assertThrows(DecodeException.class, () -> echo(wrong).getDate("a"), wrong);
        }
        assertThrows(DecodeException.class, () -> echo("0000-00-00 00:00:00").getDateTime("a"));
        for (String wrong : List.of("24:00:00", "-01:00:00", "1:2:3", "12:60:00", "12:00:00.", "12:00")) {
            assertThrows(DecodeException.class, () -> echo(wrong).getTime("a"), wrong);
        }
        assertThrows(DecodeException.class, () -> echo("2").getBoolean("a"));
        assertThrows(DecodeException.class, () -> echo("BLUE").get("a", Color.class));
        assertThrows(DecodeException.class, () -> echo("1-1-1-1-1").getUuid("a"));
        assertThrows(UsageException.class, () -> echo("1").get("a", Thread.class));
        assertThrows(UsageException.class, () -> echo("1").getString("b"));
        assertThrows(UsageException.class, () -> echo("1").getString(1));
        DecodeException secret = assertThrows(DecodeException.class, () -> echo("topsecret").getLong("a"));
        assertFalse((secret.getMessage() + secret.getCause()).contains("topsecret"));
        assertEquals(1, client.counters().connectionsMade());
    }

    @Test
    void times() {
        Row row = echo("2024-07-01 12:00:00");
        assertEquals(Instant.parse("2024-07-01T10:00:00Z"), row.getInstant("a", ZoneId.of("Europe/Berlin")));
        assertEquals(LocalDate.of(2024, 7, 1).atStartOfDay(), echo("2024-07-01").getDateTime("a"));
        assertTrue(echo(new byte[] {1}).getBoolean("a"));
        assertFalse(echo(new byte[] {0}).getBoolean("a"));
    }

    @Test
    void records() {
        Index<Row> rows = client.index("t", "a", "b", "c", "d", "e", "f", "g", "h", "i");
        Index<Wide> index = rows.as(Wide.class);
        Object[] key = {5, "x", true, "1.50", LocalDate.of(2024, 1, 2), "-00:00:01", new byte[] {9, 0}, "RED", null};
        Wide wide = index.findOne(key).orElseThrow();
        assertEquals(5, wide.number());
        assertEquals(new BigDecimal("1.50"), wide.d());
        assertEquals(Duration.ofSeconds(-1), wide.f());
        assertArrayEquals(new byte[] {9, 0}, wide.g());
        assertEquals(Color.RED, wide.h());
        assertNull(wide.i());
        assertEquals(List.of("a", "b", "c", "d", "e", "f", "g", "h", "i"),
                List.copyOf(rows.findOne(key).orElseThrow().toMap().keySet()));
        key[0] = null;
        assertThrows(DecodeException.class, () -> index.findOne(key));
        assertEquals(Optional.of(new One(3)), client.table("t").open(One.class).findOne(3));
        assertEquals(List.of(new One(3)), client.table("t").open(One.class).async().find(Find.eq(3)).join());
        assertThrows(UsageException.class, () -> client.table("t").open(Unknown.class));
        assertThrows(UsageException.class, () -> client.index("t", "b").as(One.class));
        Index<Refuses> refuses = client.table("t").open(Refuses.class);
        assertThrows(DecodeException.class, () -> refuses.findOne(7));
        assertThrows(java.util.concurrent.CompletionException.class, () -> refuses.async().findOne(7).join());
        assertEquals(8, refuses.findOne(8).orElseThrow().a());
        assertEquals("x", client.index("t", "a").as(String.class).findOne("x").orElseThrow());
        assertEquals(4, client.index("t", "a").map(row -> row.getInt("a") + 1).findOne(3).orElseThrow());
    }

    @Test
    void aRowDoesNotShowItsValues() {
        assertEquals("Row[a]", echo("secret").toString());
        assertFalse(Values.of("a", "secret").toString().contains("secret"));
        assertFalse(Find.eq("secret").toString().contains("secret"));
        assertEquals("secret", new String(echo("secret").getBytes(0), ISO_8859_1));
    }
}
