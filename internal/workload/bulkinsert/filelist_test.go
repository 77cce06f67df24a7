// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// asText reads values as a server does, and returns the row as it is in a statement, and what follows.
func asText(t *testing.T, indicated bool, types []mysqlwire.Type, p []byte) (row string, rest []byte) {
	t.Helper()
	take := func(n int) []byte {
		if len(p) < n {
			t.Fatalf("%d bytes are missing", n-len(p))
		}
		taken := p[:n]
		p = p[n:]
		return taken
	}
	var fields []string
	for _, kind := range types {
		if indicated && take(1)[0] != 0 {
			t.Fatal("there is no value")
		}
		switch kind {
		case mysqlwire.TypeInt:
			fields = append(fields, fmt.Sprint(binary.LittleEndian.Uint32(take(4))))
		case mysqlwire.TypeUnsignedBigInt:
			fields = append(fields, fmt.Sprint(binary.LittleEndian.Uint64(take(8))))
		case mysqlwire.TypeBytes:
			fields = append(fields, "'"+string(take(int(take(1)[0])))+"'")
		case mysqlwire.TypeDatetime:
			d := take(int(take(1)[0]))
			fields = append(fields, fmt.Sprintf("'%04d-%02d-%02d %02d:%02d:%02d.%06d'",
				binary.LittleEndian.Uint16(d), d[2], d[3], d[4], d[5], d[6], binary.LittleEndian.Uint32(d[7:])))
		default:
			t.Fatalf("type %#x", kind)
		}
	}
	return "(" + strings.Join(fields, ",") + ")", p
}

// The values of a row are the same in all protocols, and as long as they are said to be at most.
func TestProtocolsHaveTheSameRows(t *testing.T) {
	for _, table := range []string{tableFileList, tableNarrow} {
		text := newTestBulkInsert(t, func(p *Parameters) { p.Table = table })
		types, most := fileTypes, maxFileValues
		if table == tableNarrow {
			types, most = narrowTypes, maxNarrowValues
		}
		for _, protocol := range []string{"Prepared", "Bulk"} {
			w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Protocol = table, protocol })
			longest := 0
			for n := int64(1); n < 20_000; n += 7 {
				values := w.load.AppendRow(nil, n)
				longest = max(longest, len(values))
				got, rest := asText(t, protocol == "Bulk", types, values)
				if want := string(text.load.AppendRow(nil, n)); got != want || len(rest) > 0 {
					t.Fatalf("%s, row %d of %s: %s and %d bytes, want %s", protocol, n, table, got, len(rest), want)
				}
			}
			if longest > most {
				t.Errorf("%s: a row of %s takes %d bytes, %d were to be the most", protocol, table, longest, most)
			}
		}
	}
}

// No execution is longer than what is compared with the server's max_allowed_packet.
func TestExecutionsFit(t *testing.T) {
	for _, rows := range []int64{1, 2, 7, 1000} {
		for _, table := range []string{tableFileList, tableNarrow} {
			for _, protocol := range []string{"Prepared", "Bulk"} {
				w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Protocol, p.Rows, p.RowsPerStatement = table, protocol, rows, rows })
				columns := int64(len(w.columns))
				longest := 7 + 2*columns
				if protocol == "Prepared" {
					longest = 11 + (rows*columns+7)/8 + 2*rows*columns
				}
				for n := int64(1); n <= rows; n++ {
					longest += int64(len(w.load.AppendRow(nil, n)))
				}
				if most := w.load.StatementBytes(); longest > most || most > 2*longest {
					t.Errorf("%d rows of %s by %s: %d bytes, said to be at most %d", rows, table, protocol, longest, most)
				}
			}
		}
	}
}

func TestPreparedStatements(t *testing.T) {
	for protocol, want := range map[string][]workload.Prepared{
		"Text": nil,
		"Prepared": {
			{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?)", Types: narrowTypes, Rows: 1},
			{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?),(?,?),(?,?)", Types: narrowTypes, Rows: 3},
		},
		"Bulk": {{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?)", Types: narrowTypes}},
	} {
		w := newTestBulkInsert(t, func(p *Parameters) {
			narrowTable(p)
			p.Protocol, p.Tables, p.Clients, p.Commit = protocol, 2, 2, "Autocommit"
			p.StatementsPerTransaction = 1
		})
		s := &workloadtest.Script{}
		plan := w.Plan()
		must.Do(t, plan.Ready(1, s))
		must.Get(w.Measure(t.Context(), workloadtest.Client(1, s)))(t)
		if diff := cmp.Diff(want, s.Prepared); diff != "" {
			t.Errorf("%s (-want +got):\n%s", protocol, diff)
		}
		if diff := cmp.Diff([]string{"SET autocommit=1"}, plan.Setup); diff != "" || len(s.Statements) != 4 || s.Rows != 10 ||
			!slices.Equal(s.Commits, []int64{3, 6, 9, 10}) {
			t.Errorf("%s: %d statements, %d rows, commits at %v, set up (-want +got):\n%s", protocol, len(s.Statements), s.Rows, s.Commits, diff)
		}
	}
}

func TestProtocolIsRefused(t *testing.T) {
	type change = func(p *Parameters, cfg *result.Config)
	for want, change := range map[string]change{
		`protocol is "Binary" but must be Text, Prepared or Bulk`: func(p *Parameters, _ *result.Config) { p.Protocol = "Binary" },
		"rowsPerStatement is 32768: a prepared statement has at most 65535 placeholders, which are 32767 rows of Narrow": func(p *Parameters, _ *result.Config) {
			narrowTable(p)
			p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 32768
		},
		"which are 21845 rows of FileList": func(p *Parameters, _ *result.Config) {
			p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 21846
		},
		"rowsPerStatement is 32769: a prepared statement has at most": func(p *Parameters, _ *result.Config) {
			narrowTable(p)
			p.Protocol, p.Rows, p.RowsPerStatement, p.WarmupSeconds = "Prepared", 10, 32769, 1
		},
		"dataFrom goes with protocol Text": func(p *Parameters, cfg *result.Config) {
			p.Protocol, cfg.Workload.Data = "Prepared", &result.Data{Path: "a.tsv", Format: "TSV"}
		},
		"commit Autocommit makes each statement a transaction: statementsPerTransaction is 2": func(p *Parameters, _ *result.Config) {
			p.Commit = "Autocommit"
		},
	} {
		if err := withChange(t, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for name, change := range map[string]change{
		"the most placeholders":             func(p *Parameters, _ *result.Config) { p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 21845 },
		"more rows asked for than inserted": func(p *Parameters, _ *result.Config) { p.Protocol, p.RowsPerStatement = "Prepared", 1e6 },
		"bulk has no placeholders to spare": func(p *Parameters, _ *result.Config) { p.Protocol, p.Rows, p.RowsPerStatement = "Bulk", 1e6, 1e6 },
	} {
		if err := withChange(t, change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withChange validates changed parameters.
func withChange(t *testing.T, change func(p *Parameters, cfg *result.Config)) error {
	t.Helper()
	p := newTestBulkInsert(t, func(*Parameters) {}).params
	cfg := &result.Config{Seed: 42}
	change(&p, cfg)
	data := cfg.Workload.Data
	cfg.Workload = workloadtest.Load(Definition, p)
	cfg.Workload.Data = data
	return Definition.Validate(cfg)
}

func TestLoadsDoNotAllocatePerRow(t *testing.T) {
	for _, rows := range []int64{10_000, 100_000} {
		for _, protocol := range []string{"Text", "Prepared", "Bulk"} {
			for _, table := range []string{tableFileList, tableNarrow} {
				w := newTestBulkInsert(t, func(p *Parameters) {
					p.Table, p.Rows, p.RowsPerStatement, p.Protocol = table, rows, 1000, protocol
				})
				client := &workload.Client{Session: workloadtest.Silence{}, Recorder: workloadtest.Silence{}}
				must.Do(t, w.load.Ready(0, client.Session))
				allocs := testing.AllocsPerRun(1, func() {
					w.load.Taken.Store(0)
					if _, err := w.Measure(t.Context(), client); err != nil {
						t.Error(err)
					}
				})
				if allocs > 40 {
					t.Errorf("%s by %s: %g allocations for %d rows", table, protocol, allocs, rows)
				}
			}
		}
	}
}
