// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Comparison is everything that the printers of a comparison show.
type Comparison struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Workload  string `json:"workload"`
	Seed      int64  `json:"seed"`
	// Outcome is Complete, Failed or Unfinished; Message says why the comparison stopped, or failed.
	Outcome string    `json:"outcome"`
	Message string    `json:"message"`
	Started time.Time `json:"started"`
	// Rounds are those in which every variant was measured, of at most Planned.
	Rounds  int `json:"rounds"`
	Planned int `json:"planned"`
	// TrialsPerRound of each point, if the trials of the variants alternated; 0 if their runs were measured one after the other.
	TrialsPerRound int `json:"trialsPerRound,omitempty"`
	// SliceMilliseconds is the mean length of the slices in which the variants were measured; 0 if they were not.
	SliceMilliseconds int                 `json:"sliceMilliseconds,omitempty"`
	Variants          []ComparisonVariant `json:"variants"`
	// Variables of the servers that differ without being asked for, with the values of all variants.
	Variables []analysis.ServerVariable `json:"variables,omitempty"`
	// Pairs are the pairs. Overall has, of each variant with several points, what all of them say together.
	Pairs   []stats.Paired `json:"-"`
	Overall []stats.Paired `json:"-"`
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement `json:"claims,omitempty"`
	// Runs in the order of measuring.
	Runs []ComparisonRun `json:"runs"`
	// Findings must be read with the answer.
	Findings []stats.ComparisonFinding `json:"findings,omitempty"`
	// Rows that pilots have decided for the trials of all variants, by the label of the point; empty if there were none.
	Rows map[string]int64 `json:"rows,omitempty"`
	// Spec is what was asked, as it is stored.
	Spec json.RawMessage `json:"spec"`
	// Records of all attempts, of a run with variants.
	Records []*result.Record `json:"attempts,omitempty"`
	// Requested is what it shows besides what every report does.
	Requested Requested `json:"-"`
}

// Paired says how the values of a round were measured next to each other.
func (s *Comparison) Paired() string {
	switch {
	case s.SliceMilliseconds > 0:
		return fmt.Sprintf("paired, in slices of %g s (trials per round: %d)", float64(s.SliceMilliseconds)/1000, s.TrialsPerRound)
	case s.TrialsPerRound == 0:
		return "paired"
	}
	return fmt.Sprintf("paired, alternating trials (%d per round)", s.TrialsPerRound)
}

// ComparisonVariant is a variant of a comparison.
type ComparisonVariant struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Baseline: the others are compared with it.
	Baseline bool `json:"baseline,omitempty"`
	// Differences from the baseline in what is asked for.
	Differences []plan.Difference `json:"differences,omitempty"`
	// Besides says which server variables differ from the baseline's without being asked for; empty if that is not known.
	Besides string `json:"besides,omitempty"`
	// Volume says on what the data was; empty if that is not known.
	Volume string `json:"volume,omitempty"`
	// Unrequested is how many there are.
	Unrequested int `json:"unasked,omitempty"`
	// OtherVariables are the same in values; nil if that is not known.
	OtherVariables *analysis.OtherVariables `json:"otherVariables,omitempty"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
}

// Requested are the differences from the baseline for people.
func (v *ComparisonVariant) Requested() []string {
	var list []string
	for _, d := range v.Differences {
		list = append(list, d.String())
	}
	return list
}

// ComparisonRun is a run of a comparison that has finished.
type ComparisonRun struct {
	Name    string `json:"name"`
	Round   int    `json:"round"`
	Variant string `json:"variant"`
	Seed    int64  `json:"seed"`
	// Trials of a run with variants that measured this variant in this round.
	Trials []int `json:"trials,omitempty"`
	// Outcome is Complete or Failed.
	Outcome     string `json:"outcome"`
	Invalidated int    `json:"invalidated,omitempty"`
	// Results is the digest of the run's own results.
	Results        string `json:"results,omitempty"`
	ServerVersion  string `json:"serverVersion,omitempty"`
	SettingsDigest string `json:"settingsDigest,omitempty"`
	DatabaseImage  string `json:"databaseImage,omitempty"`
	DatabaseNode   string `json:"databaseNode,omitempty"`
	LoaderNode     string `json:"loaderNode,omitempty"`
	Metric         string `json:"metric,omitempty"`
	Unit           string `json:"unit,omitempty"`
	// Values of the points, in the order of the sweep.
	Values []ComparisonValue `json:"values,omitempty"`
	// Others are the metrics besides it that were read for plots and tables.
	Others []ComparisonMetric `json:"others,omitempty"`
}

// ComparisonMetric is what a run measured of a metric that is not its headline.
type ComparisonMetric struct {
	Metric string            `json:"metric"`
	Unit   string            `json:"unit"`
	Values []ComparisonValue `json:"values"`
}

// Of a metric, by its name, the unit and the values by point; an empty name is that of the headline metric. Without such a
// metric there are no values.
func (r *ComparisonRun) Of(metric string) (unit string, values []ComparisonValue) {
	if metric == "" || metric == r.Metric {
		return r.Unit, r.Values
	}
	i := slices.IndexFunc(r.Others, func(m ComparisonMetric) bool { return m.Metric == metric })
	if i < 0 {
		return "", nil
	}
	return r.Others[i].Unit, r.Others[i].Values
}

// ComparisonValue is what a run measured at a point.
type ComparisonValue struct {
	Parameters map[string]string `json:"parameters,omitempty"`
	Value      float64           `json:"value"`
}

// ComparisonFiles are all printed forms of a comparison's report, the summary first.
func ComparisonFiles(s *Comparison) ([]result.File, error) {
	return printed(s, []printer[Comparison]{{SummaryFile, ComparisonSummary}, {CSVFile, ComparisonCSV}, {JSONFile, ComparisonJSON}})
}

// ComparisonCSV writes a row for each value: of a point, in a run.
func ComparisonCSV(w io.Writer, s *Comparison) error {
	parameters := s.Parameters()
	rows := [][]string{slices.Concat([]string{"round", "variant", "run"}, parameters, []string{"metric", "value", "unit", "seed"})}
	for _, run := range s.Runs {
		for _, v := range run.Values {
			cells := []string{strconv.Itoa(run.Round), run.Variant, run.Name}
			for _, name := range parameters {
				cells = append(cells, v.Parameters[name])
			}
			rows = append(rows, append(cells, run.Metric, strconv.FormatFloat(v.Value, 'f', -1, 64), run.Unit,
				strconv.FormatInt(run.Seed, 10)))
		}
	}
	return writeCSV(w, rows)
}

// Parameters are the names of the swept parameters.
func (s *Comparison) Parameters() []string {
	names := map[string]bool{}
	for _, run := range s.Runs {
		for _, v := range run.Values {
			for name := range v.Parameters {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// OfComparison is the report of a comparison with that plan, from what its runs have measured so far. The outcome is how the
// comparison ended, Complete, Failed or Unfinished; the message says why there are no more rounds.
func OfComparison(
	comparison *v1alpha1.BenchmarkRun, p *analysis.ComparisonPlan, runs *analysis.ComparisonRuns, verdicts analysis.Verdicts,
	outcome, message string,
) (*Comparison, error) {
	spec, err := json.Marshal(comparison.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	a := analysis.OfComparison(comparison, p, runs, verdicts)
	rep := &Comparison{
		Namespace: comparison.Namespace, Name: comparison.Name, UID: string(comparison.UID),
		Workload: string(comparison.Spec.Workload.Type), Seed: ptr.Deref(comparison.Spec.Seed, v1alpha1.DefaultSeed),
		Outcome: outcome, Message: message, Rounds: a.Rounds, Planned: int(plan.Rounds(&comparison.Spec).AtMost),
		Pairs: a.Pairs, Overall: a.Overall, Claims: a.Claims, Findings: a.Warnings, Spec: spec, Rows: a.Rows,
		Variables: analysis.ServerVariables(p, runs),
	}
	if p.Alternation.Together() {
		rep.TrialsPerRound = int(plan.TrialsPerRound(&comparison.Spec))
	}
	if p.Alternation == v1alpha1.AlternateSlices {
		rep.SliceMilliseconds = plan.SliceMilliseconds
	}
	if comparison.Status.StartTime != nil {
		rep.Started = comparison.Status.StartTime.UTC()
	}
	for i := range a.Variants {
		v := &a.Variants[i]
		digest, err := plan.Digest(&p.Variants[i].Run.Spec)
		if err != nil {
			return nil, err
		}
		rep.Variants = append(rep.Variants, ComparisonVariant{
			Name: v.Name, Title: comparison.Spec.Variants[i].Title, Baseline: v.Baseline, Differences: v.Differences,
			Besides: v.Others.String(), OtherVariables: v.Others, SpecDigest: digest, Volume: v.Volume.String(),
		})
		if v.Others != nil {
			rep.Variants[i].Unrequested = v.Others.Differing
		}
	}
	for i, m := range p.Members {
		if runs.Members[i].Finished() {
			variant := comparison.Spec.Variants[m.Variant].Name
			one := ofMember(m, variant, p.Variants[m.Variant].Plan, &runs.Members[i])
			one.Trials = runs.Members[i].Trials
			rep.Runs = append(rep.Runs, one)
		}
	}
	return rep, nil
}

// OfVariants is the report of a run with variants, from the records of its attempts so far.
func OfVariants(c *analysis.Compared, records []*result.Record, outcome, message string) (*Comparison, error) {
	rep, err := OfComparison(c.Asked, c.Plan, c.Runs, c.Verdicts, outcome, message)
	if err != nil {
		return nil, err
	}
	rep.Records = withoutHistograms(records)
	return rep, nil
}

// MemberReport is what the records of a run with variants say of one of its variants in a round.
func (s *Comparison) MemberReport(of *ComparisonRun) *Report {
	rep := &Report{}
	byPoint := map[string]int{}
	for _, record := range s.Records {
		if record.Outcome != result.OutcomeAccepted || !record.Measures(of.Variant) || !slices.Contains(of.Trials, record.Trial) {
			continue
		}
		for _, m := range record.Side(of.Variant).Measurements() {
			label := stats.Label(m.Parameters)
			if _, known := byPoint[label]; !known {
				byPoint[label] = len(rep.Points)
				rep.Points = append(rep.Points, stats.Point{Parameters: m.Parameters})
			}
			p := &rep.Points[byPoint[label]]
			p.Records = append(p.Records, m)
		}
	}
	return rep
}

// ofMember is what the report says of a run that has finished.
func ofMember(m plan.Member, variant string, p *plan.Plan, member *analysis.Member) ComparisonRun {
	e := &member.Run.Status.Environment
	run := ComparisonRun{
		Name: member.Run.Name, Round: m.Round, Variant: variant, Seed: m.Seed, Outcome: v1alpha1.ConditionFailed,
		Invalidated: int(ptr.Deref(member.Run.Status.Trials.Invalidated, 0)), Results: member.Run.Status.Results.Digest,
		ServerVersion: e.ServerVersion, SettingsDigest: e.SettingsDigest, DatabaseImage: e.DatabaseImage,
		DatabaseNode: e.DatabaseNode, LoaderNode: e.LoaderNode,
	}
	if member.Measured == nil {
		return run
	}
	run.Outcome, run.Metric, run.Unit = v1alpha1.ConditionComplete, member.Measured.Metric.Name, member.Measured.Metric.Unit
	for i, point := range p.Points {
		if v := member.Measured.Values[i]; !math.IsNaN(v) {
			run.Values = append(run.Values, ComparisonValue{Parameters: point.Parameters, Value: v})
		}
	}
	return run
}
