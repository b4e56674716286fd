package main

import (
	"context"
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

var discoveryChecks = []check{
	{"discovery/resources", discoverResources},
	{"discovery/mapper", mapKinds},
	{"discovery/openapi", discoverOpenAPI},
	{"scale/built-in", scaleBuiltIn},
	{"custom/life", customLife},
}

func discoverResources(ctx context.Context, c *cluster) error {
	groups, lists, err := c.typed.Discovery().ServerGroupsAndResources()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(groups, func(group *metav1.APIGroup) bool { return group.Name == "apps" }) {
		return fmt.Errorf("there is no group apps among %d", len(groups))
	}
	found := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"watch", "patch"}}, lists)
	if len(found) < 15 {
		return fmt.Errorf("only %d API versions have what can be watched", len(found))
	}
	preferred, err := c.typed.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return err
	}
	for _, list := range preferred {
		for _, resource := range list.APIResources {
			if resource.Kind == "HorizontalPodAutoscaler" {
				if err := expect("preferred version of autoscaling", list.GroupVersion, "autoscaling/v2"); err != nil {
					return err
				}
			}
		}
	}
	version, err := c.typed.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	return expect("minor", version.Minor, "36")
}

func mapKinds(ctx context.Context, c *cluster) error {
	cached := memory.NewMemCacheClient(c.typed.Discovery())
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	for short, wanted := range map[string]string{
		"deploy": "apps/v1, Resource=deployments",
		"po":     "/v1, Resource=pods",
		"pc":     "scheduling.k8s.io/v1, Resource=priorityclasses",
		"events": "/v1, Resource=events",
		"hpa":    "autoscaling/v2, Resource=horizontalpodautoscalers",
	} {
		found, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short})
		if err != nil {
			return err
		}
		if err := expect(short, found.String(), wanted); err != nil {
			return err
		}
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"})
	if err != nil {
		return err
	}
	if err := expect("scope of budgets", mapping.Scope.Name(), meta.RESTScopeNameNamespace); err != nil {
		return err
	}
	if _, err := mapper.RESTMapping(schema.GroupKind{Group: "example.org", Kind: "Unicorn"}); !meta.IsNoMatchError(err) {
		return fmt.Errorf("a kind that is not there: %v", err)
	}
	return nil
}

func discoverOpenAPI(ctx context.Context, c *cluster) error {
	root := openapi3.NewRoot(c.typed.Discovery().OpenAPIV3())
	versions, err := root.GroupVersions()
	if err != nil {
		return err
	}
	if !slices.Contains(versions, schema.GroupVersion{Group: "batch", Version: "v1"}) {
		return fmt.Errorf("no document of batch/v1 among %d", len(versions))
	}
	document, err := root.GVSpec(schema.GroupVersion{Group: "batch", Version: "v1"})
	if err != nil {
		return err
	}
	if _, found := document.Components.Schemas["io.k8s.api.batch.v1.Job"]; !found {
		return fmt.Errorf("no schema of Job among %d", len(document.Components.Schemas))
	}
	old, err := c.typed.Discovery().OpenAPISchema() // in protobuf
	if err != nil {
		return err
	}
	for _, definition := range old.GetDefinitions().GetAdditionalProperties() {
		if definition.GetName() == "io.k8s.api.core.v1.Toleration" {
			for _, property := range definition.GetValue().GetProperties().GetAdditionalProperties() {
				if property.GetName() == "effect" {
					return expect("effects", len(property.GetValue().GetEnum()), 3)
				}
			}
		}
	}
	return fmt.Errorf("no tolerations among %d definitions", len(old.GetDefinitions().GetAdditionalProperties()))
}

func (c *cluster) scales() (scale.ScalesGetter, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.typed.Discovery()))
	resolver := scale.NewDiscoveryScaleKindResolver(c.typed.Discovery())
	// As the horizontal autoscaler makes it.
	return scale.NewForConfig(c.config, mapper, dynamicLegacyPath, resolver)
}

func dynamicLegacyPath(kind schema.GroupVersionKind) string {
	if kind.Group == "" {
		return "/api"
	}
	return "/apis"
}

func scaleBuiltIn(ctx context.Context, c *cluster) error {
	_, err := c.typed.AppsV1().Deployments(c.namespace).Apply(
		ctx, c.deployment(2), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	scales, err := c.scales()
	if err != nil {
		return err
	}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	current, err := scales.Scales(c.namespace).Get(ctx, deployments, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("selector", current.Status.Selector, "app=web"); err != nil {
		return err
	}
	current.Spec.Replicas = 5
	if _, err := scales.Scales(c.namespace).Update(ctx, deployments, current, metav1.UpdateOptions{}); err != nil {
		return err
	}
	patched, err := scales.Scales(c.namespace).Patch(ctx, deployments.WithVersion("v1"), "web",
		types.MergePatchType, []byte(`{"spec":{"replicas":6}}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if err := expect("replicas", patched.Spec.Replicas, 6); err != nil {
		return err
	}
	typed, err := c.typed.AppsV1().Deployments(c.namespace).UpdateScale(ctx, "web", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: c.namespace},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 7},
	}, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	return expect("replicas", typed.Spec.Replicas, 7)
}

// customLife: a definition is established, informers learn of its objects, they scale, and go with the definition.
func customLife(ctx context.Context, c *cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group := c.namespace + ".example.org"
	keep := true
	number := apiextensionsv1.JSONSchemaProps{Type: "integer"}
	inner := apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": number}}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:                   "object",
					XPreserveUnknownFields: &keep,
					Properties:             map[string]apiextensionsv1.JSONSchemaProps{"spec": inner, "status": inner},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{
						SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
				},
			}},
		},
	}
	definitions := c.crds.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := until(ctx, "the definition is established", func() bool {
		current, err := definitions.Get(ctx, definition.Name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(current.Status.Conditions,
			func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
			})
	}); err != nil {
		return err
	}
	widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, 0, c.namespace, nil)
	t := &told{}
	if _, err := factory.ForResource(widgets).Informer().AddEventHandler(t.handler()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
		"spec": map[string]any{"replicas": int64(1)}, "status": map[string]any{"replicas": int64(9)},
	}}
	mine := c.dynamic.Resource(widgets).Namespace(c.namespace)
	made, err := mine.Create(ctx, widget, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, found, _ := unstructured.NestedFieldNoCopy(made.Object, "status"); found {
		return fmt.Errorf("a create wrote the status: %v", made.Object["status"])
	}
	if err := unstructured.SetNestedField(made.Object, int64(4), "status", "replicas"); err != nil {
		return err
	}
	if _, err := mine.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	scales, err := c.scales()
	if err != nil {
		return err
	}
	current, err := scales.Scales(c.namespace).Get(ctx, widgets.GroupResource(), "w", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect("replicas in the status", current.Status.Replicas, 4); err != nil {
		return err
	}
	if err := definitions.Delete(ctx, definition.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	wanted := "1 added, 0 of them at first, 1 updated, 1 deleted"
	if err := until(ctx, wanted, func() bool { return t.String() == wanted }); err != nil {
		return fmt.Errorf("%w; told: %s", err, t)
	}
	return nil
}
