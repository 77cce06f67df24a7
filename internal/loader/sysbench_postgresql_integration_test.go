// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// Each script that is not refused leaves what its definition says, and the server has counted what it sent.
func TestSysbenchPostgreSQLScripts(t *testing.T) {
	for _, script := range sysbench.Scripts() {
		t.Run(script, func(t *testing.T) {
			p := sysbench.Parameters{Script: script, Clients: 2, Events: 50}
			if script == "tpcc" {
				newSysbenchTrial(t, p).mustFail(t.Context(), t, result.CauseConfiguration, "script tpcc speaks MySQL's SQL")
				return
			}
			if script != "bulk_insert" {
				p.TableSize = ptr.To[int64](1000)
			}
			tr := newSysbenchTrial(t, p)
			tr.cfg.Settings = []result.Setting{{Name: "shared_preload_libraries", Value: "pg_stat_statements"}}
			_, doc := tr.mustRun(t)
			for _, c := range doc.Checks {
				if !c.Passed {
					t.Errorf("%+v", c)
				}
			}
			must.Same(t, "headline", true, doc.Metrics[0].Value > 0)
		})
	}
}
