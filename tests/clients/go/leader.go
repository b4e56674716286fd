package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// longLease is how long a leader that is not heard of stays one: longer than a busy machine lets anybody wait. Leaders
// that step down give their lease back.
const longLease = 5 * time.Minute

var leaderChecks = []check{{"leader/one-at-a-time", oneLeader}}

// oneLeader: of three candidates one leads; when it steps down another does, and never two at a time.
func oneLeader(ctx context.Context, c *cluster) error {
	leading, most, terms := &atomic.Int32{}, &atomic.Int32{}, &atomic.Int32{}
	stops := make(chan context.CancelFunc, 3)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range 3 {
		candidate, stop := context.WithCancel(ctx)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: c.namespace},
				Client:     c.typed.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("candidate-%d", i)},
			},
			LeaseDuration:   longLease,
			RenewDeadline:   longLease / 2,
			RetryPeriod:     100 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					if now := leading.Add(1); now > most.Load() {
						most.Store(now)
					}
					terms.Add(1)
					stops <- stop
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		go elector.Run(candidate)
	}
	for range 3 {
		select {
		case stop := <-stops:
			leading.Add(-1) // before it steps down: the next may begin at once
			stop()
		case <-time.After(patience):
			return fmt.Errorf("after %d terms nobody leads", terms.Load())
		}
	}
	if err := expect("leaders at a time", most.Load(), 1); err != nil {
		return err
	}
	// The last one steps down as well.
	if err := until(ctx, "nobody holds the lease", func() bool {
		lease, err := c.typed.CoordinationV1().Leases(c.namespace).Get(ctx, "leader", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == ""
	}); err != nil {
		return err
	}
	lease, err := c.typed.CoordinationV1().Leases(c.namespace).Get(ctx, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if *lease.Spec.LeaseTransitions < 2 {
		return fmt.Errorf("only %d transitions", *lease.Spec.LeaseTransitions)
	}
	return nil
}
