package handlersocket2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate for 127.0.0.1, which the JDK's own tool has made. */
final class TestCertificate {
    private static final String PASSWORD = "secret";

    /** Has it, and trusts it. */
    final SSLContext context;
    /** The certificate without its key. */
    final Path pem;

    TestCertificate(Path folder) throws Exception {
        Path store = folder.resolve("store.p12");
        pem = folder.resolve("certificate.pem");
        keytool("-genkeypair -alias server -keyalg EC -validity 2 -dname CN=127.0.0.1 -ext san=ip:127.0.0.1"
                + " -storetype PKCS12", store);
        keytool("-exportcert -alias server -rfc -file " + pem, store);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(keys);
        context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    }

    private static void keytool(String words, Path store) throws Exception {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        ProcessBuilder made = new ProcessBuilder((words + " -storepass " + PASSWORD + " -keystore").split(" "));
        made.command().add(0, keytool.toString());
        made.command().add(store.toString());
        assertEquals(0, made.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor());
    }
}
