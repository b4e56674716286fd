// Command go-clients puts the libraries that controllers are written with to work on a cluster: client-go's clients and
// informers, leader election, controller-runtime's manager. It prints a line of JSON for each check: its name, and what
// went wrong, if anything.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// patience is how long anything may take that comes about by itself, however busy the machine is.
const patience = 3 * time.Minute

// cluster is what a check gets: clients, and a namespace of its own.
type cluster struct {
	config    *rest.Config
	typed     kubernetes.Interface
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	crds      apiextensions.Interface
	namespace string
	requests  *requests
}

// check returns what is wrong, or nil.
type check struct {
	name string
	run  func(context.Context, *cluster) error
}

var checks = slices.Concat(informerChecks, writeChecks, discoveryChecks, leaderChecks, managerChecks)

// requests notes each request that clients make.
type requests struct {
	mutex sync.Mutex
	seen  []*http.Request
	next  http.RoundTripper
}

func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mutex.Lock()
	r.seen = append(r.seen, request)
	r.mutex.Unlock()
	return r.next.RoundTrip(request)
}

// count tells how many requests so far are like that.
func (r *requests) count(like func(*http.Request) bool) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := 0
	for _, request := range r.seen {
		if like(request) {
			found++
		}
	}
	return found
}

func main() {
	flags := flag.NewFlagSet("go-clients", flag.ExitOnError) // controller-runtime takes --kubeconfig for the common one
	kubeconfig := flags.String("kubeconfig", "", "the cluster to use")
	_ = flags.Parse(os.Args[1:])
	klog.LogToStderr(true)
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.QPS, config.Burst = 1000, 1000
	config.UserAgent = "go-clients"
	failed := false
	report := json.NewEncoder(os.Stdout)
	for _, one := range checks {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), one.name) {
			continue
		}
		err := runCheck(one, rest.CopyConfig(config))
		line := map[string]any{"check": one.name}
		if err != nil {
			failed = true
			line["error"] = err.Error()
		}
		if err := report.Encode(line); err != nil {
			panic(err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func runCheck(one check, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	seen := &requests{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		seen.next = next
		return seen
	})
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	c := &cluster{
		config:   config,
		typed:    typed,
		dynamic:  dynamic.NewForConfigOrDie(config),
		metadata: metadata.NewForConfigOrDie(config),
		crds:     apiextensions.NewForConfigOrDie(config),
		requests: seen,
	}
	namespace, err := typed.CoreV1().Namespaces().Create(
		ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "check-"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	c.namespace = namespace.Name
	return one.run(ctx, c)
}

// until waits for what comes about by itself.
func until(ctx context.Context, what string, holds func() bool) error {
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		return fmt.Errorf("it never came to this: %s", what)
	}
	return nil
}

// expect tells what differs, if anything does.
func expect[T comparable](what string, got, wanted T) error {
	if got != wanted {
		return fmt.Errorf("%s: %v, not %v", what, got, wanted)
	}
	return nil
}
