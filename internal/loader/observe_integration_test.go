// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
)

// freePort is one that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func metricNames(doc *result.Document) []string {
	var names []string
	for _, m := range doc.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// onlyThisProcess is a proc file system that has no process but this one, and the name of it.
func onlyThisProcess(t *testing.T) (proc, name string) {
	t.Helper()
	proc = t.TempDir()
	pid := strconv.Itoa(os.Getpid())
	if err := os.Symlink("/proc/"+pid, filepath.Join(proc, pid)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	return proc, strings.TrimSpace(string(text))
}

// What the server's process uses stands in the result, as facts and per row. The server of these tests may run in another
// machine, so that the process of the test, which works as well, stands for its.
func TestIntegrationObserved(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 5000, RowsPerCommit: 1})
	tr.cfg.Server.ObserverPort = freePort(t)
	proc, name := onlyThisProcess(t)
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{name}, Data: t.TempDir(),
		PasswordFile: tr.cfg.Server.PasswordFile, Proc: proc,
	}
	go o.Run(t.Context())
	_, doc := tr.mustRun(t)
	used, known := doc.Observed.Used()
	if !known || used.UserMicros+used.SystemMicros <= 0 || used.MaxRSSBytes <= 0 {
		t.Fatalf("the server used %+v, known %t", used, known)
	}
	probe := doc.Observed.Probe
	if probe == nil || probe.Fdatasync.Calls == 0 || probe.CPU.Median <= 0 {
		t.Errorf("the node's probe is %+v", probe)
	}
	cpu := float64(used.UserMicros+used.SystemMicros) / float64(doc.Totals.Rows)
	i := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == "serverMicrosPerRow" })
	if i < 0 || doc.Metrics[i] != (result.Metric{Name: "serverMicrosPerRow", Value: cpu, Unit: "µs/row", Better: "lower"}) {
		t.Errorf("serverMicrosPerRow, %v, is not among %v", cpu, doc.Metrics)
	}
	for _, name := range []string{"serverBytesWrittenPerRow", "serverFileCallsPerRow"} {
		if !slices.Contains(metricNames(doc), name) {
			t.Errorf("%s is not among %v", name, doc.Metrics)
		}
	}
	if slices.Contains(finding.Texts(doc.Findings), finding.Unobserved().String()) {
		t.Errorf("warnings %q", doc.Findings)
	}
}

// An observer that does not answer is no reason to fail. There is one warning, and nothing is made up.
func TestIntegrationObserverSilent(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 1})
	tr.cfg.Server.ObserverPort = freePort(t)
	_, doc := tr.mustRun(t)
	count := 0
	for _, w := range finding.Texts(doc.Findings) {
		if w == finding.Unobserved().String() {
			count++
		}
	}
	if count != 1 || doc.Observed != nil {
		t.Errorf("warned %d times, observed %+v", count, doc.Observed)
	}
	for _, name := range metricNames(doc) {
		if strings.HasPrefix(name, "server") {
			t.Errorf("metric %s of a server that nobody saw", name)
		}
	}
	tr = newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 1})
	if _, doc := tr.mustRun(t); slices.Contains(finding.Texts(doc.Findings), finding.Unobserved().String()) {
		t.Error("a warning about an observer that is not there")
	}
}
