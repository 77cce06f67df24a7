// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

type loaders struct {
	wanted   int
	pods     []corev1.Pod
	delivery *Delivery
}

func loadersOf(job *batchv1.Job, pods []corev1.Pod) loaders {
	l := loaders{wanted: int(ptr.Deref(job.Spec.Completions, 1)), pods: slices.Clone(pods)}
	slices.SortStableFunc(l.pods, func(a, b corev1.Pod) int { return cmp.Compare(PodIndex(&a), PodIndex(&b)) })
	return l
}

// PodIndex is the index of a loader Pod within its attempt, from 0.
func PodIndex(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0 // not created by the Job controller
	}
	return n
}

// leader is the Pod that prepares, verifies and publishes: the one with index 0. It is nil if it does not exist.
func (l loaders) leader() *corev1.Pod {
	if len(l.pods) == 0 || PodIndex(&l.pods[0]) != 0 {
		return nil
	}
	return &l.pods[0]
}

func (l loaders) pending() *corev1.Pod {
	return podutil.Find(l.pods, func(pod *corev1.Pod) bool { return !begun(pod) })
}

// incomplete says whether the Job controller has yet to create some Pods. A Pod that was created and is gone does not count: the
// Job's status still has it as active, or has its end.
func (l loaders) incomplete(job *batchv1.Job) bool {
	s := &job.Status
	return s.Failed == 0 && int(s.Active)+int(s.Succeeded) <= len(l.pods) && len(l.pods) < l.wanted
}

func (l loaders) started() int {
	n := 0
	for i := range l.pods {
		if begun(&l.pods[i]) {
			n++
		}
	}
	return n
}

func (l loaders) waiting() string {
	pod := l.pending()
	text := podutil.Waiting(pod, "the loader")
	if l.wanted == 1 {
		return text
	}
	return fmt.Sprintf("%d of %d loaders are running; Pod %d is not: %s", l.started(), l.wanted, PodIndex(pod), text)
}

func (l loaders) duplicated() bool {
	for i := range l.pods {
		if i >= l.wanted || PodIndex(&l.pods[i]) != i {
			return true
		}
	}
	return false
}

// succeeded says whether every index has one Pod, and each has exited with code 0.
func (l loaders) succeeded() bool {
	return len(l.pods) == l.wanted && !l.duplicated() && !slices.ContainsFunc(l.pods, func(pod corev1.Pod) bool {
		end := podutil.Ended(&pod, Container)
		return end == nil || end.ExitCode != 0
	})
}

// summary that a loader has left: the one that it has delivered, or its termination message.
func (l loaders) summary(pod *corev1.Pod) (*result.Summary, error) {
	if l.delivery != nil {
		return l.delivery.Summary, nil
	}
	return result.DecodeSummary(terminationMessage(pod))
}

// missing is the first index that has no Pod, or the number of wanted Pods if each index has one.
func (l loaders) missing() int {
	for i := range l.wanted {
		if !slices.ContainsFunc(l.pods, func(p corev1.Pod) bool { return PodIndex(&p) == i }) {
			return i
		}
	}
	return l.wanted
}

func (l loaders) loaderName(index int) string {
	if l.wanted == 1 {
		return "the loader"
	}
	return fmt.Sprintf("the loader of Pod %d", index)
}

func (l loaders) podName(index int) string {
	if l.wanted == 1 {
		return "the loader's Pod"
	}
	return fmt.Sprintf("the loaders' Pod %d", index)
}

// terminating says whether the Job has told its Pods to stop, and a kubelet has yet to report the end of one.
func (l loaders) terminating(job *batchv1.Job) bool {
	return jobCondition(job, batchv1.JobFailed) == nil && podutil.Find(l.pods, podutil.NodeLost) == nil &&
		slices.ContainsFunc(l.pods, func(pod corev1.Pod) bool { return podutil.Ended(&pod, Container) == nil })
}

// interruptedAt is what the leader reports if it was told to stop: its phase, and how far that was.
func (l loaders) interruptedAt() string {
	if pod := l.leader(); pod != nil {
		if f := interruption(pod); f != nil {
			return ": " + f.Message
		}
	}
	return ""
}

// firstFailed is the Pod that explains why an attempt failed: the first one that failed without being told to stop, which the
// others are as soon as one has failed. It is nil if there is no Pod.
func (l loaders) firstFailed() *corev1.Pod {
	if len(l.pods) == 0 {
		return nil
	}
	const failed, interrupted, running, succeeded = 0, 1, 2, 3
	rank := func(pod *corev1.Pod) int {
		switch end := podutil.Ended(pod, Container); {
		case end == nil:
			return running
		case end.ExitCode == 0:
			return succeeded
		case interruption(pod) != nil:
			return interrupted
		}
		return failed
	}
	first := slices.MinFunc(l.pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), EndOf(&a).Compare(EndOf(&b)))
	})
	return &first
}

// interruption is what a loader reports that was told to stop, or nil.
func interruption(pod *corev1.Pod) *result.Failure {
	summary, err := result.DecodeSummary(terminationMessage(pod))
	if err != nil || summary.Failure == nil || summary.Failure.Reason != result.CauseInterrupted {
		return nil
	}
	return summary.Failure
}

// NotBeside says why a run's server cannot be up together with those of other variants; empty if it can. It is for the run's
// author, as what follows.
func NotBeside(run *v1alpha1.BenchmarkRunSpec) string {
	switch {
	case run.Database.HostTuning != nil:
		return "database.hostTuning tunes the node for one server"
	case run.Database.Provisioner == v1alpha1.ProvisionerExternal:
		return "an external server is there once"
	case run.Trials.Server == v1alpha1.ServerPerTrial:
		return "trials.server is PerTrial, and the servers of a round stay for all of its trials"
	}
	return ""
}

// NotASide says why a run cannot be measured in slices by a loader that measures other variants too; empty if it can.
func NotASide(run *v1alpha1.BenchmarkRunSpec) string {
	switch s, p := run.Workload.Sysbench, run.Workload.Pgbench; {
	case run.Workload.Type == v1alpha1.WorkloadCustom:
		return "nobody counts what the program of workload Custom does in one"
	case (s != nil || p != nil) && !countsStatements(&run.Database):
		return "the server does not count statements, by which a program is measured in a slice: set variable " +
			"shared_preload_libraries to pg_stat_statements"
	case s != nil && offersRate(s), p != nil && pgbenchOffersRate(p):
		return "the program's schedule of a rate goes on while it is halted"
	case s != nil && s.Events != nil:
		return "workload.sysbench.events is set, and a slice is bounded by seconds"
	case run.Workload.IIBench.InStages():
		return "stages have a measured phase each"
	case run.Loader.Pods > 1:
		return "one loader Pod measures all variants, and loader.pods is more"
	case run.Loader.Transport == v1alpha1.TransportUnixSocket:
		return "loader.transport is UnixSocket, which leads to one server"
	case run.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator && run.Database.TLS.Mode == v1alpha1.TLSVerifyIdentity:
		return "each server of the MariaDB operator has an authority of its own"
	}
	return ""
}

// countsStatements says whether a server counts what it executes: always, or with a library that has to be loaded.
func countsStatements(db *v1alpha1.DatabaseSpec) bool {
	e, err := plan.EngineOf(db)
	if err != nil || e.Counters.StatementsBy == (engine.Setting{}) {
		return true
	}
	return strings.Contains(string(db.Variables[e.Counters.StatementsBy.Name]), e.Counters.StatementsBy.Value)
}

func pgbenchOffersRate(p *v1alpha1.PgbenchWorkload) bool {
	return ptr.Deref(p.RatePerSecond, 0) > 0 || p.Sweep != nil && len(p.Sweep.RatePerSecond) > 0 ||
		slices.ContainsFunc(p.Points, func(p v1alpha1.PgbenchPoint) bool { return ptr.Deref(p.RatePerSecond, 0) > 0 })
}

// JudgedLatency is a latency that is the metric of the run or of one of its claims; empty if none is.
func JudgedLatency(spec *v1alpha1.BenchmarkRunSpec) string {
	metrics := []string{spec.Metric}
	for i := range spec.Claims {
		metrics = append(metrics, spec.Claims[i].Metric)
		if ratio := spec.Claims[i].Ratio; ratio != nil {
			metrics = append(metrics, ratio.ToMetric)
		}
	}
	if i := slices.IndexFunc(metrics, result.IsLatency); i >= 0 {
		return metrics[i]
	}
	return ""
}

// offersRate says whether any point of the workload has a rate.
func offersRate(s *v1alpha1.SysbenchWorkload) bool {
	return ptr.Deref(s.RatePerSecond, 0) > 0 || s.Sweep != nil && len(s.Sweep.RatePerSecond) > 0 ||
		slices.ContainsFunc(s.Points, func(p v1alpha1.SysbenchPoint) bool { return ptr.Deref(p.RatePerSecond, 0) > 0 })
}

// addSides gives a loader that measures several servers their addresses, and what all of their clients need: as much as so many
// loaders would have.
func addSides(spec *corev1.PodSpec, sides *result.Sides, servers []Side) {
	spec.HostAliases = nil
	for i := range servers {
		spec.HostAliases = append(spec.HostAliases, serverAddress(&sides.Each[i].Server, servers[i].Address)...)
	}
	c := &spec.Containers[0]
	for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
		if memory, has := list[corev1.ResourceMemory]; has {
			memory.Mul(int64(len(servers)))
			list[corev1.ResourceMemory] = memory
		}
	}
}

// SameFiles says whether all variants of a run have the same files for their workload, which one Pod mounts.
func SameFiles(run *v1alpha1.BenchmarkRun) bool {
	first := plan.Side(run, 0, 1).Spec.Workload
	for i := range run.Spec.Variants {
		w := plan.Side(run, i, 1).Spec.Workload
		if !equality.Semantic.DeepEqual(w.DataFrom, first.DataFrom) || !equality.Semantic.DeepEqual(w.SchemaFrom, first.SchemaFrom) {
			return false
		}
	}
	return true
}
