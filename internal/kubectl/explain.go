// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/docs"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func newExplain(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	code := ""
	explain := c.onRun(func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
		attempts, err := invalidated(ctx, cl, run)
		text := explanation(snapshotOf(run), attempts, run.Status.FindingTexts(), time.Now())
		if err != nil {
			text = append(text, "Invalidated attempts cannot be listed: "+explained(err))
		}
		_, err = io.WriteString(streams.Out, strings.Join(text, "\n")+"\n")
		return err
	})
	command := &cobra.Command{
		Use:   "explain (NAME | --finding CODE)",
		Short: "Explain the state of a run, what it waits for, and what to do",
		Long: `Explain the state of a run: the reason, since when, what it waits for, and what to do.

With --finding, explain what a finding means for a number. This needs no cluster.

docs/reference/reasons.md lists all reasons and causes, docs/reference/findings.md all findings;
docs/troubleshooting.md says more.`,
		Example: `  # Why does it not start?
  kubectl benchrun explain commit-size

  # Why did it fail?
  kubectl benchrun explain durable-or-not

  # What does a warning mean?
  kubectl benchrun explain --finding ServerNotAtRest`,
		Args: func(command *cobra.Command, arguments []string) error {
			if code != "" {
				return cobra.NoArgs(command, arguments)
			}
			return cobra.ExactArgs(1)(command, arguments)
		},
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			if code != "" {
				return explainFinding(streams.Out, finding.Code(code))
			}
			return explain(command, arguments)
		},
	}
	command.Flags().StringVar(&code, "finding", "", "explain this finding, for example ServerNotAtRest")
	_ = command.RegisterFlagCompletionFunc("finding", cobra.FixedCompletions(codes(), cobra.ShellCompDirectiveNoFileComp))
	return command
}

func explanation(m *snapshot, invalidated []*result.Record, warnings []string, now time.Time) []string {
	ready, deadline := m.ready(), m.run.Status.Deadline
	text := []string{
		fmt.Sprintf("Run %s: %s%s, %d of %d %s measured.", m.run.Name, ready.Reason, m.since(now), m.done, m.planned, m.unit),
		"  " + ready.Message,
	}
	text = append(text, explainReason(ready.Reason)...)
	switch {
	case m.answer != "" && m.finished():
		text = append(text, "Answer: "+m.answer)
	case m.answer != "":
		text = append(text, "So far: "+m.answer)
	}
	text = slices.Concat(text, m.hints, m.blockedBy(ready.Reason))
	if deadline != nil && !m.finished() {
		text = append(text, fmt.Sprintf("Deadline: %s (in %s).",
			deadline.UTC().Format("2006-01-02 15:04:05 MST"), duration.HumanDuration(deadline.Sub(now))))
	}
	text = slices.Concat(text, m.explainExpiry(now), explainInvalidated(m.run, invalidated), explainWarnings(warnings))
	if ready.Reason != v1alpha1.ReasonComplete && ready.Reason != v1alpha1.ReasonDecided {
		text = append(text, "docs/troubleshooting.md says more.")
	}
	return text
}

// changedWith is the condition whose status changed when the reason of Ready became this one: Ready only changes at the end.
var changedWith = map[string]string{
	v1alpha1.ReasonQueued: v1alpha1.ConditionAdmitted, v1alpha1.ReasonSuspended: v1alpha1.ConditionSuspended,
	v1alpha1.ReasonMeasuring: v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonProvisioningDatabase: v1alpha1.ConditionAdmitted,
}

// since says since when it is in its state, if that is known.
func (m *snapshot) since(now time.Time) string {
	of := changedWith[m.ready().Reason]
	if m.finished() {
		of = v1alpha1.ConditionFinished
	}
	c := apimeta.FindStatusCondition(m.run.Status.Conditions, of)
	if c == nil {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", c.LastTransitionTime.UTC().Format("15:04:05 MST"),
		duration.HumanDuration(now.Sub(c.LastTransitionTime.Time)))
}

func explainReason(reason string) []string {
	a, known := reasons()[reason]
	switch {
	case reason == notSeen:
		return []string{"What to do: wait a few seconds. If nothing changes, is the operator running? `kubectl get pods -A -l " +
			"app.kubernetes.io/name=benchrun` shows it."}
	case !known:
		return []string{"This version of kubectl benchrun does not know the reason " + reason + "."}
	}
	return a.lines()
}

// blockedBy lists the conditions, other than the one with the reason that is already explained, that say that something is wrong
// or is waited for: the lane, the database, the results.
func (m *snapshot) blockedBy(explained string) []string {
	var text []string
	for _, of := range []string{v1alpha1.ConditionAdmitted, v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionResultsAvailable} {
		c := apimeta.FindStatusCondition(m.run.Status.Conditions, of)
		if c == nil || c.Reason == explained || c.Reason == v1alpha1.ReasonInProgress {
			continue
		}
		text = append(text, fmt.Sprintf("%s: %s", of, c.Message))
		if c.Status != metav1.ConditionTrue {
			text = append(text, reasons()[c.Reason].remedy()...)
		}
	}
	return text
}

func (m *snapshot) explainExpiry(now time.Time) []string {
	expires := m.run.Status.ExpirationTime
	if expires == nil {
		return nil
	}
	what := "with its results (kubectl benchrun export saves them)"
	if m.run.Spec.Results.Retention == v1alpha1.RetentionRetain {
		what = "without its results"
	}
	return []string{fmt.Sprintf("Deletion: %s (in %s), %s. spec.ttlSecondsAfterFinished changes the time.",
		expires.UTC().Format("2006-01-02 15:04:05 MST"), duration.HumanDuration(max(0, expires.Sub(now))), what)}
}

func explainFinding(out io.Writer, code finding.Code) error {
	e, known := finding.Table[code]
	if !known {
		return fmt.Errorf("finding %s does not exist; use one of %s", code, strings.Join(codes(), ", "))
	}
	text := append([]string{fmt.Sprintf("%s (%s)", code, e.Severity), "  " + e.Pattern()}, findings()[string(code)].lines()...)
	_, err := io.WriteString(out, strings.Join(text, "\n")+"\n")
	return err
}

func codes() []string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(finding.Table)) {
		all = append(all, string(code))
	}
	return all
}

const maxWarnings = 5

func explainWarnings(warnings []string) []string {
	var each []string
	for _, w := range warnings {
		if !slices.Contains(each, w) {
			each = append(each, w)
		}
	}
	if len(each) == 0 {
		return nil
	}
	text := []string{"Warnings:"}
	for _, w := range each[:min(len(each), maxWarnings)] {
		text = append(text, "  "+w)
	}
	if more := len(each) - maxWarnings; more > 0 {
		text = append(text, fmt.Sprintf("  and %d more: see kubectl benchrun report", more))
	}
	return text
}

// advice explains a reason, a cause or a finding: what it means, and what to do, which is empty if there is nothing to be done.
type advice struct{ means, do string }

// lines are both, for a person; none of what is not explained.
func (a advice) lines() []string {
	if a.means == "" {
		return nil
	}
	means := a.means
	if first, _, _ := strings.Cut(means, " "); !strings.Contains(first, ".") { // no field's path
		means = strings.ToUpper(means[:1]) + means[1:]
	}
	return append([]string{means}, a.remedy()...)
}

// remedy is a line that says what to do, or none.
func (a advice) remedy() []string {
	if a.do == "" {
		return nil
	}
	return []string{"What to do: " + a.do}
}

// reasons, causes and findings are what their pages say of them.
var (
	reasons  = sync.OnceValue(func() map[string]advice { return advised(docs.Reasons, "## Reasons\n", "\n## ") })
	causes   = sync.OnceValue(func() map[string]advice { return advised(docs.Reasons, "## Causes of LoaderFailed\n", "\n# ") })
	findings = sync.OnceValue(func() map[string]advice { return advised(docs.Findings, "## Warnings\n", "\n# ") })
)

var (
	quotedName = regexp.MustCompile("`(\\w+)`")
	pageLink   = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// advised reads the tables between two places of a page: names in backquotes come first, and last what they mean, and what to do.
func advised(page, from, to string) map[string]advice {
	_, text, _ := strings.Cut(page, from)
	text, _, _ = strings.Cut(text, to)
	all := map[string]advice{}
	for row := range strings.Lines(text) {
		cells := strings.Split(row, "|") // before the first and after the last is nothing
		if len(cells) < 5 {
			continue
		}
		last := len(cells) - 2
		for _, name := range quotedName.FindAllStringSubmatch(cells[1], -1) {
			all[name[1]] = advice{sentence(cells[last-1]), sentence(cells[last])}
		}
	}
	return all
}

// sentence is a cell of a page's table as it reads in a terminal.
func sentence(cell string) string {
	text := strings.ReplaceAll(pageLink.ReplaceAllString(strings.TrimSpace(cell), "$1"), "`", "")
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
