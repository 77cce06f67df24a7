// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

type runStep struct {
	run *v1alpha1.BenchmarkRun
	// old is the run as it was read.
	old      *v1alpha1.BenchmarkRun
	plan     *plan.Plan
	seen     *lifecycle.Observed
	decision lifecycle.Decision
	now      time.Time
}

// takeStep observes, decides, acts, and writes the status. What cannot be taken back is decided again on live reads, with the
// run read anew. Nothing is decided about a run that is older than what was decided about before. A claimant only
// claims it, so that no other installation has begun as well.
func (r *RunReconciler) takeStep(ctx context.Context, is part, run *v1alpha1.BenchmarkRun) (*runStep, error) {
	m := r.memories.of(run)
	if m.isAbove(run) {
		return nil, r.behind(ctx, run)
	}
	s, err := r.decide(ctx, run, r.Client)
	if is == claimant {
		m.reach(run)
		return nil, r.claimRun(ctx, s, err == nil)
	}
	if err == nil && s.decision.Irrevocable() {
		fresh := new(v1alpha1.BenchmarkRun)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if fresh.UID != run.UID {
			return nil, errStale
		}
		s, err = r.decide(ctx, fresh, r.Live)
	}
	m.reach(s.run)
	if err == nil {
		err = r.carryOut(ctx, s)
	}
	if isStale(err) || err != nil && !r.reportsRetries(s, err) {
		return nil, err
	}
	if err := r.writeStatus(ctx, s); err != nil {
		return nil, err
	}
	return s, err
}

// claimRun claims a run that was read by the cache: the write leads to the next step, which acts. If there is nothing to be done
// yet, the status says so at once; otherwise it would tell of what has not begun.
func (r *RunReconciler) claimRun(ctx context.Context, s *runStep, decided bool) error {
	s.run.Status.Installation = r.Installation.identity()
	if _, waits := s.decision.Action.(lifecycle.Wait); decided && waits && !s.decision.Irrevocable() {
		return r.writeStatus(ctx, s)
	}
	if _, err := r.writer(s.run).patchStatus(ctx, s.old); err != nil {
		return fmt.Errorf("writing status.installation: %w", err)
	}
	r.memories.of(s.run).reach(s.run)
	return nil
}

// behind is errStale: the cache has an older version of the run than the operator has seen. If the API server has none that is
// newer, it was restored from a backup, and what is remembered did not happen.
func (r *RunReconciler) behind(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	fresh := new(v1alpha1.BenchmarkRun)
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if r.memories.of(run).isAbove(fresh) {
		r.forget(client.ObjectKeyFromObject(run))
	}
	return errStale
}

// carryOut the decision. A terminal error becomes a new decision, and so does an object that is refused. What was written becomes
// a part of what was seen, so that the status reports it at once. Checking writes nothing: the next decision follows, on live
// reads if it cannot be taken back.
func (r *RunReconciler) carryOut(ctx context.Context, s *runStep) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// The number of an instance that is removed must never be used again, whatever happens next.
		if err := r.writeAhead(ctx, s); err != nil {
			return err
		}
	}
	retries := &r.memories.of(s.run).retries
	// Whatever wakes a run before it is time, its own status among it, does not ask the cluster again.
	if retries.refused == reflect.TypeOf(action) && s.now.Before(retries.again) {
		s.seen.Refused = retries.refusal
		r.next(s)
		return nil
	}
	err := r.act(ctx, s, action)
	terminal, refused, unwritten := new(terminalError), new(refusedError), new(unwrittenError)
	switch {
	case errors.As(err, &unwritten):
		return fmt.Errorf("acting: %w", err)
	case errors.As(err, &terminal):
		s.seen.Terminal = &terminal.failure
		r.next(s)
		return nil
	case errors.As(err, &refused):
		if a, ok := action.(lifecycle.ProvideDatabase); ok {
			refused.Instance = a.Instance
		}
		s.seen.Refused = &refused.Refusal
		r.next(s)
		retries.refusal, retries.refused, retries.again = &refused.Refusal, reflect.TypeOf(action), s.now.Add(s.decision.After)
		return nil
	case err != nil:
		return fmt.Errorf("acting: %w", err)
	}
	switch action.(type) {
	case lifecycle.CheckVariants:
		return errStale
	case lifecycle.TakeLane, lifecycle.RecordAttempt, lifecycle.Publish:
		r.next(s)
		s.decision.Action = lifecycle.Wait{}
	}
	return nil
}

// reportsRetries notes a step that failed, and says whether the status reports it: not before the same step has failed several
// times.
func (r *RunReconciler) reportsRetries(s *runStep, err error) bool {
	retries, blockers := &r.memories.of(s.run).retries, &s.seen.Blockers
	retries.failures, retries.last = retries.failures+1, err
	blockers.RetryError, blockers.Unwritten = retries.reported()
	if blockers.RetryError == "" {
		return false
	}
	r.next(s)
	s.decision.Action = lifecycle.Wait{}
	return true
}

// lookAgain is when to look at the run again if nothing happens before: at its deadline at the latest.
func (s *runStep) lookAgain() time.Duration {
	d, deadline := s.decision, s.run.Status.Deadline
	if apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished) || deadline == nil || d.Pauses() {
		return d.After
	}
	return lifecycle.Sooner(d.After, max(firstRetry, deadline.Sub(s.now)))
}

// memory is what the operator remembers of a run from one step to the next, so that nothing is read or tried twice for nothing.
// An operator that has just started finds everything in it again.
type memory struct {
	// uid of the run: another one of its name has another memory.
	uid types.UID
	retries
	watermark
	chain chain
	made
	// checked: the API server has accepted the runs of all variants. compared is what was made of the records of these, and
	// variables are those of their servers.
	checked   bool
	compared  *judge.Compared
	variables map[string]map[string]string
	// lookedFor is since when the document of a Pod is looked for.
	lookedFor map[types.UID]time.Time
}

// watermark is the newest version of a run that was decided about or written. Nothing is decided about an older one, which a
// cache may still have: the operator would not know what it has done itself.
type watermark struct{ version string }

func (w *watermark) reach(owner client.Object) {
	if !w.isAbove(owner) {
		w.version = owner.GetResourceVersion()
	}
}

// isAbove says whether a run is an older version than one that was decided about.
func (w *watermark) isAbove(owner client.Object) bool {
	if w.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(owner.GetResourceVersion(), w.version)
	return err == nil && order < 0 // an API server whose versions have no order has no cache that could be behind
}

// memories are those of all runs. One step of a run is taken at a time, so that only the map has a lock.
type memories struct {
	mu  sync.Mutex
	all map[client.ObjectKey]*memory
}

func (m *memories) of(run client.Object) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(run)
	if m.all == nil {
		m.all = map[client.ObjectKey]*memory{}
	}
	if have := m.all[key]; have == nil || have.uid != run.GetUID() {
		m.all[key] = &memory{
			uid: run.GetUID(), made: made{parts: sets.New[types.UID]()}, variables: map[string]map[string]string{},
			lookedFor: map[types.UID]time.Time{},
		}
	}
	return m.all[key]
}

func (m *memories) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

// reportAfter is how often in a row a step must fail before the status reports it: most errors of an API server are gone at the
// next try.
const reportAfter = 3

// retries of a run: how often in a row a step has failed, the error of the last time, and what the cluster refuses.
type retries struct {
	failures int
	last     error
	// refusal is the last one, of an action of the type refused, which is to be tried again at that time.
	refusal *lifecycle.Refusal
	refused reflect.Type
	again   time.Time
}

// reported is the error of a step that has failed several times, or empty, and whether it is about results that cannot be
// written.
func (t *retries) reported() (message string, isUnwritten bool) {
	if t.failures < reportAfter {
		return "", false
	}
	unwritten := new(unwrittenError)
	return t.last.Error(), errors.As(t.last, &unwritten)
}

// errStale: the cache is behind the API server. The step is tried again soon.
var errStale = errors.New("the cache is behind the API server")

// isStale says whether an error only means that another writer was faster.
func isStale(err error) bool { return errors.Is(err, errStale) || apierrors.IsConflict(err) }

// unwrittenError is the error of a ConfigMap with results or a record that cannot be written now. Another try may succeed: what
// it would hold is kept until then.
type unwrittenError struct {
	what string
	err  error
}

func (e *unwrittenError) Error() string { return e.what + " cannot be written: " + e.err.Error() }

func (e *unwrittenError) Unwrap() error { return e.err }
