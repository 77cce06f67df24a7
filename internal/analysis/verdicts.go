// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Verdicts are what the whole rounds of a comparison say.
type Verdicts struct {
	// Policy of the comparison, which says whose answers it is to have.
	Policy v1alpha1.RoundsUntil
	// Rounds in which every variant was measured.
	Rounds int
	// Pairs are the pairs in the order of the plan.
	Pairs []stats.Paired
	// Overall has, of each variant with several points, what all of them say together.
	Overall []stats.Paired
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
}

// asked are those whose answers the comparison is to have: all pairs, or what the points of each variant say together, and the
// pairs of a variant whose points do not.
func (v *Verdicts) asked() []stats.Paired {
	if v.Policy != v1alpha1.RoundsOverallDecided {
		return v.Pairs
	}
	asked := slices.Clone(v.Overall)
	for _, p := range v.Pairs {
		if !slices.ContainsFunc(v.Overall, func(o stats.Paired) bool { return o.Variant == p.Variant }) {
			asked = append(asked, p)
		}
	}
	return asked
}

// Answered says whether all that the comparison is to have has an answer.
func (v *Verdicts) Answered() bool { return unanswered(v.asked()) == 0 }

// Unanswered is how many pairs have no answer.
func (v *Verdicts) Unanswered() int { return unanswered(v.Pairs) }

func unanswered(pairs []stats.Paired) int {
	n := 0
	for i := range pairs {
		if !pairs[i].Answered() {
			n++
		}
	}
	return n
}

// Decided says whether neither what is asked nor a claim needs more rounds.
func (v *Verdicts) Decided() bool {
	asked := v.asked()
	return len(asked) > 0 && !slices.ContainsFunc(asked, func(p stats.Paired) bool { return !p.Decided }) &&
		!slices.ContainsFunc(v.Claims, func(c claims.Judgement) bool { return !c.Settled })
}

// wholeRounds is how many rounds there are in which every variant was measured, from the first on without a gap.
func wholeRounds(p *ComparisonPlan, runs *ComparisonRuns) int {
	rounds := 0
	for first := 0; first+len(p.Variants) <= len(runs.Members) && len(p.Variants) > 0; first += len(p.Variants) {
		round := runs.Members[first : first+len(p.Variants)]
		if slices.ContainsFunc(round, func(m Member) bool { return m.Measured == nil }) {
			break
		}
		rounds++
	}
	return rounds
}

// Judge compares the variants by their whole rounds, unless that was done before for as many.
func Judge(comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns, before Verdicts) Verdicts {
	rounds := wholeRounds(p, runs)
	if rounds == 0 || rounds == before.Rounds {
		return before
	}
	// values of a variant at a point, round by round.
	values := func(variant, point int) []float64 {
		list := make([]float64, rounds)
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if m.Variant == variant {
				list[m.Round-1] = runs.Members[i].Measured.Values[point]
			}
		}
		return list
	}
	first := func(variant int) *Measurements {
		return runs.Members[slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == variant })].Measured
	}
	design := DesignOf(&comparison.Spec, len(p.Pairs))
	baselines := map[int][]float64{}
	v := Verdicts{Policy: plan.Rounds(&comparison.Spec).Until, Rounds: rounds}
	for _, pair := range p.Pairs {
		if baselines[pair.With] == nil {
			baselines[pair.With] = values(p.Baseline, pair.With)
		}
		ours, theirs := first(pair.Variant).Metric, first(p.Baseline).Metric
		paired := stats.Paired{
			Variant: comparison.Spec.Variants[pair.Variant].Name, Baseline: comparison.Spec.Variants[p.Baseline].Name,
			Parameters:     p.Variants[pair.Variant].Plan.Points[pair.Of].Parameters,
			BaselineValues: baselines[pair.With], Values: values(pair.Variant, pair.Of),
		}
		paired.Measures(ours, theirs)
		paired.RateMissed = rateMissed(p, runs, rounds, pair)
		paired.Judge(design)
		paired.Costs = costs(p, runs, rounds, pair)
		v.Pairs = append(v.Pairs, paired)
	}
	v.Overall = design.Overall(v.Pairs)
	v.Claims = claimsOfComparison(comparison, p, runs, rounds)
	return v
}

// rateMissed says whether any of the rounds missed the offered rate at one of the two points of a pair.
func rateMissed(p *ComparisonPlan, runs *ComparisonRuns, rounds int, pair PlannedPair) bool {
	for i, m := range p.Members[:rounds*len(p.Variants)] {
		missed := runs.Members[i].Measured.RateMissed
		if m.Variant == pair.Variant && missed[pair.Of] || m.Variant == p.Baseline && missed[pair.With] {
			return true
		}
	}
	return false
}

// DesignOf a comparison is how it makes that many pairs. If these are more than there are variants besides the baseline, there
// are several points.
func DesignOf(spec *v1alpha1.BenchmarkRunSpec, comparisons int) stats.Design {
	rounds := plan.Rounds(spec)
	return stats.Design{
		MinRounds: int(rounds.AtLeast), MaxRounds: int(rounds.AtMost), EarlyStop: rounds.Until != v1alpha1.RoundsAll,
		EquivalencePercent: float64(plan.EquivalentPercent(spec)), Comparisons: comparisons,
		Together: comparisons > len(spec.Variants)-1,
	}
}

// fastFdatasync is the latency of fdatasync, in microseconds, below which waiting for the disk costs next to nothing.
const fastFdatasync = 1000

// place is what a claim may fail for although it is true elsewhere.
type place struct {
	// median and mean latency of fdatasync on the data volume, in microseconds; 0 if they are not known.
	median, mean int64
	// waits says that commits wait for the disk.
	waits bool
	// cpus that the server may use; 0 if that is not known.
	cpus float64
}

// addReasons adds to claims that do not hold what the place has to do with it: published figures from a time of slow disks are
// often about nothing but the wait for a commit to be on disk, and those of large machines about how many connections they serve.
func addReasons(list v1alpha1.Claims, judged []claims.Judgement, at place) {
	for i := range judged {
		if judged[i].Verdict != claims.DoesNotHold {
			continue
		}
		if at.waits && at.median > 0 && max(at.median, at.mean) < fastFdatasync && !ofEngines(&list[i]) {
			judged[i].Detail += "; a commit waits for the disk, and here fdatasync takes only " + fdatasyncText(at.median, at.mean)
		}
		if n := connections(&list[i]); at.cpus > 0 && float64(n) > at.cpus {
			judged[i].Detail += fmt.Sprintf("; here %d connections share %s", n, cpuCount(at.cpus))
		}
	}
}

// ofEngines says whether a claim compares storage engines: of what they wait for, the disk is the least.
func ofEngines(c *v1alpha1.Claim) bool {
	const name = "storageEngine"
	switch {
	case c.Ratio != nil:
		return c.Ratio.Of.Parameters[name] != c.Ratio.To.Parameters[name]
	case c.NoDifference != nil:
		return c.NoDifference.Of.Parameters[name] != c.NoDifference.To.Parameters[name]
	case c.BestAt != nil:
		_, named := c.BestAt.At.Parameters[name]
		return named
	}
	return false
}

func cpuCount(n float64) string {
	if n == 1 {
		return "one CPU"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " CPUs"
}

// connections is the largest number of connections that a claim names as a value; 0 if it is not about connections.
func connections(c *v1alpha1.Claim) int {
	var named []v1alpha1.PointSelector
	switch {
	case c.Ratio != nil:
		named = append(named, c.Ratio.Of, c.Ratio.To)
	case c.BestAt != nil:
		named = append(named, c.BestAt.At)
	case c.NoDifference != nil:
		named = append(named, c.NoDifference.Of, c.NoDifference.To)
	}
	var values []string
	for _, of := range named {
		if value, found := of.Parameters["clients"]; found {
			values = append(values, value.String())
		}
	}
	// Points that differ in something else are no matter of connections.
	if len(values) == 0 || len(named) == 2 && (len(values) != 2 || values[0] == values[1]) {
		return 0
	}
	most := 0
	for _, value := range values {
		if n, err := strconv.Atoi(value); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// placeOfRun by the records of its points.
func placeOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) place {
	waits, known := plan.CommitsWait(&run.Spec.Database)
	at, nodeCPUs := place{waits: known && waits}, 0
	for i := range points {
		for _, r := range points[i].Records {
			if f := r.Fingerprint; f != nil {
				nodeCPUs = max(nodeCPUs, f.CPUs)
				if f.FdatasyncMicros.Calls > 0 {
					at.median, at.mean = f.FdatasyncMicros.Median, f.FdatasyncMicros.Mean
				}
			}
			for _, m := range r.Summary.Metrics {
				at.waits = at.waits || !known && waitsForDisk(m.Name, m.Value)
			}
		}
	}
	at.cpus = serverCPUs(&run.Spec, nodeCPUs)
	return at
}

// placeOfComparison by the environments of its runs. What they wait for differs by variant: addComparisonReasons says it.
func placeOfComparison(p *ComparisonPlan, runs *ComparisonRuns) place {
	at := place{}
	for i := range runs.Members {
		if run := runs.Members[i].Run; run != nil {
			cpus := serverCPUs(&p.Variants[p.Members[i].Variant].Run.Spec, int(run.Status.Environment.CPUs))
			at.cpus = max(at.cpus, cpus)
		}
	}
	return at
}

// serverCPUs that a server may use: its limit, or all of its node; 0 if neither is known.
func serverCPUs(spec *v1alpha1.BenchmarkRunSpec, ofNode int) float64 {
	limit := 0.0
	if spec.Database.Provisioner != v1alpha1.ProvisionerExternal {
		limit = float64(plan.CPULimitMillis(&spec.Database)) / 1000
	}
	if limit > 0 && (ofNode <= 0 || limit < float64(ofNode)) {
		return limit
	}
	return float64(max(ofNode, 0))
}

// waitsForDisk says whether a metric is how often a transaction calls fsync, and at some point it does.
func waitsForDisk(metric string, values ...float64) bool {
	return strings.Contains(metric, "FsyncsPerTransaction") && slices.ContainsFunc(values, func(v float64) bool { return v > 0.5 })
}

// fdatasyncText says the latency of fdatasync: its median, and its mean where that is something else, because a limit makes one
// write of several wait.
func fdatasyncText(median, mean int64) string {
	text := stats.Format(float64(median)/1000) + " ms (median)"
	if mean > 2*median {
		text = stats.Format(float64(mean)/1000) + " ms (mean; median " + stats.Format(float64(median)/1000) + " ms)"
	}
	return text
}
