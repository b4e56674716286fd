package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// Wishes is what a test asks of its API server. The command reads it in SUITE_SERVER_FLAGS, one flag
// a line, and SUITE_SERVER_ADMISSION; a server may do without.
type Wishes struct {
	// Flags as for kube-apiserver, feature gates included.
	Flags []string
	// Admission is the Go type of a plugin that the test would put into a server of its own process.
	Admission string
}

func (w Wishes) String() string {
	return strings.TrimSpace(strings.Join(w.Flags, " ") + " " + w.Admission)
}

// FlagsOf says in flags what change does to the options of a kube-apiserver.
func FlagsOf(change func(*options.ServerRunOptions)) []string {
	if change == nil {
		return nil
	}
	opts := options.NewServerRunOptions()
	sets := opts.Flags().FlagSets
	before := map[string]string{}
	for _, set := range sets {
		set.VisitAll(func(flag *pflag.Flag) { before[flag.Name] = valueOf(flag) })
	}
	change(opts)
	var flags []string
	for _, set := range sets {
		set.VisitAll(func(flag *pflag.Flag) {
			if now := valueOf(flag); now != before[flag.Name] {
				flags = append(flags, fmt.Sprintf("--%s=%s", flag.Name, now))
			}
		})
	}
	slices.Sort(flags)
	return flags
}

func valueOf(flag *pflag.Flag) string {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return flag.Value.String()
}

// GateFlags says in flags which feature gates the test has set in its own process, which a server
// within that process would share.
func GateFlags() []string {
	now := utilfeature.DefaultMutableFeatureGate
	usual := now.DeepCopyAndReset()
	var flags, gates []string
	if version := now.EmulationVersion(); !version.EqualTo(compatibility.DefaultKubeEffectiveVersionForTest().BinaryVersion()) {
		flags = append(flags, fmt.Sprintf("--emulated-version=kube=%d.%d", version.Major(), version.Minor()))
		if err := usual.SetEmulationVersion(version); err != nil {
			panic(err)
		}
	}
	for feature := range now.GetAll() {
		isAll := strings.HasPrefix(string(feature), "All") // AllAlpha, AllBeta: groups of gates
		if enabled := now.Enabled(feature); !isAll && enabled != usual.Enabled(feature) {
			gates = append(gates, fmt.Sprintf("%s=%t", feature, enabled))
		}
	}
	if len(gates) > 0 {
		slices.Sort(gates)
		flags = append(flags, "--feature-gates="+strings.Join(gates, ","))
	}
	return flags
}
