package handlersocket2.internal;

import handlersocket2.ClientBuilder.Tls;
import handlersocket2.UsageException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Makes the engines of TLS from the options. */
final class TlsContexts {
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", Pattern.DOTALL);

    private final SSLContext context;
    private final Settings settings;

    private TlsContexts(SSLContext context, Settings settings) {
        this.context = context;
        this.settings = settings;
    }

    /** Null if the settings want no TLS. The files are read once, here. */
    static @Nullable TlsContexts of(Settings settings) {
        if (settings.tls == Tls.OFF) {
            return null;
        }
        if (settings.sslContext != null) {
            return new TlsContexts(settings.sslContext, settings);
        }
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(settings), trust(settings), null);
            return new TlsContexts(context, settings);
        } catch (GeneralSecurityException | IOException problem) {
            throw new UsageException("a file for TLS cannot be used: " + problem.getMessage(), problem);
        }
    }

    SSLEngine engine(String host, int port) {
        String name = settings.tlsName != null ? settings.tlsName : host;
        SSLEngine engine = context.createSSLEngine(name, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
        if (settings.tls == Tls.VERIFY) {
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    private static TrustManager @Nullable [] trust(Settings settings) throws GeneralSecurityException, IOException {
        if (settings.tls == Tls.UNVERIFIED) {
            return new TrustManager[] {new TrustsEverybody()};
        }
        if (settings.tlsCa == null) {
            return null;
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int count = 0;
        for (Certificate authority : certificates(settings.tlsCa)) {
            store.setCertificateEntry("authority" + count++, authority);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static KeyManager @Nullable [] keys(Settings settings) throws GeneralSecurityException, IOException {
        if (settings.tlsCert == null || settings.tlsKey == null) {
            return null;
        }
        Certificate[] chain = certificates(settings.tlsCert).toArray(new Certificate[0]);
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("client", privateKey(settings.tlsKey, chain[0]), new char[0], chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, new char[0]);
        return factory.getKeyManagers();
    }

    private static Collection<? extends Certificate> certificates(Path file)
            throws GeneralSecurityException, IOException {
        byte[] pem = Files.readAllBytes(file);
        Collection<? extends Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
        if (found.isEmpty()) {
            throw new UsageException(file + " contains no certificate");
        }
        return found;
    }

    private static PrivateKey privateKey(Path file, Certificate certificate)
            throws GeneralSecurityException, IOException {
        Matcher found = KEY.matcher(Files.readString(file));
        if (!found.find()) {
            throw new UsageException(file + " contains no key in the form PKCS#8 (BEGIN PRIVATE KEY)");
        }
        byte[] der = Base64.getMimeDecoder().decode(found.group(1));
        try {
            return KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (InvalidKeySpecException problem) {
            throw new UsageException(file + " has a key that does not belong to the certificate", problem);
        }
    }

    /** For tls=unverified, which has to be asked for. */
    private static final class TrustsEverybody extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
