// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package samples checks what the samples promise beyond the API's rules.
package samples

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelpers "k8s.io/component-helpers/resource"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const folder = "../../config/samples"

// A single node of two CPUs has one left for a run, and 4Gi of memory three: what kubeadm's system requests there is 950m, and
// the operator 10m.
var room = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("3Gi")}

// TestSmallSamplesFitOneNode: the small samples and the demo's run beside the system on one node of two CPUs. If the variants of
// a comparison alternate, all their servers do.
func TestSmallSamplesFitOneNode(t *testing.T) {
	files, err := filepath.Glob(folder + "/publications/*-small.yaml")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d small samples, %v", len(files), err)
	}
	for _, file := range append(files, folder+"/commit-size.yaml", folder+"/durable-or-not.yaml") {
		for name, requests := range requested(t, file) {
			for resource, available := range room {
				if requested := requests[resource]; requested.Cmp(available) > 0 {
					t.Errorf("%s: %s requests %s of %s, and there are %s", file, name, requested.String(), resource, available.String())
				}
			}
		}
	}
}

// TestSamplesAreAppliedOneByOne: runs that execute at the same time disturb each other, so nothing applies all samples at once.
func TestSamplesAreAppliedOneByOne(t *testing.T) {
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(strings.ToLower(filepath.Base(path)), "kustomization") {
			t.Errorf("%s applies several samples at once", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(folder + "/publications/*.yaml")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d publications, %v", len(files), err)
	}
	for _, file := range files {
		list := runs(t, file)
		for _, run := range list {
			if run.Spec.Suspend != nil && *run.Spec.Suspend {
				t.Errorf("%s: run %s is suspended: lanes keep runs from executing at the same time", file, run.Name)
			}
			if run.Spec.Lane != list[0].Spec.Lane {
				t.Errorf("%s: run %s is in lane %q, the first one in %q", file, run.Name, run.Spec.Lane, list[0].Spec.Lane)
			}
		}
	}
}

// documents of a file.
func documents(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n---\n")
}

// runs of a file, with the defaults of the API server that matter here. Of one with variants, what they ask for in the first round.
func runs(t *testing.T, file string) []*v1alpha1.BenchmarkRun {
	t.Helper()
	var list []*v1alpha1.BenchmarkRun
	for _, document := range documents(t, file) {
		asked := new(v1alpha1.BenchmarkRun)
		if err := yaml.UnmarshalStrict([]byte(document), asked); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range plan.Sides(asked) {
			run := plan.Side(asked, i, 1)
			run.UID = "01234567-89ab-cdef-0123-456789abcdef"
			run.Spec.Database.Engine = cmp.Or(run.Spec.Database.Engine, v1alpha1.EngineMariaDB)
			run.Spec.Loader.Pods = max(1, run.Spec.Loader.Pods)
			list = append(list, run)
		}
	}
	return list
}

// requested is what Pods request that are there at the same time: those of each run of a file by its name, and those of a
// comparison whose variants alternate by that of its first run. Only with slices is there more than one loader.
func requested(t *testing.T, file string) map[string]corev1.ResourceList {
	t.Helper()
	alternation, list, requests := alternation(t, file), runs(t, file), map[string]corev1.ResourceList{}
	first := list[0].Name
	for _, run := range list {
		name, loader := run.Name, true
		if alternation.Together() {
			name, loader = first, run.Name == first || alternation == v1alpha1.AlternateSlices
		}
		if requests[name] == nil {
			requests[name] = corev1.ResourceList{}
		}
		for resource, amount := range requestedBy(t, run, loader) {
			sum := requests[name][resource]
			sum.Add(amount)
			requests[name][resource] = sum
		}
	}
	return requests
}

// alternation of the comparison in a file; empty if there is none.
func alternation(t *testing.T, file string) v1alpha1.Alternation {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var comparison v1alpha1.BenchmarkRun
	var run v1alpha1.BenchmarkRun
	if yaml.Unmarshal(text, &comparison) != nil || yaml.Unmarshal(text, &run) != nil { // several documents
		return ""
	}
	if len(run.Spec.Variants) > 0 && comparison.Kind == plan.RunKind { // whose only loader has room for as many as there are servers
		return cmp.Or(run.Spec.Alternation, v1alpha1.AlternateSlices)
	}
	return comparison.Spec.Alternation
}

// requestedBy is what a run's server and its loader, if that counts, request together.
func requestedBy(t *testing.T, run *v1alpha1.BenchmarkRun, loader bool) corev1.ResourceList {
	t.Helper()
	objects, err := database.Objects(run, 1, "", podutil.Images{Loader: "loader"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	job, err := trial.Job(run, trial.Attempt{Trial: p.Trials[0], Point: p.Points[p.Trials[0].Point], Number: 1, Instance: 1},
		podutil.Images{Loader: "loader", Sysbench: "sysbench"})
	if err != nil {
		t.Fatal(err)
	}
	total := corev1.ResourceList{}
	add := func(spec corev1.PodSpec, pods int32) {
		for name, amount := range resourcehelpers.PodRequests(&corev1.Pod{Spec: spec}, resourcehelpers.PodResourcesOptions{}) {
			sum := total[name]
			for range pods {
				sum.Add(amount)
			}
			total[name] = sum
		}
	}
	for _, object := range objects {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			add(set.Spec.Template.Spec, 1)
		}
	}
	if loader {
		add(job.Spec.Template.Spec, run.Spec.Loader.Pods)
	}
	return total
}
