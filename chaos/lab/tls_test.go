package lab_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	config := fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", cert, key)
	s := start(t, lab.Options{Config: config, ReadyOptions: []nats.Option{nats.RootCAs(cert)}})
	nc := connect(t, s, nats.RootCAs(cert))
	if !nc.TLSRequired() {
		t.Error("the server does not demand TLS")
	}
	if err := s.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
}

func TestTLSUnknownToTheLab(t *testing.T) {
	left := temporaryHome(t)
	cert, key := certificate(t)
	_, err := lab.Start(patient(t), lab.Options{
		Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", cert, key), MaxStart: patience})
	if err == nil || !strings.Contains(err.Error(), "Options.ReadyOptions") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("start: %v, want a hint at ReadyOptions and the certificate", err)
	}
	if found := left(); len(found) > 0 {
		t.Errorf("left behind: %s", found)
	}
}

// certificate makes a self-signed one for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}
