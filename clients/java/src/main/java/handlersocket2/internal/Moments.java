package handlersocket2.internal;

import handlersocket2.UsageException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.temporal.ChronoField;
import java.time.temporal.Temporal;

/**
 * Dates and times as SQL writes them. What is read and is none is an {@link IllegalArgumentException} or a {@link
 * DateTimeException}; the caller knows which column it was.
 */
final class Moments {
    private static final int DIGITS = 9;

    private Moments() {}

    static String write(Temporal moment) {
        StringBuilder text = new StringBuilder(29);
        if (moment.isSupported(ChronoField.YEAR)) {
            int year = moment.get(ChronoField.YEAR);
            if (year < 0 || year > 9999) {
                throw new UsageException("a column holds the years 0 to 9999");
            }
            digits(text, year, 4).append('-');
            digits(text, moment.get(ChronoField.MONTH_OF_YEAR), 2).append('-');
            digits(text, moment.get(ChronoField.DAY_OF_MONTH), 2);
            if (!moment.isSupported(ChronoField.HOUR_OF_DAY)) {
                return text.toString();
            }
            text.append(' ');
        }
        digits(text, moment.get(ChronoField.HOUR_OF_DAY), 2).append(':');
        digits(text, moment.get(ChronoField.MINUTE_OF_HOUR), 2).append(':');
        digits(text, moment.get(ChronoField.SECOND_OF_MINUTE), 2);
        return fraction(text, moment.get(ChronoField.NANO_OF_SECOND)).toString();
    }

    static String write(Duration duration) {
        StringBuilder text = new StringBuilder(20);
        if (duration.isNegative()) {
            text.append('-');
            duration = duration.negated();
        }
        digits(text, duration.toHours(), 2).append(':');
        digits(text, duration.toMinutesPart(), 2).append(':');
        digits(text, duration.toSecondsPart(), 2);
        return fraction(text, duration.toNanosPart()).toString();
    }

    private static StringBuilder digits(StringBuilder text, long number, int least) {
        String digits = Long.toString(number);
        return text.append("0".repeat(Math.max(0, least - digits.length()))).append(digits);
    }

    private static StringBuilder fraction(StringBuilder text, int nanos) {
        if (nanos != 0) {
            digits(text.append('.'), nanos, DIGITS);
            while (text.charAt(text.length() - 1) == '0') {
                text.setLength(text.length() - 1);
            }
        }
        return text;
    }

    static LocalDate readDate(String text) {
        if (text.length() != 10 || text.charAt(4) != '-' || text.charAt(7) != '-') {
            throw new IllegalArgumentException("no date");
        }
        return LocalDate.of(number(text, 0, 4), number(text, 5, 7), number(text, 8, 10));
    }

    static LocalDateTime readDateTime(String text) {
        if (text.length() == 10) {
            return readDate(text).atStartOfDay();
        }
        if (text.length() < 19 || text.charAt(10) != ' ') {
            throw new IllegalArgumentException("no date with a time");
        }
        return readDate(text.substring(0, 10)).atTime(readTime(text.substring(11)));
    }

    static LocalTime readTime(String text) {
        Duration duration = readDuration(text);
        if (duration.isNegative() || duration.toHours() > 23) {
            throw new IllegalArgumentException("no time of a day");
        }
        return LocalTime.ofNanoOfDay(duration.toNanos());
    }

    static Duration readDuration(String text) {
        boolean negative = text.startsWith("-");
        int begin = negative ? 1 : 0;
        int colon = text.indexOf(':');
        if (colon <= begin || text.length() < colon + 6 || text.charAt(colon + 3) != ':') {
            throw new IllegalArgumentException("no time");
        }
        int minutes = number(text, colon + 1, colon + 3);
        int seconds = number(text, colon + 4, colon + 6);
        if (minutes > 59 || seconds > 59) {
            throw new IllegalArgumentException("no time");
        }
        Duration duration =
                Duration.ofHours(number(text, begin, colon)).plusMinutes(minutes).plusSeconds(seconds);
        if (text.length() > colon + 6) {
            int count = text.length() - colon - 7;
            if (text.charAt(colon + 6) != '.' || count < 1 || count > DIGITS) {
                throw new IllegalArgumentException("no time");
            }
            long fraction = number(text, colon + 7, text.length());
            for (int i = count; i < DIGITS; i++) {
                fraction *= 10;
            }
            duration = duration.plusNanos(fraction);
        }
        return negative ? duration.negated() : duration;
    }

    private static int number(String text, int from, int to) {
        int number = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9 || to - from > DIGITS) {
                throw new IllegalArgumentException("no number");
            }
            number = number * 10 + digit;
        }
        return number;
    }
}
