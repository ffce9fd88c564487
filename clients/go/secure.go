package handlersocket

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
)

// What a URL says of TLS: files with certificates and keys.

type tlsOptions struct{ mode, ca, name, cert, key string }

func (c *Config) setTLS(t *tlsOptions) error {
	switch t.mode {
	case "verify":
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.name}
	case "unverified":
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, ServerName: t.name}
	case "", "off":
		for _, option := range []struct{ name, value string }{
			{"tls_ca", t.ca}, {"tls_name", t.name}, {"tls_cert", t.cert}, {"tls_key", t.key},
		} {
			if option.value != "" {
				return usage("the URL has %s, but not tls=verify or tls=unverified", option.name)
			}
		}
		return nil
	default:
		return usage("tls is off, verify or unverified")
	}
	if t.ca != "" {
		authorities, err := readPEM("tls_ca", t.ca, "CERTIFICATE")
		if err != nil {
			return err
		}
		c.TLS.RootCAs = x509.NewCertPool()
		if !c.TLS.RootCAs.AppendCertsFromPEM(authorities) {
			return usage("tls_ca: no certificate in the file %s can be used", t.ca)
		}
	}
	if (t.cert == "") != (t.key == "") {
		return usage("tls_cert and tls_key belong together")
	}
	if t.cert != "" {
		certificate, err := readPEM("tls_cert", t.cert, "CERTIFICATE")
		if err != nil {
			return err
		}
		key, err := readPEM("tls_key", t.key, "PRIVATE KEY")
		if err != nil {
			return err
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return usage("tls_cert and tls_key: the files %s and %s cannot be used: %w", t.cert, t.key, err)
		}
		c.TLS.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// readPEM reads a file that has a block of this kind: "EC PRIVATE KEY" is a "PRIVATE KEY".
func readPEM(option, file, kind string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("%s: %w", option, err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return text, nil
		}
	}
	return nil, usage("%s: the file %s has no %s", option, file, strings.ToLower(kind))
}
