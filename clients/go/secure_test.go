package handlersocket

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files for TLS that cannot be used are refused when the URL is read, and the error names the option and the file.

// certificateAndKey makes a certificate that signs itself.
func certificateAndKey(t *testing.T) (certificate, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
}

func TestFilesForTLS(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, secret := certificateAndKey(t)
	_, other := certificateAndKey(t)
	missing, garbage := filepath.Join(folder, "missing"), file("garbage", []byte("no certificate\n"))
	empty := file("empty", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"}))
	certificate, key, foreign := file("certificate", text), file("key", secret), file("foreign", other)
	both := file("both", append(append([]byte("a remark\n"), secret...), text...))
	for name, test := range map[string]struct {
		options string
		words   []string
	}{
		"authorities that are missing":     {"tls_ca=" + missing, []string{"tls_ca", missing}},
		"authorities that are a folder":    {"tls_ca=" + folder, []string{"tls_ca", folder}},
		"authorities that are none":        {"tls_ca=" + garbage, []string{"tls_ca", garbage, "no certificate"}},
		"authorities without bytes":        {"tls_ca=" + empty, []string{"tls_ca", empty, "no certificate"}},
		"authorities that are a key":       {"tls_ca=" + key, []string{"tls_ca", key, "no certificate"}},
		"a certificate that is missing":    {"tls_cert=" + missing + "&tls_key=" + key, []string{"tls_cert", missing}},
		"a certificate that is none":       {"tls_cert=" + garbage + "&tls_key=" + key, []string{"tls_cert", garbage, "no certificate"}},
		"a key that is missing":            {"tls_cert=" + certificate + "&tls_key=" + missing, []string{"tls_key", missing}},
		"a key that is none":               {"tls_cert=" + certificate + "&tls_key=" + certificate, []string{"tls_key", certificate, "no private key"}},
		"a key of another certificate":     {"tls_cert=" + certificate + "&tls_key=" + foreign, []string{"tls_cert", "tls_key", certificate, foreign}},
		"fine authorities":                 {"tls_ca=" + certificate, nil},
		"a fine certificate":               {"tls_cert=" + certificate + "&tls_key=" + key, nil},
		"a certificate beside its own key": {"tls_cert=" + both + "&tls_key=" + both + "&tls_ca=" + both, nil},
	} {
		for _, mode := range []string{"verify", "unverified"} {
			_, err := ParseURL("handlersocket://db/d?tls=" + mode + "&" + test.options)
			if test.words == nil {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !errors.Is(err, ErrUsage) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, word := range test.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%s: %s is not in %v", name, word, err)
				}
			}
		}
	}
}
