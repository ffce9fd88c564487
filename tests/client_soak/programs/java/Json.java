import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** JSON in ASCII, so that it does not depend on the encoding of the standard output. */
final class Json {
    private Json() {}

    /** A map by texts, a list, a text, a number, or null. */
    static String of(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> of(entry.getKey()) + ": " + of(entry.getValue()))
                    .collect(Collectors.joining(", ", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof String text ? '"' + escape(text) + '"' : String.valueOf(value);
    }

    /** What stands between the quotes of a text. It is one line, whatever the text is. */
    static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c < ' ' || c > '~') {
                escaped.append("\\u").append(HexFormat.of().toHexDigits(c));
            } else {
                escaped.append(c == '"' || c == '\\' ? "\\" : "").append(c);
            }
        }
        return escaped.toString();
    }
}
