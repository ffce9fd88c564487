package handlersocket2.internal;

import handlersocket2.ClientBuilder.Tls;
import handlersocket2.UsageException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
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

    /** A server is not asked by one. */
    private static final Pattern IP_ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

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
            throw new UsageException("the files for TLS cannot be used: " + problem.getMessage(), problem);
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
        if (settings.tlsName != null) {
            askBy(settings.tlsName, parameters);
        }
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** Java itself asks by no name that is without a dot. */
    private static void askBy(String name, SSLParameters parameters) {
        if (!IP_ADDRESS.matcher(name).matches()) {
            try {
                parameters.setServerNames(List.of(new SNIHostName(name)));
            } catch (IllegalArgumentException problem) {
                // TLS cannot ask by a name like a_b, but a certificate may have it.
            }
        }
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
        for (Certificate authority : certificates("tls_ca", settings.tlsCa)) {
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
        Certificate[] chain = certificates("tls_cert", settings.tlsCert).toArray(new Certificate[0]);
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("client", privateKey(settings.tlsKey, chain[0]), new char[0], chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, new char[0]);
        return factory.getKeyManagers();
    }

    private static byte[] read(String option, Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException problem) {
            throw new UsageException(option + ": the file " + file + " cannot be read", problem);
        }
    }

    private static Collection<? extends Certificate> certificates(String option, Path file) {
        byte[] pem = read(option, file);
        Collection<? extends Certificate> found = List.of();
        CertificateException reason = null;
        try {
            found = CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
        } catch (CertificateException problem) {
            reason = problem;
        }
        if (found.isEmpty()) {
            throw new UsageException(option + ": the file " + file + " has no certificate in the form PEM", reason);
        }
        return found;
    }

    private static PrivateKey privateKey(Path file, Certificate certificate) throws GeneralSecurityException {
        Matcher found = KEY.matcher(new String(read("tls_key", file), StandardCharsets.ISO_8859_1));
        if (!found.find()) {
            throw new UsageException("tls_key: the file " + file + " has no key in the form PKCS#8 (BEGIN PRIVATE KEY)");
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(found.group(1));
            return KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(der));
        } catch (InvalidKeySpecException | IllegalArgumentException problem) {
            throw new UsageException("tls_key: the file " + file + " has no key that belongs to the certificate", problem);
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
