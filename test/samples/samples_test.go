// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	quota "k8s.io/apiserver/pkg/quota/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

const folder = "../../config/samples"

// A single node of two CPUs has one left for a run, and 4Gi of memory three: what kubeadm's system requests there is 950m, and
// the operator 10m.
var room = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("3Gi")}

// TestShortened: what the cluster's tests replace is there, and what samples have instead is valid.
func TestShortened(t *testing.T) {
	files := must.Get(filepath.Glob(folder + "/*.yaml"))(t)
	files = append(files, must.Get(filepath.Glob(folder+"/publications/*-small.yaml"))(t)...)
	all, short := "", filepath.Join(t.TempDir(), "short.yaml")
	for _, file := range append(files, filepath.Join(folder, Contest)) {
		text := string(must.Get(os.ReadFile(file))(t))
		all += text
		must.Do(t, os.WriteFile(short, []byte(Shortened(text)), 0o600))
		for _, run := range runs(t, short) {
			must.Get(validation.PlanRun(run))(t)
		}
	}
	for requested := range shorter {
		if !regexp.MustCompile(requested).MatchString(all) {
			t.Errorf("no sample has %s", requested)
		}
	}
}

// TestSmallSamplesFitOneNode: the small samples and the demo's run beside the system on one node of two CPUs. If variants
// alternate, all their servers do.
func TestSmallSamplesFitOneNode(t *testing.T) {
	files := must.Get(filepath.Glob(folder + "/publications/*-small.yaml"))(t)
	must.Same(t, "small samples", 5, len(files))
	for _, file := range append(files, folder+"/commit-size.yaml", folder+"/durable-or-not.yaml") {
		for _, run := range runs(t, file) {
			sums := requested(t, run)
			for resource, available := range room {
				if requested := sums[resource]; requested.Cmp(available) > 0 {
					t.Errorf("%s: %s requests %s of %s, and there are %s", file, run.Name, requested.String(), resource, available.String())
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
	must.Do(t, err)
	files := must.Get(filepath.Glob(folder + "/publications/*.yaml"))(t)
	must.Same(t, "publications", 10, len(files))
	for _, file := range files {
		list := runs(t, file)
		for _, run := range list {
			if run.Spec.Suspend != nil && *run.Spec.Suspend {
				t.Errorf("%s: run %s is suspended: lanes keep runs from executing at the same time", file, run.Name)
			}
			must.Same(t, fmt.Sprintf("%s: run %s is in lane", file, run.Name), list[0].Spec.Lane, run.Spec.Lane)
		}
	}
}

// documents of a file.
func documents(t *testing.T, file string) []string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	return strings.Split(string(text), "\n---\n")
}

// runs of a file, as the API server stores them.
func runs(t *testing.T, file string) []*v1alpha1.BenchmarkRun {
	t.Helper()
	schema := testutil.MakeRunSchema(t)
	var list []*v1alpha1.BenchmarkRun
	for _, document := range documents(t, file) {
		if !strings.Contains(document, "\nkind: BenchmarkRun\n") {
			continue
		}
		text := must.Get(yaml.YAMLToJSON([]byte(strings.Replace(document, "\nmetadata:", "\nmetadata:\n  namespace: default", 1))))(t)
		run, refused := schema.Stored(t, text)
		if len(refused) > 0 {
			t.Fatalf("%s: %v", file, refused)
		}
		run.UID = "01234567-89ab-cdef-0123-456789abcdef"
		list = append(list, run)
	}
	return list
}

// requested is the most that Pods of a run request that are there at the same time: its server and its loader, or all servers
// of a round and the loader that measures one of them, or all in slices.
func requested(t *testing.T, run *v1alpha1.BenchmarkRun) corev1.ResourceList {
	t.Helper()
	p, err := validation.PlanRun(run)
	if err != nil {
		t.Fatalf("%s: %v", run.Name, err)
	}
	most, servers, loaders := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for variant := range plan.Sides(run) {
		server, loader := requestedBy(t, plan.Side(run, variant, 1))
		if p.Together() {
			servers = quota.Add(servers, server)
			server = servers
		}
		if p.Alternation == v1alpha1.AlternateSlices {
			loaders = quota.Add(loaders, loader)
			loader = loaders
		}
		most = quota.Max(most, quota.Add(server, loader))
	}
	return most
}

// requestedBy is what the server of a run without variants requests, and what its loader does.
func requestedBy(t *testing.T, run *v1alpha1.BenchmarkRun) (server, loader corev1.ResourceList) {
	t.Helper()
	objects := must.Get(database.Objects(run, 1, "", podutil.Images{Loader: "loader"}))(t)
	p := must.Get(plan.ForRun(&run.Spec))(t)
	job, err := trial.Job(run, trial.Attempt{Trial: p.Trials[0], Point: p.Points[p.Trials[0].Point], Number: 1, Instance: 1},
		podutil.Images{Loader: "loader", Sysbench: "sysbench"})
	must.Do(t, err)
	of := func(spec corev1.PodSpec) corev1.ResourceList {
		return resourcehelpers.PodRequests(&corev1.Pod{Spec: spec}, resourcehelpers.PodResourcesOptions{})
	}
	for _, object := range objects {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			server = of(set.Spec.Template.Spec)
		}
	}
	for range run.Spec.Loader.Pods {
		loader = quota.Add(loader, of(job.Spec.Template.Spec))
	}
	return server, loader
}

// TestVariantsMeasureEnoughForAnAnswer: the more pairs a run has, the more rounds its first answer takes. One whose
// rounds are fewer ends without any.
func TestVariantsMeasureEnoughForAnAnswer(t *testing.T) {
	files, err := filepath.Glob(folder + "/*.yaml")
	more, errMore := filepath.Glob(folder + "/publications/*.yaml")
	if err != nil || errMore != nil {
		t.Fatal(err, errMore)
	}
	checked := 0
	for _, file := range slices.Concat(files, more) {
		for _, document := range documents(t, file) {
			run := defaulted(t, document)
			if run == nil {
				continue
			}
			checked++
			p, err := judge.PlanVariants(run, func(r *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&r.Spec) })
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if first := judge.DesignOf(&run.Spec, len(p.Planned)).FirstLook(); int(plan.Rounds(&run.Spec).AtMost) < first {
				t.Errorf("%s: %d pairs have their first answer after %d rounds, and it measures at most %d",
					file, len(p.Planned), first, plan.Rounds(&run.Spec).AtMost)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d runs with variants were found", checked)
	}
}

// defaulted is the run with variants of a document, with the API server's defaults; nil if the document has none.
func defaulted(t *testing.T, document string) *v1alpha1.BenchmarkRun {
	t.Helper()
	var object map[string]any
	must.Do(t, yaml.Unmarshal([]byte(document), &object))
	if object["kind"] != "BenchmarkRun" {
		return nil
	}
	schema := must.Get(apischema.Runs())(t)
	schema.Default(object)
	run := new(v1alpha1.BenchmarkRun)
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object, run))
	if len(run.Spec.Variants) == 0 {
		return nil
	}
	return run
}
