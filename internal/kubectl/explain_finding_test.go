// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"
	"testing"
)

// A finding is explained without a cluster; an unknown code lists those that exist.
func TestExplainFinding(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere")
	t.Setenv("HOME", t.TempDir())
	const want = "CommitsNotDurable (Notice)\n" +
		"  commits are not durable: VARIABLE is VALUE\n" +
		"The server does not flush its redo log at each commit. That is faster, but the last commits are lost if the machine fails.\n" +
		"What to do: set `database.settings.flushLogAtTrxCommit: 1` for durable commits.\n"
	if code, out, errs := runMain(t, "", "explain", "--finding", "CommitsNotDurable"); code != 0 || out != want || errs != "" {
		t.Errorf("exit code %d, %q\n%s\nwant\n%s", code, errs, out, want)
	}
	for says, arguments := range map[string][]string{
		"finding Nonsense does not exist; use one of BinaryLogDiffers, ": {"explain", "--finding", "Nonsense"},
		`unknown command "a"`: {"explain", "a", "--finding", "CommitsNotDurable"},
	} {
		if code, out, errs := runMain(t, "", arguments...); code != ExitError || out != "" || !strings.Contains(errs, says) {
			t.Errorf("%q: exit code %d, output %q, error %q, want %q", arguments, code, out, errs, says)
		}
	}
}
