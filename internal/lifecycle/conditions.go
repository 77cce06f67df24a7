// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

type conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        time.Time
}

func (c conditions) set(conditionType string, value bool, reason, message string) {
	status := metav1.ConditionFalse
	if value {
		status = metav1.ConditionTrue
	}
	c.put(conditionType, status, reason, message)
}

func (c conditions) put(conditionType string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(c.list, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: cut(message, maxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: metav1.NewTime(c.now),
	})
}

func (c conditions) have(conditionType string) bool {
	return apimeta.IsStatusConditionTrue(*c.list, conditionType)
}

// keep leaves all conditions as they are; only their observed generation moves on. An end is never taken back.
func (c conditions) keep() {
	for i := range *c.list {
		(*c.list)[i].ObservedGeneration = c.generation
	}
}

// summarize sets the conditions that every kind has: Complete, Failed and Finished say whether and how it has ended; Ready,
// Reconciling and Stalled say the same to other tools.
func (c conditions) summarize(d Decision) {
	defer c.sayOnce()
	if c.have(v1alpha1.ConditionFailed) {
		c.keep()
		if d.Finished {
			f := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
			c.set(v1alpha1.ConditionFinished, true, f.Reason, f.Message)
			c.set(v1alpha1.ConditionReconciling, false, f.Reason, f.Message)
		}
		return
	}
	failed := d.Failure != nil
	ended, finished := failed || d.Complete, d.Finished || d.Complete
	reason, message := d.Reason, d.Message
	if failed {
		reason, message = d.Failure.Reason, d.Failure.Message
	}
	endReason, endMessage := reason, message
	if !ended {
		endReason, endMessage = v1alpha1.ReasonInProgress, "the run is under way"
	}
	c.set(v1alpha1.ConditionComplete, d.Complete, endReason, endMessage)
	c.set(v1alpha1.ConditionFailed, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionFinished, finished, endReason, endMessage)
	c.set(v1alpha1.ConditionReconciling, !finished && reason != v1alpha1.ReasonSuspended, reason, message)
	c.set(v1alpha1.ConditionStalled, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionReady, d.Complete, reason, message)
}

// deleting sets the conditions of what is being deleted and has not finished. What was measured stays as it was told last.
func (c conditions) deleting(d Decision) {
	c.keep()
	c.set(v1alpha1.ConditionAdmitted, false, d.Reason, d.Message)
	c.set(v1alpha1.ConditionReconciling, !d.Stopped, d.Reason, d.Message)
	if c.have(v1alpha1.ConditionFailed) {
		return
	}
	c.set(v1alpha1.ConditionReady, false, d.Reason, d.Message)
	for _, condition := range []string{
		v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled,
	} {
		c.set(condition, false, d.Reason, "the run is being deleted")
	}
}

// sayOnce leaves the message of a failure to the condition Failed: the others, of which tools print one or another, refer to it.
func (c conditions) sayOnce() {
	failed := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
	if failed == nil || failed.Status != metav1.ConditionTrue {
		return
	}
	for i := range *c.list {
		if other := &(*c.list)[i]; other.Type != v1alpha1.ConditionFailed && other.Message == failed.Message {
			other.Message = failed.Reason + ": see condition Failed"
		}
	}
}

// publishGrace is how long after a failure the operator tries at least to write the results of what was measured before.
const publishGrace = time.Minute

// failing publishes what was measured before a failure, and then ends the run. If the cluster refuses the results for too long,
// it ends without them.
func failing(s *situation) *Decision {
	failed := apimeta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionFailed)
	if !s.is(v1alpha1.ConditionFailed) {
		return nil
	}
	left := max(failed.LastTransitionTime.Add(publishGrace).Sub(s.now), deadline(s).Sub(s.now))
	if s.nothingToPublish() || s.seen.RetryError != "" && left <= 0 {
		return &Decision{Action: Wait{}, Finished: true}
	}
	if d := s.restoring(); d != nil && left > 0 {
		return d
	}
	return &Decision{
		Action: Publish{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: max(0, left),
		Message: "the run has failed; the results so far are being written",
	}
}

// nothingToPublish: the results are there, or there is nothing that could be in them.
func (s *situation) nothingToPublish() bool {
	return s.seen.Results != nil || s.plan == nil || len(s.seen.Records) == 0
}

// keeps says whether the database stays after the end.
func (s *situation) keeps() bool {
	policy := s.run.Spec.Cleanup
	return policy == v1alpha1.CleanupNever || policy == v1alpha1.CleanupOnSuccess && !s.is(v1alpha1.ConditionComplete)
}

// cleanUp is the next step of spec.cleanup, or nil. The Jobs of a failed run stay if its database stays: both can be inspected.
// Copies of prepared data are of no use any more, whether or not a database stays.
func (s *situation) cleanUp() Action {
	next := s.removeEverything
	if s.keeps() {
		next = s.leaveNodes
		for _, i := range s.seen.Instances {
			if i.Budget != nil && i.Budget.DeletionTimestamp == nil { // it would hold up the drain of a node for nothing
				return ReleaseNodes{Instance: i.Number}
			}
		}
	}
	if a := next(); a != nil || !s.seen.DataCopies {
		return a
	}
	return RemoveDataCopies{}
}

// What the status has room for. The API server refuses a status that breaks one bound of its schema, and etcd an object of more
// than 1.5 MiB.
const (
	// maxStatusPoints is how many points the status lists; the rest is in the results.
	maxStatusPoints = 64
	// maxFindings is how many findings the status has, and maxFinding how long the texts of one are.
	maxFindings, maxFinding = 32, 512
	maxMessage              = 4096
	maxImage                = 512
)

// fit cuts every text of a status that comes from elsewhere, and its numbers, to what the schema allows. Lists are cut where they
// are made.
func fit(s *v1alpha1.BenchmarkRunStatus) {
	e := &s.Environment
	shorten(512, &s.Answer.Detail, &e.DatabaseImage, &e.LoaderImage, &e.BlockIO)
	shorten(253, &e.DatabaseNode, &s.Results.ConfigMap)
	shorten(16384, &e.LoaderNode)
	shorten(128, &e.SettingsDigest, &s.Results.Digest)
	shorten(256, &e.ServerVersion, &e.Kernel, &e.CPUModel)
	shorten(1024, &e.MountOptions)
	shorten(64, &s.Results.FromRun, &e.Filesystem, &e.IOScheduler)
	shorten(32, &e.Swappiness, &e.TransparentHugePages)
	e.CPUs, e.MemoryBytes, e.FdatasyncMicros = max(0, e.CPUs), max(0, e.MemoryBytes), max(0, e.FdatasyncMicros)
	e.FdatasyncMeanMicros = max(0, e.FdatasyncMeanMicros)
}

func shorten(length int, texts ...*string) {
	for _, text := range texts {
		*text = cut(*text, length)
	}
}

// cut keeps the first characters of a text, as many as the API allows.
func cut(text string, length int) string {
	if r := []rune(text); len(r) > length {
		return string(r[:length])
	}
	return text
}

func shortText(text string, length int) string {
	if utf8.RuneCountInString(text) > length {
		return cut(text, length-1) + "…"
	}
	return text
}

// fitting are as many of a list as there is room for. If some are left out, the last one says how many.
func fitting[T any](list []T, most int, saying func(text string) T) []T {
	left := len(list) - most + 1
	if left < 2 {
		return list
	}
	return append(list[:most-1], saying(fmt.Sprintf("%d more, see the results", left)))
}

func int32Of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// Invalid is the failure of a run whose specification cannot be carried out; nil without an error.
func Invalid(err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: err.Error()}
}

func claimStatus(judged []claims.Judgement) (list []v1alpha1.ClaimStatus, together string) {
	counts := map[claims.Verdict]int{}
	for _, j := range judged {
		counts[j.Verdict]++
		detail := j.Detail
		if j.PublishedDetail != "" {
			detail += "; published: " + j.PublishedDetail
		}
		list = append(list, v1alpha1.ClaimStatus{
			Name: j.Name, Verdict: j.Verdict, Detail: cut(detail, maxComparisonText), Published: j.Published,
		})
	}
	var parts []string
	for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.CannotSay, claims.PremiseMissing} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", stats.Words(v), counts[v]))
		}
	}
	return list, strings.Join(parts, ", ")
}
