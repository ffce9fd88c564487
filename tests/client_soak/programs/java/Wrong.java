import java.util.Objects;

/** Something is not what it must be. */
final class Wrong extends RuntimeException {
    private static final long serialVersionUID = 1;

    private Wrong(String message, Throwable cause) {
        super(message, cause);
    }

    static Wrong of(Object expected, Object came) {
        String message = "expected " + expected + ", and there came " + came;
        return new Wrong(message, came instanceof Throwable cause ? cause : null);
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
