package framework

import (
	"errors"
	"flag"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

// In place of the file that starts an etcd: the API server keeps its objects wherever it likes.

// EtcdMain runs the tests of a package and ends the process. It does not look for goroutines that
// were left running, which says nothing of the API server and can take ten minutes.
func EtcdMain(tests func() int) {
	flag.Parse()
	code := tests()
	klog.StopFlushDaemon()
	os.Exit(code)
}

// GetEtcdURL is an address at which nobody listens.
func GetEtcdURL() string { return "http://127.0.0.1:0" }

// StartEtcd has nothing to start.
func StartEtcd(klog.Logger, testing.TB, bool) {}

// RunCustomEtcd fails, and with it a test that looks into etcd.
func RunCustomEtcd(klog.Logger, string, []string) (string, func(), error) {
	return "", nil, errors.New("this API server has no etcd to look into")
}
