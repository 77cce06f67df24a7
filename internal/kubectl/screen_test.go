// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestLive(t *testing.T) {
	m := snapshotOf(measuring())
	m.pace = "measure 11,840 rows/s"
	got := live(m, began.Add(75*time.Second))
	want := []string{
		"sizes  Measuring  ━━━━━─────────────────── 7/33 trials  about 4m15s left", "  trial 8 of 33 (rowsPerCommit=16) · measure 11,840 rows/s",
	}
	must.Same(t, "what is got", want, got)
	queued := measuring()
	queued.Status.Trials = v1alpha1.TrialCounts{}
	setReady(&queued.Status.Conditions, v1alpha1.ReasonQueued, "run a holds lane default")
	must.Same(t, "what is got", []string{"sizes  Queued", "  run a holds lane default"}, live(snapshotOf(queued), began))
}

func TestBar(t *testing.T) {
	for _, tc := range []struct {
		done, planned int
		want          string
	}{
		{0, 3, strings.Repeat("─", 24)},
		{3, 3, strings.Repeat("━", 24)},
		{4, 3, strings.Repeat("━", 24)},
		{1, 48, "╸" + strings.Repeat("─", 23)},
		{1, 2, strings.Repeat("━", 12) + strings.Repeat("─", 12)},
	} {
		if got := bar(tc.done, tc.planned); got != tc.want || utf8.RuneCountInString(got) != barWidth {
			t.Errorf("%d/%d: %s", tc.done, tc.planned, got)
		}
	}
}

// TestLeft: it is unknown before the first trial, nor while nothing is measured; a pause does not count.
func TestLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*snapshot)
		want   string
	}{
		"at the last result": {func(*snapshot) {}, "about 4m20s left"},
		"no trial yet":       {func(m *snapshot) { m.done, m.run.Status.Elapsed = 0, "" }, ""},
		"queued":             {func(m *snapshot) { m.run.Status.Conditions[0].Reason = v1alpha1.ReasonQueued }, ""},
		"may end early":      {func(m *snapshot) { m.mayEndEarly = true }, "at most about 4m20s left"},
		"was suspended":      {func(m *snapshot) { m.run.Status.SuspendedSeconds = ptr.To[int64](35) }, "about 2m10s left"},
	} {
		m := snapshotOf(measuring())
		tc.change(m)
		must.Same(t, name, tc.want, m.left(began.Add(70*time.Second)))
	}
	must.Same(t, "left", "about 0s left", snapshotOf(measuring()).left(began.Add(time.Hour)))
}

// TestTerminal: lines are not wider than the terminal, and are removed before the next ones and at the end.
func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	term := &terminal{plain: plain{out: &out, errors: &out}, canvas: &out, width: func() int { return 40 }}
	m := snapshotOf(measuring())
	m.soFar = "lazy 3.1× (2.6–3.7), faster"
	term.show(m, began)
	first := out.String()
	for line := range strings.SplitSeq(strings.TrimPrefix(first, toStartAndClear), "\n") {
		if n := utf8.RuneCountInString(line); n > 39 {
			t.Errorf("%q has %d columns", line, n)
		}
	}
	out.Reset()
	term.note("no rate")
	must.Same(t, "output", toStartAndClear+strings.Repeat(upAndClear, 3)+"no rate\n", out.String())
	out.Reset()
	if term.clear(); out.String() != toStartAndClear {
		t.Errorf("%q", out.String())
	}
}

func TestPace(t *testing.T) {
	p := new(pace)
	for _, tc := range []struct{ line, want string }{
		{`{"kind":"benchrun-progress","seconds":1,"phase":"start"}`, "start"},
		{`{"kind":"benchrun-progress","seconds":2,"phase":"prepare","rows":100}`, "prepare"},
		{`{"kind":"benchrun-progress","seconds":3,"phase":"prepare","rows":1100}`, "prepare 1,000 rows/s"},
		{`{"kind":"benchrun-progress","seconds":4,"phase":"measure","rows":10}`, "measure"},
		{`{"kind":"benchrun-progress","seconds":6,"phase":"measure","rows":1234570,"note":"3 connections"}`, "measure 617,280 rows/s"},
		{`{"kind":"benchrun-progress","seconds":7,"phase":"quiesce","note":"12 dirty pages"}`, "quiesce, 12 dirty pages"},
	} {
		if !p.add(tc.line) || p.String() != tc.want {
			t.Errorf("%s: %q, want %q", tc.line, p, tc.want)
		}
	}
	for _, line := range []string{"benchrun-document 1 AAAA", "error: x", ""} {
		if p.add(line) {
			t.Errorf("%q is taken for progress", line)
		}
	}
}

// TestPlain: what passes by in a moment is no line, what lasts is, once, and so is all that was measured.
func TestPlain(t *testing.T) {
	var out bytes.Buffer
	p := &plain{out: &out, errors: &out}
	start := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, at := range []struct {
		second, done int
		doing        string
	}{
		{0, 0, "round 1, eager"},
		{1, 0, "the server is starting"},
		{9, 0, "the server is starting"},
		{10, 0, "the image is being pulled"},
		{19, 0, "the image is being pulled"},
		{20, 0, "the image is being pulled"},
		{40, 0, "the image is being pulled"},
		{41, 1, "round 2, lazy"},
		{42, 1, "the server is starting"},
		{60, 2, "round 3, eager"},
	} {
		run := testutil.MakeVariants("pair", "ns", "eager", "lazy").Obj()
		run.Status.Progress = fmt.Sprintf("%d/20", at.done)
		setReady(&run.Status.Conditions, v1alpha1.ReasonMeasuring, at.doing)
		p.show(snapshotOf(run), start.Add(time.Duration(at.second)*time.Second))
	}
	const want = "pair: 0/20 rounds, Measuring: round 1, eager\n" +
		"pair: 0/20 rounds, Measuring: the image is being pulled\n" +
		"pair: 1/20 rounds, Measuring: round 2, lazy\n" +
		"pair: 2/20 rounds, Measuring: round 3, eager\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}

// What is written is shown: commands to the terminal are replaced, also if a character comes in two writes.
func TestSafeWriter(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"plain":           {"a\tb\nünï 日本\n", "a\tb\nünï 日本\n"},
		"escape":          {"a\x1b[2Jb\x00\x7f\a\b", "a\ufffd[2Jb\ufffd\ufffd\ufffd\ufffd"},
		"of two bytes":    {"\u009b31m", "\ufffd31m"},
		"of one byte":     {"a\x9b31m", "a\ufffd31m"},
		"direction":       {"\u202egnp.exe\u2066", "\ufffdgnp.exe\ufffd"},
		"line ends":       {"a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"},
		"a real question": {"\ufffd", "\ufffd"},
	} {
		for _, size := range []int{1, 2, 3, 1000} {
			var b bytes.Buffer
			w := &safeWriter{to: &b}
			for rest := []byte(tc.text); len(rest) > 0; {
				n := min(size, len(rest))
				if written, err := w.Write(rest[:n]); err != nil || written != n {
					t.Fatalf("%d, %v", written, err)
				}
				rest = rest[n:]
			}
			if b.String() != tc.want {
				t.Errorf("%s in writes of %d: %q, want %q", name, size, b.String(), tc.want)
			}
		}
	}
}

// hostileText is obeyed by a terminal that shows it: it sets a title, clears the screen and overwrites its line.
const hostileText = "\x1b]0;title\a\x1b[2J\u009b1m\rCOMPLETE\u202e"

// No command prints what a terminal obeys, neither as output nor as an error, whatever is in a file or in a name.
func TestCommandsAreSafe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	quoted := strconv.QuoteToASCII(hostileText)
	manifest := write("run.json", `{"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkRun", "metadata": {"name": `+quoted+
		`}, "spec": {`+quoted+`: 1}}`)
	for _, arguments := range [][]string{
		{"validate", "-f", manifest},
		{"run", "-f", manifest, "--dry-run=client"},
		{"validate", "-f", hostileText},
		{"compare", "./" + hostileText + ".json", manifest},
		{"reproduce", hostileText + ".tgz"},
		{hostileText},
		{"report", "--" + hostileText},
	} {
		var out, problems bytes.Buffer
		Main(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &problems}, arguments)
		for _, printed := range []string{out.String(), problems.String()} {
			if i := strings.IndexFunc(printed, report.Command); i >= 0 {
				t.Errorf("%q prints %q", arguments, printed[max(0, i-20):])
			}
		}
		if !strings.Contains(out.String()+problems.String(), "COMPLETE") {
			t.Errorf("%q prints %q", arguments, out.String()+problems.String())
		}
	}
}

// The live display is as many lines as it takes back, whatever they say.
func TestLiveDisplayIsSafe(t *testing.T) {
	var out bytes.Buffer
	term := &terminal{plain: plain{out: &out, errors: &out}, canvas: &out, width: func() int { return 400 }}
	m := snapshotOf(measuring())
	m.soFar, m.pace, m.run.Name = hostileText+"\na\nb", hostileText+"\n", hostileText+"\n"
	term.show(m, began)
	drawn := strings.TrimPrefix(out.String(), toStartAndClear)
	if i := strings.IndexFunc(drawn, report.Command); i >= 0 {
		t.Errorf("it draws %q", drawn[i:])
	}
	if n := strings.Count(drawn, "\n"); n != term.drawn || n != 3 {
		t.Errorf("%d lines are drawn, %d are noted", n, term.drawn)
	}
}
