package handlersocket2.internal;

import java.nio.charset.StandardCharsets;

/** The lines of hello. */
public final class Hello {
    /** Turns texts on. */
    static final byte[] TEXTS = "H\ttexts\n".getBytes(StandardCharsets.ISO_8859_1);

    private Hello() {}

    /** The hello of an application. It names what the client has turned on, or it would turn that off. */
    public static LineWriter line(Settings settings) {
        return new LineWriter().raw(settings.texts ? "H\ttexts\n" : "H\n");
    }
}
