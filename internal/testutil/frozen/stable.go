// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// unstable is what an API server and a clock make another one each time, and what stands for it.
var unstable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "DIGEST"},
	{regexp.MustCompile(`-[0-9a-f]{8}\b`), "-UID"}, // names that carry the first digits of one
	// A document has times in it, which are not equally long.
	{regexp.MustCompile(`("documentBytes": |"elapsed": )[^,\n]*`), `$1"MEASURED"`},
}

// Stable is values as JSON, without what differs from one execution to the next: UIDs, times, digests, and those names.
func Stable(t testing.TB, values any, names ...string) []byte {
	t.Helper()
	text := must.Get(json.MarshalIndent(values, "", " "))(t)
	stable := string(text)
	for _, name := range names {
		stable = strings.ReplaceAll(stable, name, "NAME")
	}
	for _, u := range unstable {
		stable = u.pattern.ReplaceAllString(stable, u.with)
	}
	return append([]byte(stable), '\n')
}
