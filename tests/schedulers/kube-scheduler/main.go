// Command kube-scheduler is the stock kube-scheduler: the command that Kubernetes
// itself builds, taken from the published modules. go.mod names one release of
// Kubernetes, v1.34.mod, v1.35.mod and v1.37.mod name others.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand()))
}
