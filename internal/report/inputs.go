// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// inputLines are the files that an attempt's run brought along.
func inputLines(s *result.Summary) []string {
	var lines []string
	for _, in := range s.Inputs {
		rows := ""
		if in.Rows > 0 {
			rows = fmt.Sprintf("%d rows, ", in.Rows)
		}
		lines = append(lines, fmt.Sprintf("input %s: %s%d bytes, sha256 %s", in.Name, rows, in.Bytes, in.SHA256))
	}
	return lines
}

// ChangedInputs says which files were not the same for all trials that count: their numbers do not compare.
func (r *Report) ChangedInputs() []finding.Finding {
	var names []string
	digests := map[string][]string{}
	trials := map[string][]string{}
	for _, record := range r.Accepted() {
		for _, in := range record.Summary.Inputs {
			version := in.Name + " " + in.SHA256
			if digests[in.Name] == nil {
				names = append(names, in.Name)
			}
			if trials[version] == nil {
				digests[in.Name] = append(digests[in.Name], in.SHA256)
			}
			trials[version] = append(trials[version], strconv.Itoa(record.Trial))
		}
	}
	var changed []finding.Finding
	for _, name := range names {
		if len(digests[name]) < 2 {
			continue
		}
		var versions []string
		for _, digest := range digests[name] {
			versions = append(versions, fmt.Sprintf("sha256 %s for trial %s", digest, strings.Join(trials[name+" "+digest], ", ")))
		}
		changed = append(changed, finding.Changed(name, strings.Join(versions, "; ")))
	}
	return changed
}
