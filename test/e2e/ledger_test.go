//go:build e2e || reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// ledger is what was ever seen of the records of a namespace's attempts, so that one that is deleted or written again is noticed.
type ledger struct {
	cache   cache.Cache
	mu      sync.Mutex
	entries map[types.UID]*entry
}

// entry is a record as it came.
type entry struct {
	run            types.UID
	name           string
	trial, attempt int
	accepted       bool
	came           time.Time
	deleted        bool
}

// keepLedger from now on, of the spec's namespace, until the spec ends. It goes on when the API server does.
func keepLedger(ctx SpecContext) *ledger {
	GinkgoHelper()
	configs := need(cache.New(restConfig, cache.Options{Scheme: cluster.Scheme(), DefaultNamespaces: map[string]cache.Config{namespace: {}}}))
	l := &ledger{cache: configs, entries: map[types.UID]*entry{}}
	informer := need(configs.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false)))
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: l.add, DeleteFunc: l.remove})
	Expect(err).NotTo(HaveOccurred())
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- configs.Start(watching) }()
	DeferCleanup(func() error {
		stop()
		return <-done
	})
	Expect(configs.WaitForCacheSync(ctx)).To(BeTrue())
	return l
}

func (l *ledger) add(object any) {
	cm, ok := object.(*corev1.ConfigMap)
	if !ok || cm.Labels[v1alpha1.LabelComponent] != v1alpha1.ComponentAttempt {
		return
	}
	e := &entry{
		run: types.UID(cm.Labels[v1alpha1.LabelRunUID]), name: cm.Name, came: time.Now(),
		accepted: cm.Labels[v1alpha1.LabelOutcome] == string(result.OutcomeAccepted),
	}
	e.trial, _ = strconv.Atoi(cm.Labels[v1alpha1.LabelTrial])
	e.attempt, _ = strconv.Atoi(cm.Labels[v1alpha1.LabelAttempt])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[cm.UID] = e
}

func (l *ledger) remove(object any) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	cm, ok := object.(*corev1.ConfigMap)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[cm.UID]; e != nil {
		e.deleted = true
	}
}

// of are the entries of a run, as they are now.
func (l *ledger) of(run types.UID) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []entry
	for _, e := range l.entries {
		if e.run == run {
			all = append(all, *e)
		}
	}
	return all
}

// deleted are the names of records that are gone, of all runs. To be asked while the runs are there.
func (l *ledger) deleted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, e := range l.entries {
		if e.deleted {
			names = append(names, e.name)
		}
	}
	slices.Sort(names)
	return names
}

// account compares what was seen with what a run that has ended says.
type account struct {
	// Measured is what the status says, of that many trials that are planned; Invalidated, too.
	Measured, Planned, Invalidated int
	// Lost are records that were deleted, and trials whose accepted record was seen and that results.csv does not have; of a run
	// without results, that its status does not count.
	Lost int
	// Doubled are accepted records beyond one for each trial, and rows of results.csv beyond one for each variant of it.
	Doubled int
}

func (a account) String() string {
	return fmt.Sprintf("%d of %d trials, %d invalidated, %d lost, %d doubled", a.Measured, a.Planned, a.Invalidated, a.Lost, a.Doubled)
}

func (l *ledger) account(ctx context.Context, run *v1alpha1.BenchmarkRun) account {
	GinkgoHelper()
	var a account
	a.Measured, a.Invalidated = int(ptr.Deref(run.Status.Trials.Measured, 0)), int(ptr.Deref(run.Status.Trials.Invalidated, 0))
	a.Planned = int(ptr.Deref(run.Status.Trials.Planned, 0))
	rows, published := map[string]int{}, map[string]bool{} // by trial and variant, and by trial
	for _, row := range publishedTrials(ctx, run) {
		trial, _, _ := strings.Cut(row, " ")
		rows[row]++
		published[trial] = true
	}
	accepted := map[string]int{}
	for _, e := range l.of(run.UID) {
		trial := strconv.Itoa(e.trial)
		if e.accepted {
			accepted[trial]++
		}
		if e.deleted || e.accepted && len(rows) > 0 && !published[trial] {
			a.Lost++
		}
	}
	if len(rows) == 0 {
		a.Lost += max(0, len(accepted)-a.Measured)
	}
	for _, count := range []map[string]int{rows, accepted} {
		for _, n := range count {
			a.Doubled += max(0, n-1)
		}
	}
	a.Doubled += max(0, a.Measured-len(accepted)) // measured and never recorded is a number from nowhere
	return a
}

// publishedTrials are the trials of the rows of results.csv, with their variants behind them; none if the run has no results.
func publishedTrials(ctx context.Context, run *v1alpha1.BenchmarkRun) []string {
	GinkgoHelper()
	if run.Status.Results.ConfigMap == "" {
		return nil
	}
	var cm corev1.ConfigMap
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Status.Results.ConfigMap}, &cm)).To(Succeed())
	rows := need(csv.NewReader(strings.NewReader(cm.Data["results.csv"])).ReadAll())
	trial, variant := slices.Index(rows[0], "trial"), slices.Index(rows[0], "variant")
	var trials []string
	for _, row := range rows[1:] {
		of := row[trial]
		if variant >= 0 {
			of += " " + row[variant]
		}
		trials = append(trials, of)
	}
	return trials
}

// allComplete waits for the end of runs, which must be a good one for each: every trial measured, none lost, none doubled.
func (l *ledger) allComplete(ctx context.Context, names []string, trials int, timeout time.Duration) []account {
	GinkgoHelper()
	for _, name := range names {
		kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+timeout.String(), "benchmarkrun/"+name)
	}
	var ends, bad []string
	var accounts []account
	for _, name := range names {
		run := getRun(ctx, name)
		a := l.account(ctx, run)
		accounts = append(accounts, a)
		ends = append(ends, fmt.Sprintf("%s: %s %s", name, a, failure(run)))
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) || a.Measured != trials || a.Planned != trials ||
			a.Lost != 0 || a.Doubled != 0 {
			bad = append(bad, ends[len(ends)-1])
		}
	}
	fmt.Fprintln(GinkgoWriter, strings.Join(ends, "\n"))
	Expect(bad).To(BeEmpty())
	Expect(l.deleted()).To(BeEmpty(), "records that were deleted")
	return accounts
}
