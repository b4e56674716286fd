package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
)

var writeChecks = []check{
	{"apply/typed", applyTyped},
	{"apply/conflict", applyConflict},
	{"apply/extract", applyExtract},
	{"apply/status", applyStatus},
	{"patch/kinds", patchKinds},
	{"update/conflicts", updateConflicts},
	{"delete/preconditions", deletePreconditions},
	{"delete/collection", deleteCollection},
	{"evict/budget", evictBudget},
	{"events/series", eventSeries},
	{"create/dry-run", createDryRun},
	{"errors/kinds", errorKinds},
}

func (c *cluster) deployment(replicas int32) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	return appsapply.Deployment("web", c.namespace).WithSpec(appsapply.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().
			WithContainers(coreapply.Container().WithName("main").WithImage("nginx:1").
				WithEnv(coreapply.EnvVar().WithName("A").WithValue("1"))))))
}

func applyTyped(ctx context.Context, c *cluster) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	made, err := deployments.Apply(ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	again, err := deployments.Apply(ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if err := expect("the version after the same apply", again.ResourceVersion, made.ResourceVersion); err != nil {
		return err
	}
	// What another manager adds stays; what this one no longer wants goes.
	other := appsapply.Deployment("web", c.namespace).WithLabels(map[string]string{"owner": "two"})
	if _, err := deployments.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); err != nil {
		return err
	}
	wanted := c.deployment(2)
	wanted.Spec.Template.Spec.Containers[0].Env = nil
	changed, err := deployments.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if err := expect("labels", fmt.Sprint(changed.Labels), "map[owner:two]"); err != nil {
		return err
	}
	return expect("variables", len(changed.Spec.Template.Spec.Containers[0].Env), 0)
}

func applyConflict(ctx context.Context, c *cluster) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Apply(ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := deployments.Apply(ctx, c.deployment(3), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("another manager's apply: %v, no conflict", err)
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || len(status.Status().Details.Causes) != 1 {
		return fmt.Errorf("the conflict has no cause: %v", err)
	}
	cause := status.Status().Details.Causes[0]
	if err := expect("cause", cause.Type, metav1.CauseTypeFieldManagerConflict); err != nil {
		return err
	}
	if err := expect("its field", cause.Field, ".spec.replicas"); err != nil {
		return err
	}
	forced, err := deployments.Apply(ctx, c.deployment(3), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	return expect("replicas", *forced.Spec.Replicas, 3)
}

func applyExtract(ctx context.Context, c *cluster) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Apply(ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	live, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	extracted, err := appsapply.ExtractDeployment(live, "one")
	if err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(extracted.Spec, c.deployment(2).Spec) {
		return fmt.Errorf("extracted is %+v", extracted.Spec)
	}
	_, err = deployments.Apply(ctx, extracted.WithAnnotations(map[string]string{"a": "b"}),
		metav1.ApplyOptions{FieldManager: "one"})
	return err
}

func applyStatus(ctx context.Context, c *cluster) error {
	deployments := c.typed.AppsV1().Deployments(c.namespace)
	if _, err := deployments.Apply(ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	status := appsapply.Deployment("web", c.namespace).WithStatus(appsapply.DeploymentStatus().WithReplicas(2).
		WithConditions(appsapply.DeploymentCondition().WithType(appsv1.DeploymentAvailable).
			WithStatus(corev1.ConditionTrue).WithReason("Test").WithMessage("enough")))
	applied, err := deployments.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "controller"})
	if err != nil {
		return err
	}
	if err := expect("replicas in the status", applied.Status.Replicas, 2); err != nil {
		return err
	}
	for _, entry := range applied.ManagedFields {
		if entry.Manager == "controller" {
			return expect("subresource of the manager", entry.Subresource, "status")
		}
	}
	return errors.New("the controller manages no field")
}

func patchKinds(ctx context.Context, c *cluster) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	if _, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, patch := range []struct {
		kind types.PatchType
		body string
	}{
		{types.JSONPatchType, `[{"op":"add","path":"/metadata/labels","value":{"a":"1"}}]`},
		{types.MergePatchType, `{"metadata":{"labels":{"b":"2"}}}`},
		{types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}`},
		{types.ApplyYAMLPatchType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"c":"3"}}}`},
	} {
		options := metav1.PatchOptions{FieldManager: "go-clients"}
		if _, err := pods.Patch(ctx, "p", patch.kind, []byte(patch.body), options); err != nil {
			return fmt.Errorf("%s: %w", patch.kind, err)
		}
	}
	changed, err := c.dynamic.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(c.namespace).
		Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"labels":{"d":"4"}}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect("labels", fmt.Sprint(changed.GetLabels()), "map[a:1 b:2 c:3 d:4]"); err != nil {
		return err
	}
	containers, _, _ := unstructured.NestedSlice(changed.Object, "spec", "containers")
	return expect("image", fmt.Sprint(containers[0].(map[string]any)["image"]), "nginx:2")
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
}

// updateConflicts: eight writers count together; each is told when another was faster, and none loses a step.
func updateConflicts(ctx context.Context, c *cluster) error {
	const writers, steps = 8, 10
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("counter", "0"), metav1.CreateOptions{}); err != nil {
		return err
	}
	var group sync.WaitGroup
	failures := make(chan error, writers)
	for range writers {
		group.Go(func() {
			for range steps {
				err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
					current, err := maps.Get(ctx, "counter", metav1.GetOptions{})
					if err != nil {
						return err
					}
					count, _ := strconv.Atoi(current.Data["value"])
					current.Data["value"] = strconv.Itoa(count + 1)
					_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
					return err
				})
				for apierrors.IsConflict(err) { // the others were faster five times
					err = nil
					current, getErr := maps.Get(ctx, "counter", metav1.GetOptions{})
					if getErr != nil {
						failures <- getErr
						return
					}
					count, _ := strconv.Atoi(current.Data["value"])
					current.Data["value"] = strconv.Itoa(count + 1)
					_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
				}
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	counter, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect("count", counter.Data["value"], strconv.Itoa(writers*steps))
}

func deletePreconditions(ctx context.Context, c *cluster) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	made, err := maps.Create(ctx, configMap("a", "0"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	other := types.UID("another")
	err = maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	if !apierrors.IsConflict(err) {
		return fmt.Errorf("deleted what has another uid: %v", err)
	}
	return maps.Delete(ctx, "a", *metav1.NewPreconditionDeleteOptions(string(made.UID)))
}

func deleteCollection(ctx context.Context, c *cluster) error {
	if err := c.createConfigMaps(ctx, 5); err != nil {
		return err
	}
	maps := c.metadata.Resource(configMaps).Namespace(c.namespace)
	options := metav1.ListOptions{FieldSelector: "metadata.name!=c002"}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, options); err != nil {
		return err
	}
	left, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := expect("left", len(left.Items), 1); err != nil {
		return err
	}
	return expect("its name", left.Items[0].Name, "c002")
}

// evictBudget: an eviction that a budget does not allow is refused for now.
func evictBudget(ctx context.Context, c *cluster) error {
	pods := c.typed.CoreV1().Pods(c.namespace)
	if _, err := pods.Create(ctx, pod("p"), metav1.CreateOptions{}); err != nil {
		return err
	}
	running := pod("p")
	running.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if _, err := pods.UpdateStatus(ctx, running, metav1.UpdateOptions{}); err != nil {
		return err
	}
	one := intstr.FromInt32(1)
	budgets := c.typed.PolicyV1().PodDisruptionBudgets(c.namespace)
	budget, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one,
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": "p"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, CurrentHealthy: 1,
		DesiredHealthy: 1, ExpectedPods: 1}
	if budget, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
		return err
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: c.namespace}}
	if err := pods.EvictV1(ctx, eviction); !apierrors.IsTooManyRequests(err) {
		return fmt.Errorf("an eviction that breaks the budget: %v", err)
	}
	budget.Status.DisruptionsAllowed = 1
	if _, err := budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := pods.EvictV1(ctx, eviction); err != nil {
		return err
	}
	if _, err := pods.Get(ctx, "p", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the evicted pod: %v", err)
	}
	return nil
}

// eventSeries: what is told again becomes a series of the first event.
func eventSeries(ctx context.Context, c *cluster) error {
	made, err := c.typed.CoreV1().Pods(c.namespace).Create(ctx, pod("p"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, c.typed)
	broadcaster.StartRecordingToSink(ctx.Done())
	defer broadcaster.Shutdown()
	recorder := broadcaster.NewRecorder("go-clients")
	for range 3 {
		recorder.Eventf(made, nil, corev1.EventTypeWarning, "Tested", "Testing", "told %s", "again")
		if err := until(ctx, "the event is there", func() bool {
			list, err := c.typed.EventsV1().Events(c.namespace).List(ctx, metav1.ListOptions{})
			return err == nil && len(list.Items) == 1
		}); err != nil {
			return err
		}
	}
	if err := until(ctx, "the event is a series", func() bool {
		list, err := c.typed.EventsV1().Events(c.namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1 && list.Items[0].Series != nil && list.Items[0].Series.Count >= 2
	}); err != nil {
		return err
	}
	old, err := c.typed.CoreV1().Events(c.namespace).Search(scheme.Scheme, made)
	if err != nil {
		return err
	}
	if err := expect("events of the pod, in the old group", len(old.Items), 1); err != nil {
		return err
	}
	return expect("its message", old.Items[0].Message, "told again")
}

func createDryRun(ctx context.Context, c *cluster) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	made, err := maps.Create(ctx, configMap("a", "0"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return err
	}
	if made.UID == "" || made.ResourceVersion != "" {
		return fmt.Errorf("uid %q, version %q", made.UID, made.ResourceVersion)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("after a dry run: %v", err)
	}
	return nil
}

func errorKinds(ctx context.Context, c *cluster) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("a", "0"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("a", "0"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("what is there already: %v", err)
	}
	if _, err := maps.Create(ctx, configMap("A_b", "0"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("a bad name: %v", err)
	}
	stale := configMap("a", "1")
	stale.ResourceVersion = "1"
	if _, err := maps.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("an old version: %v", err)
	}
	if _, err := maps.List(ctx, metav1.ListOptions{FieldSelector: "data.x=y"}); !apierrors.IsBadRequest(err) {
		return fmt.Errorf("an unknown field: %v", err)
	}
	_, err := c.typed.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("a", "0"), metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("a namespace that is not there: %v", err)
	}
	return nil
}
