package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

var informerChecks = []check{
	{"informer/typed", typedInformer},
	{"informer/begins-with-a-watch", beginsWithAWatch},
	{"informer/resync", resync},
	{"informer/selectors", selectors},
	{"informer/dynamic", dynamicInformer},
	{"informer/metadata", metadataInformer},
	{"informer/large", largeInformer},
	{"watch/resumes", watchResumes},
	{"watch/expired", watchExpired},
	{"list/pages", listPages},
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"value": value}},
		Data:       map[string]string{"value": value},
	}
}

func (c *cluster) createConfigMaps(ctx context.Context, count int) error {
	for i := range count {
		_, err := c.typed.CoreV1().ConfigMaps(c.namespace).Create(
			ctx, configMap(fmt.Sprintf("c%03d", i), "0"), metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// told counts what an informer tells.
type told struct{ added, updated, deleted, initial atomic.Int32 }

func (t *told) handler() cache.ResourceEventHandlerDetailedFuncs {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, initial bool) {
			t.added.Add(1)
			if initial {
				t.initial.Add(1)
			}
		},
		UpdateFunc: func(any, any) { t.updated.Add(1) },
		DeleteFunc: func(any) { t.deleted.Add(1) },
	}
}

func (t *told) String() string {
	return fmt.Sprintf("%d added, %d of them at first, %d updated, %d deleted",
		t.added.Load(), t.initial.Load(), t.updated.Load(), t.deleted.Load())
}

// follow runs an informer through a life: ten objects at first, then one more, a change and a deletion.
func (c *cluster) follow(ctx context.Context, informer cache.SharedIndexInformer, start func(<-chan struct{})) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.createConfigMaps(ctx, 10); err != nil {
		return err
	}
	t := &told{}
	registration, err := informer.AddEventHandler(t.handler())
	if err != nil {
		return err
	}
	start(ctx.Done())
	if err := until(ctx, "the cache is filled", registration.HasSynced); err != nil {
		return err
	}
	if err := expect("told at first", t.String(), "10 added, 10 of them at first, 0 updated, 0 deleted"); err != nil {
		return err
	}
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	if _, err := maps.Create(ctx, configMap("late", "0"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Update(ctx, configMap("c003", "1"), metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "c004", metav1.DeleteOptions{}); err != nil {
		return err
	}
	wanted := "11 added, 10 of them at first, 1 updated, 1 deleted"
	if err := until(ctx, wanted, func() bool { return t.String() == wanted }); err != nil {
		return fmt.Errorf("%w; told: %s", err, t)
	}
	newest, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	// All but the namespace's own, which a controller manager would make.
	if err := expect("objects in the cache", len(informer.GetStore().ListKeys()), len(newest.Items)); err != nil {
		return err
	}
	if err := until(ctx, "the informer knows its newest version", func() bool {
		return informer.LastSyncResourceVersion() != "" && informer.LastSyncResourceVersion() != "0"
	}); err != nil {
		return err
	}
	kept, found, err := informer.GetStore().GetByKey(c.namespace + "/c003")
	if err != nil || !found {
		return fmt.Errorf("c003 is not in the cache: %v", err)
	}
	meta, ok := kept.(metav1.Object)
	if !ok {
		return fmt.Errorf("the cache has a %T", kept)
	}
	return expect("the label of what was changed", meta.GetLabels()["value"], "1")
}

func typedInformer(ctx context.Context, c *cluster) error {
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace))
	return c.follow(ctx, factory.Core().V1().ConfigMaps().Informer(), factory.Start)
}

func dynamicInformer(ctx context.Context, c *cluster) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, 0, c.namespace, nil)
	return c.follow(ctx, factory.ForResource(configMaps).Informer(), factory.Start)
}

func metadataInformer(ctx context.Context, c *cluster) error {
	factory := metadatainformer.NewFilteredSharedInformerFactory(c.metadata, 0, c.namespace, nil)
	informer := factory.ForResource(configMaps).Informer()
	if err := c.follow(ctx, informer, factory.Start); err != nil {
		return err
	}
	kept, _, _ := informer.GetStore().GetByKey(c.namespace + "/c000")
	if _, ok := kept.(*metav1.PartialObjectMetadata); !ok {
		return fmt.Errorf("the cache has a %T, not metadata alone", kept)
	}
	return nil
}

// beginsWithAWatch: the first request is a watch that sends what is there, and no list follows.
func beginsWithAWatch(ctx context.Context, c *cluster) error {
	if err := typedInformer(ctx, c); err != nil {
		return err
	}
	path := "/api/v1/namespaces/" + c.namespace + "/configmaps"
	watches := c.requests.count(func(r *http.Request) bool {
		return r.Method == http.MethodGet && r.URL.Path == path && r.URL.Query().Get("sendInitialEvents") == "true"
	})
	lists := c.requests.count(func(r *http.Request) bool {
		return r.Method == http.MethodGet && r.URL.Path == path && r.URL.Query().Get("resourceVersion") == "0"
	})
	if err := expect("watches that send what is there", watches, 1); err != nil {
		return err
	}
	return expect("lists of informers", lists, 0)
}

func resync(ctx context.Context, c *cluster) error {
	if err := c.createConfigMaps(ctx, 3); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, time.Second, informers.WithNamespace(c.namespace))
	same := &atomic.Int32{}
	_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(old, new any) {
			if old.(*corev1.ConfigMap).ResourceVersion == new.(*corev1.ConfigMap).ResourceVersion {
				same.Add(1)
			}
		},
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	return until(ctx, "all objects are told again", func() bool { return same.Load() >= 3 })
}

// selectors: what leaves a selector is told as deleted, what comes into it as added.
func selectors(ctx context.Context, c *cluster) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.LabelSelector = labels.SelectorFromSet(labels.Set{"value": "1"}).String()
			options.FieldSelector = fields.OneTermNotEqualSelector("metadata.name", "c001").String()
		}))
	t := &told{}
	informer := factory.Core().V1().ConfigMaps().Informer()
	if _, err := informer.AddEventHandler(t.handler()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := c.createConfigMaps(ctx, 3); err != nil {
		return err
	}
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	for _, change := range []*corev1.ConfigMap{
		configMap("c000", "1"), configMap("c001", "1"), configMap("c002", "1"), configMap("c000", "2"),
	} {
		if _, err := maps.Update(ctx, change, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	wanted := "2 added, 0 of them at first, 0 updated, 1 deleted"
	if err := until(ctx, wanted, func() bool { return t.String() == wanted }); err != nil {
		return fmt.Errorf("%w; told: %s", err, t)
	}
	return nil
}

// largeInformer has more objects than a page of a list.
func largeInformer(ctx context.Context, c *cluster) error {
	if err := c.createConfigMaps(ctx, 700); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(c.namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	if err := until(ctx, "the cache is filled", informer.HasSynced); err != nil {
		return err
	}
	return expect("objects in the cache", len(informer.GetStore().ListKeys()), 700)
}

// watchResumes: a watch that ends again and again, as timeouts make it, loses no event.
func watchResumes(ctx context.Context, c *cluster) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	start, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watches := &atomic.Int32{}
	one := int64(1)
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, start.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watches.Add(1)
			options.TimeoutSeconds = &one
			return maps.Watch(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	// Until enough watches have been opened, each of which lasts for a second.
	for i := 0; i < 30 || watches.Load() < 3; i++ {
		name := fmt.Sprintf("c%03d", i)
		if _, err := maps.Create(ctx, configMap(name, "0"), metav1.CreateOptions{}); err != nil {
			return err
		}
		select {
		case event := <-watcher.ResultChan():
			made, ok := event.Object.(*corev1.ConfigMap)
			if !ok || event.Type != watch.Added || made.Name != name {
				return fmt.Errorf("event %d is %s of %v", i, event.Type, event.Object)
			}
		case <-ctx.Done():
			return fmt.Errorf("only %d events came, of %d watches", i, watches.Load())
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// watchExpired: a version that is no more, and one that is not yet, are refused as clients expect.
func watchExpired(ctx context.Context, c *cluster) error {
	maps := c.typed.CoreV1().ConfigMaps(c.namespace)
	watcher, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err == nil {
		defer watcher.Stop()
		if _, err := maps.Create(ctx, configMap("seen", "0"), metav1.CreateOptions{}); err != nil {
			return err
		}
		event := <-watcher.ResultChan()
		if event.Type != watch.Added && event.Type != watch.Error {
			return fmt.Errorf("a watch from version 1 begins with %s", event.Type)
		}
	}
	list, err := c.dynamic.Resource(configMaps).Namespace(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err := maps.List(ctx, metav1.ListOptions{
		ResourceVersion: list.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	}); err != nil {
		return fmt.Errorf("a list at the present version: %w", err)
	}
	return nil
}

func listPages(ctx context.Context, c *cluster) error {
	if err := c.createConfigMaps(ctx, 25); err != nil {
		return err
	}
	before := c.requests.count(func(*http.Request) bool { return true })
	pages := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		return c.dynamic.Resource(configMaps).Namespace(c.namespace).List(ctx, options)
	}))
	pages.PageSize = 10
	names := map[string]bool{}
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		names[object.(*unstructured.Unstructured).GetName()] = true
		return nil
	})
	if err != nil {
		return err
	}
	if err := expect("objects", len(names), 25); err != nil {
		return err
	}
	return expect("requests", c.requests.count(func(*http.Request) bool { return true })-before, 3)
}
