package handlersocket2.internal;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.UUID;

/** Reads values that are not NULL. What does not fit is a RuntimeException. */
public final class ValueParsers {
    private ValueParsers() {}

    /** A whole number of 64 bits with a sign. */
    public static long number(Reply reply, int value) {
        long small = reply.smallNumber(value);
        return small != Long.MIN_VALUE ? small : Long.parseLong(digits(reply.text(value)));
    }

    /** A whole number of 64 bits without a sign. */
    public static long unsigned(Reply reply, int value) {
        long small = reply.smallNumber(value);
        if (small >= 0) {
            return small;
        }
        return Long.parseUnsignedLong(digits(reply.text(value)));
    }

    /** Java would also take a plus and digits of other scripts. */
    private static String digits(String text) {
        for (int i = text.startsWith("-") ? 1 : 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                throw new NumberFormatException();
            }
        }
        return text;
    }

    /** The text of a number as SQL writes it. Java would also take blanks, NaN and hexadecimal digits. */
    public static String numeric(Reply reply, int value) {
        String text = reply.text(value);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E') {
                throw new NumberFormatException();
            }
        }
        return text;
    }

    /** A value that is too large would silently be infinite. */
    public static double doubleNumber(Reply reply, int value) {
        double number = Double.parseDouble(numeric(reply, value));
        if (Double.isInfinite(number)) {
            throw new ArithmeticException();
        }
        return number;
    }

    /** The same of 32 bits. */
    public static float floatNumber(Reply reply, int value) {
        float number = Float.parseFloat(numeric(reply, value));
        if (Float.isInfinite(number)) {
            throw new ArithmeticException();
        }
        return number;
    }

    /** The digit of a number, or the byte of a BIT(1). */
    public static boolean truth(Reply reply, int value) {
        byte[] bytes = reply.bytes(value);
        if (bytes.length == 1) {
            switch (bytes[0]) {
                case '0', 0 -> {
                    return false;
                }
                case '1', 1 -> {
                    return true;
                }
                default -> {}
            }
        }
        throw new IllegalArgumentException();
    }

    public static LocalDate date(Reply reply, int value) {
        return Moments.readDate(reply.text(value));
    }

    public static LocalDateTime dateTime(Reply reply, int value) {
        return Moments.readDateTime(reply.text(value));
    }

    public static LocalTime time(Reply reply, int value) {
        return Moments.readTime(reply.text(value));
    }

    public static Duration duration(Reply reply, int value) {
        return Moments.readDuration(reply.text(value));
    }

    public static UUID uuid(Reply reply, int value) {
        String text = reply.text(value);
        if (text.length() != 36) {
            throw new IllegalArgumentException();
        }
        return UUID.fromString(text);
    }
}
