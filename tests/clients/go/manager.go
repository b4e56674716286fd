package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var managerChecks = []check{
	{"manager/reconciles", managerReconciles},
	{"manager/leads", managerLeads},
}

const (
	ownerField = ".metadata.controller"
	finalizer  = "example.org/counted"
)

// counter is a controller of ReplicaSets: each gets its pods, one a replica, is told how many there are, and is held by
// a finalizer until they are gone.
type counter struct {
	client.Client
	reconciled atomic.Int32
}

func (r *counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.reconciled.Add(1)
	var set appsv1.ReplicaSet
	if err := r.Get(ctx, request.NamespacedName, &set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(set.Namespace), client.MatchingFields{ownerField: set.Name}); err != nil {
		return reconcile.Result{}, err
	}
	if !set.DeletionTimestamp.IsZero() {
		for _, pod := range pods.Items {
			if err := r.Delete(ctx, &pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
		}
		if len(pods.Items) > 0 {
			return reconcile.Result{RequeueAfter: 20 * time.Millisecond}, nil
		}
		before := set.DeepCopy()
		controllerutil.RemoveFinalizer(&set, finalizer)
		return reconcile.Result{}, client.IgnoreNotFound(r.Patch(ctx, &set, client.MergeFrom(before)))
	}
	if controllerutil.AddFinalizer(&set, finalizer) {
		return reconcile.Result{}, r.Update(ctx, &set)
	}
	for i := range int(*set.Spec.Replicas) {
		made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", set.Name, i), Namespace: set.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, r.Client, made, func() error {
			made.Labels = set.Spec.Template.Labels
			if made.CreationTimestamp.IsZero() {
				made.Spec = set.Spec.Template.Spec
			}
			return controllerutil.SetControllerReference(&set, made, r.Scheme())
		})
		if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: 20 * time.Millisecond}, nil // the cache is behind
		}
		if err != nil {
			return reconcile.Result{}, err
		}
	}
	before := set.DeepCopy()
	set.Status.Replicas = int32(len(pods.Items))
	set.Status.ObservedGeneration = set.Generation
	return reconcile.Result{}, r.Status().Patch(ctx, &set, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (c *cluster) manager(options ctrl.Options) (ctrl.Manager, error) {
	no := true
	options.Scheme = scheme.Scheme
	options.Metrics = server.Options{BindAddress: "0"}
	options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}}
	options.Controller = config.Controller{SkipNameValidation: &no}
	return ctrl.NewManager(c.config, options)
}

func managerReconciles(ctx context.Context, c *cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mgr, err := c.manager(ctrl.Options{})
	if err != nil {
		return err
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, ownerField, func(object client.Object) []string {
		if owner := metav1.GetControllerOf(object); owner != nil {
			return []string{owner.Name}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r := &counter{Client: mgr.GetClient()}
	mapped := &atomic.Int32{}
	// Each change of a config map's metadata concerns the ReplicaSet of that name.
	byName := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		mapped.Add(1)
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(object)}}
	})
	err = ctrl.NewControllerManagedBy(mgr).Named("counter").
		For(&appsv1.ReplicaSet{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&corev1.Pod{}).
		WatchesMetadata(&corev1.ConfigMap{}, byName).
		Complete(r)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	labels := map[string]string{"app": "web"}
	replicas := int32(3)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: c.namespace},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("x").Spec},
		},
	}
	direct, err := client.New(c.config, client.Options{})
	if err != nil {
		return err
	}
	if err := direct.Create(ctx, set); err != nil {
		return err
	}
	counted := func(wanted int32) func() bool {
		return func() bool {
			return direct.Get(ctx, client.ObjectKeyFromObject(set), set) == nil && set.Status.Replicas == wanted
		}
	}
	if err := until(ctx, "three pods are counted", counted(3)); err != nil {
		return fmt.Errorf("%w: %d", err, set.Status.Replicas)
	}
	// A pod that somebody deletes is made again.
	var lost corev1.Pod
	if err := direct.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "web-1"}, &lost); err != nil {
		return err
	}
	if err := direct.Delete(ctx, &lost); err != nil {
		return err
	}
	if err := until(ctx, "the lost pod is made again", func() bool {
		var again corev1.Pod
		return direct.Get(ctx, client.ObjectKeyFromObject(&lost), &again) == nil && again.UID != lost.UID
	}); err != nil {
		return err
	}
	if err := direct.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: c.namespace}}); err != nil {
		return err
	}
	if err := until(ctx, "the config map is told", func() bool { return mapped.Load() > 0 }); err != nil {
		return err
	}
	if err := direct.Delete(ctx, set); err != nil {
		return err
	}
	if err := until(ctx, "the set is gone, after its pods", func() bool {
		return apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(set), set))
	}); err != nil {
		return err
	}
	var left corev1.PodList
	if err := direct.List(ctx, &left, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	if err := expect("pods left", len(left.Items), 0); err != nil {
		return err
	}
	cancel()
	return <-ended
}

// managerLeads: of two managers the second begins when the first ends.
func managerLeads(ctx context.Context, c *cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	duration, deadline, period := longLease, longLease/2, 100*time.Millisecond
	start := func() (<-chan struct{}, context.CancelFunc, error) {
		mgr, err := c.manager(ctrl.Options{
			LeaderElection: true, LeaderElectionID: "managers", LeaderElectionNamespace: c.namespace,
			LeaderElectionReleaseOnCancel: true,
			LeaseDuration:                 &duration, RenewDeadline: &deadline, RetryPeriod: &period,
		})
		if err != nil {
			return nil, nil, err
		}
		its, stop := context.WithCancel(ctx)
		go func() { _ = mgr.Start(its) }()
		return mgr.Elected(), stop, nil
	}
	first, stopFirst, err := start()
	if err != nil {
		return err
	}
	select {
	case <-first:
	case <-time.After(patience):
		return fmt.Errorf("the first manager never leads")
	}
	second, stopSecond, err := start()
	if err != nil {
		return err
	}
	defer stopSecond()
	select {
	case <-second:
		return fmt.Errorf("two managers lead")
	case <-time.After(500 * time.Millisecond):
	}
	stopFirst()
	select {
	case <-second:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the second manager never leads")
	}
}
