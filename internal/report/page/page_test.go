// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
)

func runPage(tb testing.TB, c pagetest.Case) string {
	tb.Helper()
	var b bytes.Buffer
	if err := page.Run(&b, c.Report, c.Details); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestTmp(t *testing.T) {
	for _, c := range []pagetest.Case{pagetest.CommitSize(), pagetest.Grid(), pagetest.Words(), pagetest.IIBench(), pagetest.Failed(), pagetest.Single()} {
		os.WriteFile("/tmp/s20-out/"+c.Report.Run.Name+".html", []byte(runPage(t, c)), 0o644)
	}
	var b bytes.Buffer
	s := pagetest.Suite()
	if err := page.Suite(&b, s.Suite, s.Details); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/s20-out/suite.html", b.Bytes(), 0o644)
}

func BenchmarkThousandPoints(b *testing.B) {
	c := pagetest.Many(1000, 10)
	for b.Loop() {
		b.ReportMetric(float64(len(runPage(b, c))), "bytes")
	}
}
