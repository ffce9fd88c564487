package handlersocket2;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the vectors: objects are maps, arrays lists, and numbers whole. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The vectors of a file of tests/vectors. */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> vectors(String file) {
        Path path = Path.of(System.getProperty("repository"), "tests", "vectors", file);
        try {
            Json json = new Json(Files.readString(path));
            List<Map<String, Object>> all = (List<Map<String, Object>>) json.value();
            if (all.size() < 3) {
                throw new IllegalStateException(file + " is short");
            }
            return all;
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private Object value() {
        char c = next();
        if (c == '{') {
            Map<String, Object> map = new LinkedHashMap<>();
            at++;
            while (next() != '}') {
                String name = string();
                expect(':');
                map.put(name, value());
                if (next() == ',') {
                    at++;
                }
            }
            at++;
            return map;
        }
        if (c == '[') {
            List<Object> list = new ArrayList<>();
            at++;
            while (next() != ']') {
                list.add(value());
                if (next() == ',') {
                    at++;
                }
            }
            at++;
            return list;
        }
        if (c == '"') {
            return string();
        }
        int begin = at;
        while (at < text.length() && ",]} \n\t\r".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(begin, at);
        return switch (word) {
            case "null" -> null;
            case "true" -> true;
            case "false" -> false;
            default -> new BigInteger(word);
        };
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw new IllegalStateException("JSON has no " + wanted + " at " + at);
        }
        at++;
    }

    private String string() {
        expect('"');
        StringBuilder result = new StringBuilder();
        for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
            if (c != '\\') {
                result.append(c);
                continue;
            }
            char escape = text.charAt(at++);
            switch (escape) {
                case 'n' -> result.append('\n');
                case 't' -> result.append('\t');
                case 'r' -> result.append('\r');
                case 'b' -> result.append('\b');
                case 'f' -> result.append('\f');
                case 'u' -> {
                    result.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> result.append(escape);
            }
        }
        return result.toString();
    }
}
