// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"
	"strings"
)

// readme is what a person reads who was given the archive and nothing else.
func readme(m *Manifest) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", m.Name)
	if m.Answer != "" {
		fmt.Fprintf(&b, "%s\n\n", m.Answer)
	}
	const layout = "2006-01-02 15:04:05 MST"
	fmt.Fprintf(&b, "This is a %s of Benchrun, measured from %s to %s.\n\n", m.Kind, m.Started.UTC().Format(layout),
		m.Finished.UTC().Format(layout))
	fmt.Fprintf(&b, `Measure it again in a cluster where Benchrun is installed, and compare point by point:

    kubectl benchrun reproduce %s.tgz

Without the plugin, apply the resource and read the results yourself:

    kubectl apply -f benchmark.yaml

| file | content |
|---|---|
| results/summary.md | the results for people |
| results/results.csv | the results for spreadsheets |
| results/results.json | the results for programs: the specification, the plan, the environment and every attempt |
| attempts/ | each attempt: its record, and everything the loader knows about it (series, histograms, counters, variables) |
| server-variables.txt | all variables of the server |
| runs/ | the runs of a comparison, each with the files above |
| SHA256SUMS | checksums; "sha256sum -c SHA256SUMS" verifies them |
`, m.Name)
	return []byte(b.String())
}
