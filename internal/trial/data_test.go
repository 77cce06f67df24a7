// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// ownData is an attempt whose run brings data and a schema along.
func ownData(workload v1alpha1.WorkloadSpec) goldenJob {
	return goldenJob{
		testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload = workload }).Obj(),
		trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1},
	}
}

func ownBulkInsert() v1alpha1.WorkloadSpec {
	return v1alpha1.WorkloadSpec{
		Type: v1alpha1.WorkloadBulkInsert,
		BulkInsert: &v1alpha1.BulkInsertWorkload{
			Table: v1alpha1.BulkInsertFileList, Tables: 1, Rows: 100, RowsPerStatement: 10, StatementsPerTransaction: 1, Concurrency: 2,
			StorageEngine: "InnoDB",
		},
		DataFrom: &v1alpha1.DataSource{
			PersistentVolumeClaim: "measurements", Path: "2024/own.csv", Format: v1alpha1.DataCSV, Separator: ";",
			EmptyIs: v1alpha1.EmptyFieldIsNull, HeaderLines: ptr.To[int32](1), Table: "own", Columns: []string{"a", "b"},
		},
		SchemaFrom: &v1alpha1.ConfigMapFile{Name: "own-schema", Key: "own.sql"},
	}
}

func TestOwnDataJobGolden(t *testing.T) {
	testutil.Golden(t, "own-data.yaml", testutil.YAML(t, job(t, ownData(ownBulkInsert()))))
}

func TestConfigOfOwnData(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   v1alpha1.WorkloadSpec
		data   *result.Data
		schema string
	}{
		"everything": {
			ownBulkInsert(),
			&result.Data{
				Claim: "measurements", Root: "/data", Path: "2024/own.csv", Format: "CSV", Separator: ";", EmptyIs: "NULL", HeaderLines: 1,
				Table: "own", Columns: []string{"a", "b"},
			},
			"/etc/benchrun/schema/own.sql",
		},
		"unset": {
			v1alpha1.WorkloadSpec{
				Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{},
				DataFrom: &v1alpha1.DataSource{PersistentVolumeClaim: "a", Path: "b"},
			},
			&result.Data{Claim: "a", Root: "/data", Path: "b"}, "",
		},
		"a folder": {
			v1alpha1.WorkloadSpec{
				Type: v1alpha1.WorkloadTPROCHLoad, TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{},
				DataFrom: &v1alpha1.DataSource{PersistentVolumeClaim: "a", Path: "."},
			},
			&result.Data{Claim: "a", Root: "/data", Path: "."}, "",
		},
	} {
		g := ownData(tc.spec)
		got, err := trial.Config(g.run, g.attempt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.data, got.Workload.Data); diff != "" || got.Workload.SchemaFile != tc.schema {
			t.Errorf("%s: schema %q, data (-want +got):\n%s", name, got.Workload.SchemaFile, diff)
		}
	}
}
