package handlersocket2;

import handlersocket2.internal.Columns;
import handlersocket2.internal.IndexDef;
import handlersocket2.internal.Reply;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the server says about an index and its columns, at one moment. {@link HandlerSocketClient#index(Description)} makes
 * an index of it whose rows know the types.
 *
 * @param database the database
 * @param table the table
 * @param index the index
 * @param columns the columns that rows have
 * @param filterColumns the columns for filters
 * @param key the parts of the index
 */
public record Description(
        String database,
        String table,
        String index,
        List<Column> columns,
        List<Column> filterColumns,
        List<Column> key) {

    /**
     * Makes one.
     *
     * @param database the database
     * @param table the table
     * @param index the index
     * @param columns the columns that rows have
     * @param filterColumns the columns for filters
     * @param key the parts of the index
     */
    public Description {
        columns = List.copyOf(columns);
        filterColumns = List.copyOf(filterColumns);
        key = List.copyOf(key);
    }

    /**
     * A column, or a part of the index. What the server does not say is null: of a column that the account may not see,
     * everything but the name.
     *
     * @param name its name; null for a part of the index that is an expression
     * @param type its type as SQL writes it, such as {@code varchar(50)}
     * @param nullable whether it may be NULL
     * @param unsigned whether it is unsigned
     * @param decimals its decimals, or the digits behind the seconds
     * @param charset its character set; null if the values are bytes or no text
     */
    public record Column(
            @Nullable String name,
            @Nullable String type,
            @Nullable Boolean nullable,
            @Nullable Boolean unsigned,
            @Nullable Integer decimals,
            @Nullable String charset) {

        /**
         * The type as which its values are read: the word decides with which {@link #type()} begins. A type that this
         * client does not know is text if it has a character set, and bytes if not.
         *
         * @return Long, BigInteger (BIGINT UNSIGNED), BigDecimal, Double, String, byte[], LocalDate, LocalDateTime,
         *     Duration or UUID
         */
        public Class<?> javaType() {
            return switch (word()) {
                case "tinyint", "smallint", "mediumint", "int", "year" -> Long.class;
                case "bigint" -> Boolean.TRUE.equals(unsigned) ? BigInteger.class : Long.class;
                case "decimal" -> BigDecimal.class;
                case "float", "double" -> Double.class;
                case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "inet4",
                        "inet6" -> String.class;
                case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit" -> byte[].class;
                case "date" -> LocalDate.class;
                case "datetime", "timestamp" -> LocalDateTime.class;
                case "time" -> Duration.class;
                case "uuid" -> UUID.class;
                default -> charset == null ? byte[].class : String.class;
            };
        }

        private String word() {
            int end = 0;
            while (type != null && end < type.length() && Character.isLetterOrDigit(type.charAt(end))) {
                end++;
            }
            return type == null ? "" : type.substring(0, end).toLowerCase(Locale.ROOT);
        }
    }

    /** Reads a reply that describes this index. */
    static Description of(IndexDef.Key index, Reply reply) {
        List<Column> columns = new ArrayList<>();
        List<Column> filterColumns = new ArrayList<>();
        List<Column> key = new ArrayList<>();
        for (int row = 0; row < reply.rows(); row++) {
            int at = row * Columns.WIDTH;
            switch (String.valueOf(reply.text(at))) {
                case Columns.COLUMN -> columns.add(column(reply, at));
                case Columns.FILTER -> filterColumns.add(column(reply, at));
                default -> key.add(column(reply, at));
            }
        }
        return new Description(index.database(), index.table(), index.index(), columns, filterColumns, key);
    }

    private static Column column(Reply reply, int at) {
        String decimals = reply.text(at + 5);
        return new Column(
                reply.text(at + 1), reply.text(at + 2), truth(reply.text(at + 3)), truth(reply.text(at + 4)),
                decimals == null ? null : Integer.valueOf(decimals), reply.text(at + 6));
    }

    private static @Nullable Boolean truth(@Nullable String value) {
        return value == null ? null : value.equals("1");
    }
}
