// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// What a cluster gives users to asks for none, and still not to be root, whatever provides the database.
func TestUsersAreLeftToTheCluster(t *testing.T) {
	for _, provisioner := range []v1alpha1.Provisioner{v1alpha1.ProvisionerStatefulSet, v1alpha1.ProvisionerMariaDBOperator} {
		run := testutil.MakeRun("r", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Provisioner = provisioner }).Obj()
		objects, err := database.Objects(run, 1, "", podutil.Images{})
		if err != nil {
			t.Fatal(err)
		}
		before := users(t, objects)
		for _, object := range objects {
			podutil.LeaveUsers(object)
		}
		after := users(t, objects)
		if before < 3 || after != 0 {
			t.Errorf("%s: %d users and groups, %d of them left", provisioner, before, after)
		}
		if !bytes.Contains(encoded(t, objects), []byte(`"runAsNonRoot":true`)) {
			t.Errorf("%s: may be root", provisioner)
		}
	}
}

func encoded(t *testing.T, objects []database.Object) []byte {
	t.Helper()
	text, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// users counts those that objects ask for, and groups.
func users(t *testing.T, objects []database.Object) int {
	t.Helper()
	count := 0
	for _, field := range []string{`"runAsUser":`, `"runAsGroup":`, `"fsGroup":`} {
		count += bytes.Count(encoded(t, objects), []byte(field))
	}
	return count
}
