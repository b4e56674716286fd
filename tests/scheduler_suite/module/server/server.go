// Package server gives the integration tests of kube-scheduler an API server that is not their own:
// the command in SUITE_SERVER_CMD is run anew for every test that asks for one.
package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	readyWithin = time.Minute
	pause       = 10 * time.Millisecond
)

// Test is a test or a benchmark.
type Test interface {
	Helper()
	Logf(format string, args ...any)
}

// Server is an API server that answers, with nothing in it but what it makes itself.
type Server struct {
	Config *rest.Config
	// Dir is a folder of its own, gone after Stop.
	Dir string

	running *process
}

// Start runs the command and waits for /readyz and the namespace "default".
func Start(t Test, wishes Wishes) (*Server, error) {
	t.Helper()
	command := os.Getenv("SUITE_SERVER_CMD")
	if command == "" {
		return nil, errors.New("SUITE_SERVER_CMD is not set: it is the command that runs an API server")
	}
	t.Logf("SUITE-WISHES %s", wishes)
	dir, err := os.MkdirTemp("", "suite-server-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir}
	if s.running, err = run(command, dir, wishes); err == nil {
		err = s.connect()
	}
	if err != nil {
		log := s.running.log()
		s.Stop()
		return nil, fmt.Errorf("%w; the server's log ends with: %s", err, log)
	}
	return s, nil
}

// Stop ends the server and removes its files. It may be called more than once.
func (s *Server) Stop() {
	s.running.kill()
	os.RemoveAll(s.Dir)
}

func (s *Server) connect() error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), readyWithin, fmt.Errorf("not ready within %s", readyWithin))
	defer cancel()
	if err := s.running.listens(ctx); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.running.kubeconfig)
	if err != nil {
		return err
	}
	// As the loopback client of a server in the same process: protobuf, as often as one likes.
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS = -1
	config.DisableCompression = true
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for !isReady(ctx, client) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.running.done:
			return errors.New("the server ended before it was ready")
		case <-time.After(pause):
		}
	}
	s.Config = config
	return nil
}

func isReady(ctx context.Context, client kubernetes.Interface) bool {
	status := 0
	client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
	if status != http.StatusOK {
		return false
	}
	_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err == nil
}
