import java.util.Objects;

/** Something is not what it must be. */
final class Wrong extends RuntimeException {
    private Wrong(String message, Throwable cause) {
        super(message, cause);
    }

    static Wrong of(Object expected, Object came) {
        return new Wrong("expected " + expected + ", and there came " + came, null);
    }

    static Wrong of(Object expected, Throwable came) {
        return new Wrong("expected " + expected + ", and there came " + came, came);
    }

    static void unlessSame(Object expected, Object came) {
        if (!Objects.equals(expected, came)) {
            throw of(expected, came);
        }
    }

    @Override
    public String toString() {
        return getMessage();
    }
}
