package testing

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"batkube/tests/scheduler_suite/server"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storageversion"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// In place of the other file that starts a kube-apiserver in the process of the test. Tests set the
// fields of TestServerInstanceOptions and ProxyCA; none has a meaning here.

// TestServerInstanceOptions is how a test changes its API server beyond flags.
type TestServerInstanceOptions struct {
	BinaryVersion          string
	EnableCertAuth         bool
	ProxyCA                *ProxyCA
	RequestTimeout         time.Duration
	SkipHealthzCheck       bool
	StorageVersionWrapFunc func(storageversion.Manager) storageversion.Manager
}

// ProxyCA is an authority for the certificates of front proxies.
type ProxyCA struct {
	ProxySigningCert *x509.Certificate
	ProxySigningKey  *rsa.PrivateKey
}

// TearDownFunc ends an API server.
type TearDownFunc func()

// TestServer is an API server that runs.
type TestServer struct {
	ClientConfig      *rest.Config
	ServerOpts        *options.ServerRunOptions
	TearDownFn        TearDownFunc
	TmpDir            string
	EtcdClient        *clientv3.Client // nil
	EtcdStoragePrefix string
}

// NewDefaultTestServerOptions returns options that change nothing.
func NewDefaultTestServerOptions() *TestServerInstanceOptions { return &TestServerInstanceOptions{} }

// StartTestServerOrDie starts an API server for a test, which fails where that is not possible.
func StartTestServerOrDie(t testing.TB, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	t.Helper()
	started, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("SUITE-SERVER %v", err)
	}
	return &started
}

// StartTestServer starts an API server for a test.
func StartTestServer(t ktesting.TB, _ *TestServerInstanceOptions, flags []string, _ *storagebackend.Config) (TestServer, error) {
	t.Helper()
	s, err := server.Start(t, server.Wishes{Flags: append(oneWordEach(flags), server.GateFlags()...)})
	if err != nil {
		return TestServer{}, err
	}
	s.Config.QPS, s.Config.Burst = 1000, 10000 // -1 says "no limit" to some clients only
	opts := options.NewServerRunOptions()
	opts.SecureServing.ServerCert.CertDirectory = s.Dir
	if opts.SecureServing.ServerCert.CertKey.CertFile, err = authority(s); err != nil {
		s.Stop()
		return TestServer{}, err
	}
	return TestServer{ClientConfig: s.Config, ServerOpts: opts, TmpDir: s.Dir, TearDownFn: s.Stop}, nil
}

// authority is a file with the certificate by which clients know the server; none of plain HTTP.
func authority(s *server.Server) (string, error) {
	config := rest.CopyConfig(s.Config)
	if err := rest.LoadTLSFiles(config); err != nil || len(config.CAData) == 0 {
		return "", err
	}
	file := filepath.Join(s.Dir, "ca.crt")
	return file, os.WriteFile(file, config.CAData, 0o600)
}

// GetEtcdClients fails, and with it a test that looks into etcd.
func GetEtcdClients(storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	return nil, nil, errors.New("this API server has no etcd to look into")
}

// oneWordEach turns "--flag", "value" into "--flag=value".
func oneWordEach(words []string) []string {
	var flags []string
	for _, word := range words {
		if len(flags) > 0 && !strings.HasPrefix(word, "-") {
			flags[len(flags)-1] += "=" + word
		} else {
			flags = append(flags, word)
		}
	}
	return flags
}
