package framework

import (
	"context"
	"fmt"
	"testing"

	"batkube/tests/scheduler_suite/server"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// In place of the file that starts a kube-apiserver in the process of the test.

// TestServerSetup is how a test changes its API server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
}

// TearDownFunc ends an API server.
type TearDownFunc func()

// StartTestServer starts an API server for a test, which fails where that is not possible.
func StartTestServer(_ context.Context, t testing.TB, setup TestServerSetup) (kubernetes.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	s, err := server.Start(t, server.Wishes{
		Flags:     append(server.FlagsOf(setup.ModifyServerRunOptions), server.GateFlags()...),
		Admission: admissionOf(setup.ModifyServerConfig),
	})
	if err != nil {
		t.Fatalf("SUITE-SERVER %v", err)
	}
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		s.Stop()
		t.Fatalf("SUITE-SERVER %v", err)
	}
	return client, s.Config, s.Stop
}

// admissionOf is the type of the admission plugin that change puts into the server.
func admissionOf(change func(*controlplane.Config)) string {
	if change == nil {
		return ""
	}
	config := &controlplane.Config{ControlPlane: apiserver.Config{Generic: &genericapiserver.Config{}}}
	change(config)
	if plugin := config.ControlPlane.Generic.AdmissionControl; plugin != nil {
		return fmt.Sprintf("%T", plugin)
	}
	return ""
}
