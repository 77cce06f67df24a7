// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// environment is where the run measures: by the records of its attempts or, before the first, by the database's Pod.
func (s *situation) environment(a *analysis.Run) v1alpha1.Environment {
	if a.Environment == nil && !external(s.run) {
		return s.earlyEnvironment()
	}
	e := analysis.APIEnvironment(a.Environment, external(s.run))
	if a.Environment != nil {
		e.Warnings = finding.Texts(a.Findings)
	}
	return e
}

func (s *situation) earlyEnvironment() v1alpha1.Environment {
	var e v1alpha1.Environment
	for _, i := range s.seen.Instances {
		if i.Pod == nil {
			continue
		}
		e.DatabaseNode, e.DatabaseImage = i.Pod.Spec.NodeName, i.Image()
		analysis.AddFingerprint(&e, PodFingerprint(i.Pod))
	}
	return e
}

// PodFingerprint is what the probe in a database's Pod found, or nil.
func PodFingerprint(pod *corev1.Pod) *result.Fingerprint {
	message, ok := database.Fingerprint(pod)
	if !ok {
		return nil
	}
	f, err := result.DecodeFingerprint(message)
	if err != nil {
		return nil
	}
	return f
}

// classNotEffective says why the block I/O class that a run asks for does not limit an instance. It is empty if it does, if none
// is asked for, and until that is known.
func classNotEffective(run *v1alpha1.BenchmarkRun, i *Instance) string {
	class := run.Spec.Database.Storage.BlockIOClass
	if class == "" || i.Pod == nil {
		return ""
	}
	const remedy = "; the administrator of the nodes defines the classes in the configuration of the container runtime"
	if database.BlockIORefused(i.Pod) {
		return fmt.Sprintf("the container runtime of node %s has no block I/O class %s%s", i.Pod.Spec.NodeName, class, remedy)
	}
	f := PodFingerprint(i.Pod)
	switch {
	case f == nil:
		return ""
	case f.BlockIO == result.NoLimit:
		return fmt.Sprintf("block I/O class %s does not limit the disk of the data volume (%s) on node %s%s", class, f.Device,
			i.Pod.Spec.NodeName, remedy)
	case f.BlockIO == result.Unknown || f.BlockIO == "":
		return fmt.Sprintf("cannot read whether block I/O class %s is in force on node %s", class, i.Pod.Spec.NodeName)
	}
	return ""
}

const (
	// foreignPercent is what a CPU limit that is not the run's may hold the server back by default: what a reader of the
	// numbers would not notice. A user who asks for a limit measures a server with that limit, held back or not.
	foreignPercent = 1
	// limitTolerance is how much lower than what was asked a limit may be that is the same: container runtimes round.
	limitTolerance = 10
)

// throttled says by how much a CPU limit held the server back during an attempt, if that is more than is allowed; it is
// empty otherwise, and if it is not known.
func throttled(spec *v1alpha1.BenchmarkRunSpec, s *result.Summary) string {
	if s == nil || s.Throttled() < 0 {
		return ""
	}
	requested, had := plan.CPULimitMillis(&spec.Database), s.Observed.CPULimitMillis
	foreign := had > 0 && (requested == 0 || had < requested-limitTolerance)
	allowed, by := int32(100), "trials.maxThrottledPercent allows"
	switch bound := spec.Trials.MaxThrottledPercent; {
	case bound != nil:
		allowed = *bound
	case foreign:
		allowed = foreignPercent
		by = "without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most"
	}
	if 100*s.Throttled() <= float64(allowed) {
		return ""
	}
	text := fmt.Sprintf("the server was throttled at its CPU limit%s for %s of the measured %s, %.1f%%; %s %d%%: ",
		limitText(had), seconds(s.Observed.ThrottledMicros), seconds(s.Totals.Micros), 100*s.Throttled(), by, allowed)
	if foreign {
		return text + fmt.Sprintf("the run requests %s; look for a LimitRange or a resized Pod, or accept the "+
			"limit with trials.maxThrottledPercent", requestedText(requested))
	}
	return text + "raise database.resources.limits.cpu, or allow more"
}

// limitText is a CPU limit in parentheses; empty if it is not known.
func limitText(millis int64) string {
	if millis <= 0 {
		return ""
	}
	return " (" + cpus(millis) + ")"
}

func requestedText(millis int64) string {
	if millis == 0 {
		return "no CPU limit"
	}
	return "limits.cpu " + cpus(millis)
}

func cpus(millis int64) string { return resource.NewMilliQuantity(millis, resource.DecimalSI).String() }

func seconds(micros int64) string {
	return fmt.Sprintf("%.2f s", (time.Duration(micros) * time.Microsecond).Seconds())
}
