// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// ComparisonBench writes the values of a comparison in the Go benchmark format. The variant is a file configuration, of which the
// baseline comes first: `benchstat -col variant` has a column for each. benchstat does not know that the values of a
// round belong together, so that it may show fewer differences than the comparison.
func ComparisonBench(w io.Writer, s *Comparison) error {
	if _, err := fmt.Fprintf(w, "# comparison: %s/%s\n# seed: %d\n", s.Namespace, s.Name, s.Seed); err != nil {
		return err
	}
	out := benchfmt.NewWriter(w)
	written := map[string]bool{}
	for i := range s.Pairs {
		if unit := benchUnit(s.Pairs[i].Metric); !written[unit] {
			written[unit] = true
			if err := out.Write(&benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: s.Pairs[i].Metric.Better,
			}); err != nil {
				return err
			}
		}
	}
	variants := slices.Clone(s.Variants)
	slices.SortStableFunc(variants, func(a, b ComparisonVariant) int {
		switch {
		case a.Baseline == b.Baseline:
			return 0
		case a.Baseline:
			return -1
		}
		return 1
	})
	for _, v := range variants {
		if err := s.benchVariant(out, v.Name); err != nil {
			return err
		}
	}
	return nil
}

// benchVariant writes what the runs of a variant have measured.
func (s *Comparison) benchVariant(out *benchfmt.Writer, variant string) error {
	for _, run := range s.Runs {
		if run.Variant != variant {
			continue
		}
		for _, v := range run.Values {
			parts := []string{s.Workload}
			for _, p := range s.Parameters() {
				parts = append(parts, p+"="+benchName(v.Parameters[p]))
			}
			if err := out.Write(&benchfmt.Result{
				Config: []benchfmt.Config{{Key: "variant", Value: []byte(variant), File: true}},
				Name:   benchfmt.Name(strings.Join(parts, "/")), Iters: 1,
				Values: []benchfmt.Value{{Value: v.Value, Unit: benchUnit(result.Metric{Name: run.Metric, Unit: run.Unit})}},
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
