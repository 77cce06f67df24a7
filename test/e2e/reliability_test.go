//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// disturbance is a case of docs/reliability.md: what happens to a run, and what its user sees of it.
type disturbance struct {
	name   string
	ledger *ledger
	// over is when the disturbance ended.
	over time.Time

	mu sync.Mutex
	// statuses are the values of the column STATUS of each run, one after the other.
	statuses map[string][]string
}

// disturb begins the case of that name.
func disturb(ctx SpecContext, name string) *disturbance {
	GinkgoHelper()
	commit() // before the tree can change
	d := &disturbance{name: name, ledger: keepLedger(ctx), statuses: map[string][]string{}}
	informer := need(d.ledger.cache.GetInformer(ctx, &v1alpha1.BenchmarkRun{}, cache.BlockUntilSynced(true)))
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: d.saw, UpdateFunc: func(_, changed any) { d.saw(changed) },
	})
	Expect(err).NotTo(HaveOccurred())
	return d
}

func (d *disturbance) saw(object any) {
	run, ok := object.(*v1alpha1.BenchmarkRun)
	if !ok {
		return
	}
	c := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.statuses[run.Name]
	if len(seen) == 0 || seen[len(seen)-1] != c.Reason {
		d.statuses[run.Name] = append(seen, c.Reason)
	}
}

// ended says that the disturbance is over: from now on the time to recovery counts.
func (d *disturbance) ended() { d.over = time.Now() }

// recovered is when a run's next attempt was recorded as measured after the disturbance, or when the run ended, if that was
// before.
func (d *disturbance) recovered(run *v1alpha1.BenchmarkRun) time.Time {
	var next time.Time
	if run.Status.CompletionTime != nil {
		next = run.Status.CompletionTime.Time
	}
	for _, e := range d.ledger.of(run.UID) {
		if e.accepted && e.came.After(d.over) && (next.IsZero() || e.came.Before(next)) {
			next = e.came
		}
	}
	return next
}

// sees is what the user of a run sees: the column STATUS as it changed, attempts that were disturbed, and the message of a
// failure.
func (d *disturbance) sees(ctx context.Context, run *v1alpha1.BenchmarkRun) string {
	GinkgoHelper()
	d.mu.Lock()
	words := []string{"`" + strings.Join(d.statuses[run.Name], "` → `") + "`"}
	d.mu.Unlock()
	var configs corev1.ConfigMapList
	Expect(cluster.List(ctx, &configs, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
	})).To(Succeed())
	for _, cm := range configs.Items {
		r := need(result.DecodeRecord(cm.Data[result.RecordKey]))
		if r.Outcome != result.OutcomeAccepted {
			words = append(words, fmt.Sprintf("%s %s %s: %s", cm.Name, r.Outcome, r.Cause, r.Message))
		}
	}
	if why := failure(run); why != "" {
		words = append(words, why)
	}
	return strings.Join(words, "; ")
}

// tell waits for a run's end, and writes the case's row, however it ended.
func (d *disturbance) tell(ctx context.Context, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	run := finished(ctx, name)
	a := d.ledger.account(ctx, run)
	d.row(d.sees(ctx, run), d.recovered(run).Sub(d.over), fmt.Sprintf("%d of %d", a.Measured, a.Planned), fmt.Sprint(a.Lost), fmt.Sprint(a.Doubled))
	Expect(a.Lost).To(BeZero(), "results lost")
	Expect(a.Doubled).To(BeZero(), "results doubled")
	return run
}

// row is written into the table at once, in place of the row that the case had: an aborted run of the command leaves what it
// found.
func (d *disturbance) row(sees string, recovery time.Duration, trials, lost, doubled string) {
	GinkgoHelper()
	sees = strings.NewReplacer("|", "\\|", "\n", " ", namespace, "NAMESPACE").Replace(sees)
	writeRow(d.name, fmt.Sprintf("| %s | %s | %.0f | %s | %s | %s | %s, %s |\n", d.name, sees, max(0, recovery.Seconds()), trials, lost, doubled,
		time.Now().UTC().Format(time.DateOnly), commit()))
}

const (
	tableBegin = "<!-- reliability -->\n"
	tableEnd   = "<!-- /reliability -->\n"
	tableHead  = "| case | what the user sees | recovery, s | trials | lost | doubled | measured |\n|---|---|--:|--:|--:|--:|---|\n"
)

// writeRow replaces a row of the table in docs/reliability.md, or adds it.
func writeRow(name, row string) {
	GinkgoHelper()
	path := filepath.Join(repository, "docs", "reliability.md")
	text := need(os.ReadFile(path))
	before, rest, found := strings.Cut(string(text), tableBegin)
	Expect(found).To(BeTrue(), "docs/reliability.md has no %s", tableBegin)
	table, after, found := strings.Cut(rest, tableEnd)
	Expect(found).To(BeTrue(), "docs/reliability.md has no %s", tableEnd)
	_, table, _ = strings.Cut(table, tableHead)
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			rows[strings.TrimPrefix(cells[0], "| ")] = line
		}
	}
	rows[name] = row
	var all strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		all.WriteString(rows[key])
	}
	machine := fmt.Sprintf("\nMachine: %s %s, %d CPUs; Kubernetes %s.\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), serverVersion())
	Expect(os.WriteFile(path, []byte(before+tableBegin+tableHead+all.String()+machine+tableEnd+after), 0o600)).To(Succeed())
}

func serverVersion() string {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(cluster.List(context.Background(), &nodes)).To(Succeed())
	return nodes.Items[0].Status.NodeInfo.KubeletVersion
}

// commit is what is measured: what has changed since then is said, but for the table itself.
var commit = sync.OnceValue(func() string {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = repository
		return cmd.Output()
	}
	out := need(git("rev-parse", "--short", "HEAD"))
	name := strings.TrimSpace(string(out))
	if _, err := git("diff", "--quiet", "HEAD", "--", ".", ":!docs/reliability.md"); err != nil {
		name += "-dirty"
	}
	return name
})
