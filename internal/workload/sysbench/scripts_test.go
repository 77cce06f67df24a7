// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// named are parameters with a script that takes no options, on small tables.
func named(script string) func(*Parameters) {
	return func(p *Parameters) {
		p.Script, p.Options, p.Tables, p.TableSize = script, nil, ptr.To[int32](2), ptr.To[int64](500)
	}
}

// ofScript are the arguments of the measured command from the script on, without those that all scripts have.
func ofScript(t *testing.T, name string) (file string, options []string) {
	t.Helper()
	args := newTestSysbench(t, 42, named(name)).Commands(workload.PhaseMeasure)[0].Args
	from, to := slices.Index(args, "--table-size=500"), slices.Index(args, "--rand-seed=42")
	if from < 0 || to < from {
		t.Fatalf("%s: the options of the script are not between those of the tables and of the phase: %q", name, args)
	}
	return args[1], args[from+1 : to]
}

func TestMicrobenchmarks(t *testing.T) {
	if len(microbenchmarks) != 33 {
		t.Errorf("%d microbenchmarks", len(microbenchmarks))
	}
	for name, want := range map[string][]string{
		"point-query":         {"oltp_point_select"},
		"hot-points":          {"/tool/points.lua", "--hot=on", "--key=id", "--points=100", "--select=*"},
		"points-covered-si":   {"/tool/points.lua", "--hot=off", "--key=k", "--points=100", "--select=k"},
		"range-notcovered-si": {"/tool/ranges.lua", "--key=k", "--range_size=100", "--ranges=1", "--select=c"},
		"read-only-sum": {
			"oltp_read_only", "--distinct_ranges=0", "--order_ranges=0", "--point_selects=0", "--range_size=1000", "--simple_ranges=0",
			"--skip_trx=on", "--sum_ranges=1",
		},
		"scan":        {"/tool/scan.lua"},
		"update-one":  {"oltp_update_non_index", "--table_size=1", "--tables=1"},
		"update-zipf": {"/tool/updates.lua", "--points=1", "--zipf=0.8"},
	} {
		file, options := ofScript(t, name)
		if diff := cmp.Diff(want, append([]string{file}, options...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each script of Benchrun's is in the tool's folder, with what it loads.
func TestMicrobenchmarkFiles(t *testing.T) {
	loads := regexp.MustCompile(`loadfile\(folder \.\. "([a-z_]+\.lua)"\)`)
	for name, s := range microbenchmarks {
		files := newTestSysbench(t, 1, named(name)).Files()
		file, own := strings.CutPrefix(newTestSysbench(t, 1, named(name)).file(), "/tool/")
		if own != strings.HasSuffix(s.lua, luaSuffix) || own != (len(files) > 0) {
			t.Errorf("%s: script %s, %d files", name, file, len(files))
		}
		for own && file != "" {
			text, found := files[file]
			if !found {
				t.Fatalf("%s: %s is missing", name, file)
			}
			file = ""
			if match := loads.FindStringSubmatch(text); match != nil {
				file = match[1]
			}
		}
	}
}

// What belongs to the measured load is not there when tables are prepared: update-one has a table of one row for it alone.
func TestMicrobenchmarksPrepareTheSameTables(t *testing.T) {
	want := []string{"--tables=2", "--table-size=500", "--rand-seed=42", "prepare"}
	for name := range microbenchmarks {
		prepare := newTestSysbench(t, 42, named(name)).Commands(workload.PhasePrepare)[1].Args
		if diff := cmp.Diff(want, prepare[len(prepare)-4:]); diff != "" || !slices.Contains(prepare, "--rand-type=pareto") {
			t.Errorf("%s: %q (-want +got):\n%s", name, prepare, diff)
		}
	}
}

func TestScriptsRefused(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		"script points is unknown; use one of bulk_insert, delete, hot-points, ": named("points"),
		"options: range_size cannot be set with script read-only-10, whose opti": func(p *Parameters) {
			named("read-only-10")(p)
			p.Options = map[string]string{"range_size": "10", "mysql_storage_engine": "aria"}
		},
		"options: create-secondary cannot be set with script points-covered-si,": func(p *Parameters) {
			named("points-covered-si")(p)
			p.Options = map[string]string{"create-secondary": "off"}
		},
		"script scan has no such parameter: tpcc takes tables and scale": func(p *Parameters) {
			named("scan")(p)
			p.Scale = ptr.To[int32](1)
		},
	} {
		refuses(t, want, &result.Config{Workload: workloadtest.Load(Definition, testParameters(change))})
	}
	fine := testParameters(func(p *Parameters) {
		named("scan")(p)
		p.Options = map[string]string{"db-ps-mode": "disable", "mysql_storage_engine": "aria", "rand-pareto-h": "0.5"}
	})
	if err := Definition.Validate(&result.Config{Workload: workloadtest.Load(Definition, fine)}); err != nil {
		t.Error(err)
	}
}

// The page has a row for each microbenchmark, in the table of those that read or of those that write.
func TestMicrobenchmarksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/workloads/sysbench.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Microbenchmarks\n")
	reads, rest, _ := strings.Cut(section, "\n| writes ")
	writes, _, _ := strings.Cut(rest, "\n## ")
	for name, s := range microbenchmarks {
		here, there := reads, writes
		if s.writes {
			here, there = writes, reads
		}
		if row := "\n| `" + name + "` |"; strings.Count(here, row) != 1 || strings.Contains(there, row) {
			t.Errorf("docs/reference/workloads/sysbench.md has no row for %s, which writes: %t", name, s.writes)
		}
	}
}
