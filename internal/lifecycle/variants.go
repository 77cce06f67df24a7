// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const (
	maxComparisons, maxDifferences = 64, 64
	// maxComparisonText bounds the texts of a comparison's status.
	maxComparisonText = 512
)

// roomPatience is for how long the first round may wait for room, so that Pods can go that are about to.
const roomPatience = 30 * time.Second

// Variants of a run are measured in rounds, each with new servers, which are all up at the same time in slices or trial by trial.
// A run that may choose begins again with one server at a time where there is no room for that, and trial by trial where a server
// was busy in its pauses in the first attempt in slices: nothing that counts is measured by then.

func variantsChecked(s *situation) *Decision {
	if len(s.plan.Variants) == 0 || s.seen.Checked || len(s.run.Status.Servers) > 0 {
		return nil
	}
	return &Decision{Action: CheckVariants{}, Reason: v1alpha1.ReasonChecking, Message: "the variants are being checked"}
}

// begunAgain has the run go on with another alternation.
func begunAgain(s *situation) *Decision {
	chosen, why := s.alternation()
	if len(s.plan.Variants) == 0 || chosen == s.plan.Alternation {
		return nil
	}
	return &Decision{Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase, After: time.Second, Message: why}
}

// mayBecome says whether a run may go on with another alternation: it may choose, and has not too many trials then.
func mayBecome(run *v1alpha1.BenchmarkRun, other v1alpha1.Alternation) bool {
	as := *run
	as.Status.Alternation = other
	_, err := plan.New(&as, other)
	return err == nil && (run.Spec.Alternation == "" || run.Spec.Alternation == v1alpha1.AlternateAutomatic)
}

// noRoom is an instance that has waited for room beside the others for so long that the run goes on with one server at a time;
// nil if there is none, or no choice.
func (s *situation) noRoom() *Instance {
	if !s.plan.Together() || len(s.seen.Records) > 0 {
		return nil
	}
	for _, number := range s.wantedInstances() {
		i := s.seen.Instance(number)
		if i == nil || i.Root() == nil {
			continue
		}
		waited := s.now.Sub(i.Root().GetCreationTimestamp().Time) >= roomPatience
		if state := i.State(); (state.NoRoom || state.Held) && waited && mayBecome(s.run, v1alpha1.AlternateRuns) {
			return i
		}
	}
	return nil
}

// BusyInPauses is the verdict about an accepted attempt with what was found of a server: invalid if the server worked while
// others were measured, and it is the first attempt of a run that may choose, and may have invalid ones.
func (o *Observed) BusyInPauses(run *v1alpha1.BenchmarkRun, a *Attempt, found []finding.Finding, instance int) trial.Verdict {
	variant := plan.VariantName(run, instance)
	i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Code == finding.BusyInPauses })
	allowed := ptr.Deref(run.Spec.Trials.MaxInvalid, v1alpha1.DefaultMaxInvalid) > 0
	if i < 0 || !allowed || o.FirstAccepted(variant) != nil || !mayBecome(run, v1alpha1.AlternateTrials) {
		return a.Verdict
	}
	return a.Verdict.Because(result.CauseBusyInPauses, fmt.Sprintf("variant %s: %s", variant, found[i].Text()))
}

// copied is how many attempts made the data that further servers begin with.
func (o *Observed) copied() (n int) {
	for _, r := range o.Records {
		if r.Cause == result.CauseDataCopied {
			n++
		}
	}
	return n
}

// Copied is the verdict about an accepted attempt with what its loader says of one of its servers: invalid if that made the data
// that further servers begin with. There is one such attempt of each variant, so that a copy that no server can begin with is not
// made for ever.
func (o *Observed) Copied(run *v1alpha1.BenchmarkRun, a *Attempt, doc *result.Document) trial.Verdict {
	anew := len(run.Spec.Variants) > 0 || run.Spec.Trials.Server == v1alpha1.ServerPerTrial
	made := doc.Tool != nil && doc.Tool.Data == result.DataPrepared
	failed := slices.ContainsFunc(doc.Findings, func(f finding.Finding) bool { return f.Code == finding.DataNotCopied })
	if !plan.CopiesData(run) || !anew || !made || failed || o.copied() >= plan.Sides(run) {
		return a.Verdict
	}
	return a.Verdict.Because(result.CauseDataCopied, "the data were made and copied: what counts begins with the copy")
}

func (s *situation) alternation() (v1alpha1.Alternation, string) {
	chosen, why := s.plan.Alternation, s.plan.AlternationReason
	if i := s.noRoom(); i != nil {
		chosen, why = v1alpha1.AlternateRuns, "no room for the servers of all variants at the same time: "+i.State().Waiting
	} else if r := s.lastInvalidated(); chosen == v1alpha1.AlternateSlices && r != nil && r.Cause == result.CauseBusyInPauses {
		chosen, why = v1alpha1.AlternateTrials, r.Message
	}
	return chosen, cut(why, maxComparisonText)
}

func (s *situation) answered() *Decision {
	d := &Decision{Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided, Message: s.compared.WhyStopped()}
	if !s.compared.Answered() {
		d.Reason = v1alpha1.ReasonUndecided
	}
	if n := s.compared.Unanswered(); n > 0 {
		d.Message += fmt.Sprintf("; pairs without an answer: %d of %d", n, len(s.compared.Pairs))
	}
	d.Message += ": " + stats.AnswerOf(s.compared.Overall, s.compared.Pairs).Text
	return d
}

func (s *situation) variants(status *v1alpha1.BenchmarkRunStatus) {
	c := s.compared
	a := stats.AnswerOf(c.Overall, c.Pairs)
	status.Alternation, status.AlternationReason = s.alternation()
	status.Baseline = c.Variants[c.Baseline].Name
	status.Answer = v1alpha1.AnswerStatus{
		Text: a.Brief, Detail: cut(a.Text, maxComparisonText), Verdict: a.Verdict, RatioStatus: ratioStatus(a.Pair),
	}
	status.Pairs, status.Overall = pairStatuses(c.Pairs), pairStatuses(c.Overall)
	status.Claims, status.Claimed = claimStatus(c.Claims)
	status.Differences = fitting(variantDifferences(c), maxDifferences, func(text string) string { return text })
	status.Volumes = volumes(c.Variants)
	status.Progress = fmt.Sprintf("%d/%d", c.Rounds, s.plan.Rounds)
}

func ratioStatus(p *stats.Paired) v1alpha1.RatioStatus {
	if p == nil || !p.Bounded() {
		return v1alpha1.RatioStatus{}
	}
	return v1alpha1.RatioStatus{Ratio: stats.Format(p.Ratio), Low: stats.Format(p.Low), High: stats.Format(p.High)}
}

func pairStatuses(pairs []stats.Paired) []v1alpha1.PairStatus {
	var list []v1alpha1.PairStatus
	for i := range pairs[:min(len(pairs), maxComparisons)] {
		p := &pairs[i]
		list = append(list, v1alpha1.PairStatus{
			Variant: p.Variant, Parameters: parameterValues(p.Parameters), Verdict: p.Verdict,
			Rounds: int32Of(p.Rounds), Metric: cut(p.Metric.Name, 64), Unit: cut(p.Metric.Unit, 32),
			BaselineMedian: stats.Format(stats.Summarize(p.BaselineValues).Median), Median: stats.Format(stats.Summarize(p.Values).Median),
			Detail: cut(p.String(), maxComparisonText), RatioStatus: ratioStatus(p),
		})
	}
	return list
}

// variantDifferences say of each variant in what it asks for something else than the baseline, and which server variables differ
// besides: a sentence or two for each.
func variantDifferences(c *judge.Compared) []string {
	var list []string
	baseline := c.Variants[c.Baseline].Name
	for i := range c.Variants {
		v := &c.Variants[i]
		if i == c.Baseline {
			continue
		}
		text := fmt.Sprintf("%s has the same specification as %s", v.Name, baseline)
		if len(v.Differences) > 0 {
			text = fmt.Sprintf("%s differs from %s in: %s", v.Name, baseline, plan.List(v.Differences))
		}
		if v.Others != nil {
			text += "; " + v.Others.String()
		}
		list = append(list, shortText(text, maxComparisonText))
	}
	return list
}

func volumes(variants []judge.Variant) []v1alpha1.VolumeStatus {
	var list []v1alpha1.VolumeStatus
	for i := range variants {
		if variants[i].Volume == nil {
			continue
		}
		volume := *variants[i].Volume
		shorten(64, &volume.Filesystem, &volume.IOScheduler)
		shorten(512, &volume.BlockIO)
		shorten(1024, &volume.MountOptions)
		list = append(list, volume)
	}
	return list
}
