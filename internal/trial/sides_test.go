// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"encoding/json"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// The loader of several variants is told all of their servers, by the addresses of Pods that are known, and has room for all.
func TestJobOfSides(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	run.UID = "uid"
	run.Spec.Variants = []v1alpha1.Variant{{Name: "durable"}, {
		Name: "lazy", Database: &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}},
	}}
	a := trial.Attempt{
		Trial: plan.Trial{Number: 1, Round: 2, Sides: []int{0, 1}}, Number: 1, Instance: 3,
		Sides: []trial.Side{{Variant: 0, Instance: 3, Address: "10.0.0.3"}, {Variant: 1, Instance: 4, Address: "10.0.0.4"}},
	}
	job := must.Get(trial.Job(run, a, podutil.Images{Loader: "loader"}))(t)
	spec := job.Spec.Template.Spec
	if aliases := spec.HostAliases; len(aliases) != 2 || aliases[0].IP != "10.0.0.3" || aliases[1].Hostnames[0] != "run-db4.ns.svc" {
		t.Errorf("addresses %+v", aliases)
	}
	if memory := spec.Containers[0].Resources.Limits.Memory(); memory.String() != "512Mi" {
		t.Errorf("memory %s", memory)
	}
	if seconds := *job.Spec.ActiveDeadlineSeconds; seconds != 2*int64(run.Spec.Trials.DeadlineSeconds) {
		t.Errorf("deadline %d s", seconds)
	}
	var config result.Config
	must.Do(t, json.Unmarshal([]byte(spec.Containers[0].Env[0].Value), &config))
	lazy := config.Side(1)
	if lazy.Server.Host != "run-db4.ns.svc" || lazy.Workload.Type != "CommitSize" || config.Seed != *plan.Side(run, 1, 2).Spec.Seed {
		t.Errorf("%+v", lazy)
	}
	one, err := trial.Config(run, trial.Attempt{Trial: a.Trial, Number: 1, Instance: 4, Sides: a.Sides[1:]})
	if err != nil || one.Sides != nil || one.Server.Host != lazy.Server.Host {
		t.Errorf("a side by itself: %+v, %v", one, err)
	}
}

// Files are the same if they are asked for in the same words, wherever these stand.
func TestSameFiles(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	run.Spec.Workload.DataFrom = &v1alpha1.DataSource{PersistentVolumeClaim: "data", Path: "a.csv", HeaderLines: ptr.To[int32](1)}
	run.Spec.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}}
	same := trial.SameFiles(run)
	run.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{DataFrom: &v1alpha1.DataSource{Path: "b.csv"}}
	if !same || trial.SameFiles(run) {
		t.Errorf("one file is the same: %t; two files are: %t", same, trial.SameFiles(run))
	}
}
