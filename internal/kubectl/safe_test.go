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

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
			must.Same(t, fmt.Sprintf("%s in writes of %d", name, size), tc.want, b.String())
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
