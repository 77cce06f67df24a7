// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// What is asked for is listed as such, and what is state or identity says nothing about a configuration.
func TestUnasked(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	to.Database.Settings.FlushLogAtTrxCommit = ptr.To[int32](0)
	theirs := map[string]string{
		"innodb_flush_log_at_trx_commit": "1", "sort_buffer_size": "1", "gone": "x", "hostname": "a", "autocommit": "ON", "sql_mode": "",
	}
	ours := map[string]string{
		"innodb_flush_log_at_trx_commit": "0", "sort_buffer_size": "2", "new": "y", "hostname": "b", "autocommit": "ON", "sql_mode": "",
	}
	got, same, err := plan.Unasked(&from, to, theirs, ours)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"gone (x → unset)", "new (unset → y)", "sort_buffer_size (1 → 2)"}, got); diff != "" || same != 2 {
		t.Errorf("%d are the same; differences (-want +got):\n%s", same, diff)
	}
}

// Whatever two specifications differ in is named, except for the seed.
func TestDifferences(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	to.Database.Image = "mariadb:10.11"
	to.Database.Settings.FlushLogAtTrxCommit, to.Database.Settings.BinaryLog = ptr.To[int32](0), ptr.To(true)
	to.Database.Settings.LogFileSize = nil
	to.Database.Variables = map[string]v1alpha1.VariableValue{"sync_binlog": "1"}
	to.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	to.Workload.CommitSize.RowsPerCommit = 16
	to.Seed = ptr.To[int64](7)
	got, err := plan.Differences(&from, to)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"innodb_flush_log_at_trx_commit (1 → 0)", "innodb_log_file_size (100663296 → unset)", "log_bin (OFF → ON)",
		"sync_binlog (unset → 1)", "database.image (mariadb:11.8 → mariadb:10.11)", "database.resources.limits.cpu (unset → 2)",
		"workload.commitSize.rowsPerCommit (1 → 16)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if same, err := plan.Differences(&from, from.DeepCopy()); err != nil || len(same) > 0 {
		t.Errorf("a run differs from itself: %v, %v", same, err)
	}
}
