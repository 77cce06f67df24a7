// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// What a PostgreSQL server cannot do ends the run before anything is created, and says what can be done instead.
func TestPostgreSQLRefused(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.BenchmarkRunSpec){
		"": func(*v1alpha1.BenchmarkRunSpec) {},
		"database.settings.flushLogAtTrxCommit is not of engine PostgreSQL, which has bufferPoolSize, redoLogSize, synchronousCommit": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.Settings.FlushLogAtTrxCommit = ptr.To[int32](1)
		},
		"database.settings.bufferPoolSize sets shared_buffers: set one of them": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.Settings.BufferPoolSize = ptr.To(resource.MustParse("1Gi"))
			s.Database.Variables = map[string]v1alpha1.VariableValue{"shared_buffers": "1GB"}
		},
		"database.variables: loose_x: write x: servers of engine PostgreSQL know no option that they may not know; port: it is reserved for the operator": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.Variables = map[string]v1alpha1.VariableValue{"loose_x": "1", "port": "1", "work_mem": "64MB"}
		},
		"database.provisioner MariaDBOperator makes MariaDB servers: with engine PostgreSQL it must be StatefulSet or External": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator
		},
		"database.tls: a server of engine PostgreSQL that Benchrun makes has no certificate: leave it out": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.TLS.Mode = v1alpha1.TLSRequired
		},
		"trials.data: Restore copies the data of a server that is one process: with engine PostgreSQL it must be Recreate or Keep": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Trials.Data = v1alpha1.DataRestore
		},
		"workload Sysbench: script tpcc speaks MySQL's SQL: use another script, or workload Pgbench, with engine PostgreSQL (script=tpcc)": func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Sweep.Script = []v1alpha1.SysbenchScript{"tpcc"}
		},
	} {
		run := sweepOf([]string{"oltp_read_only"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Database.Image, s.Database.Settings = "postgres:17", v1alpha1.ServerSettings{}
			change(s)
		})
		_, err := validation.PlanRun(run)
		got := ""
		if err != nil {
			got = err.Error()
		}
		must.Same(t, "error", want, got)
	}
}
