//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

var api client.WithWatch

func TestMain(m *testing.M) {
	os.Exit(testutil.RunWithAPIServer(m, func(c client.WithWatch) { api = c }))
}

// minimal is the shortest run that says something.
const minimal = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {}
  workload: {type: CommitSize, commitSize: {rows: 100}}
`

// parsed is a YAML document over which others are laid: maps are merged, everything else is replaced; null removes.
func parsed(t *testing.T, base string, overlays ...string) *unstructured.Unstructured {
	t.Helper()
	merged := map[string]any{}
	for _, text := range append([]string{base}, overlays...) {
		var layer map[string]any
		if err := yaml.Unmarshal([]byte(text), &layer); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		merge(merged, layer)
	}
	return &unstructured.Unstructured{Object: merged}
}

func merge(into, layer map[string]any) {
	for key, value := range layer {
		below, isMap := value.(map[string]any)
		target, hasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && hasMap:
			merge(target, below)
		default:
			into[key] = value
		}
	}
}

// spec wraps a specification's overlay.
func spec(s string) string { return "spec: {" + s + "}" }

// values is a list of n different numbers from 1 on.
func values(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i+1))
	}
	return strings.Join(list, ",")
}

// commits is an overlay of the workload with a sweep of rowsPerCommit.
func commits(list string) string {
	return "workload: {commitSize: {sweep: {rowsPerCommit: [" + list + "]}}}"
}

func checkRules(t *testing.T, valid string, rules map[string]rule) {
	t.Helper()
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, overlay := range rule.allowed {
				if err := firstSight(t, parsed(t, valid, overlay)); err != nil {
					t.Errorf("%.300s is refused: %v", overlay, err)
				}
			}
			for _, overlay := range rule.refused {
				err := dryRun(t, parsed(t, valid, overlay))
				if alone := offline(t, parsed(t, valid, overlay)); err != nil && (alone == nil || !strings.HasSuffix(err.Error(), alone.Error())) {
					t.Errorf("%.200s: without an API server: %v\nthe API server: %v", overlay, alone, err)
				}
				switch {
				case err == nil:
					t.Errorf("%.200s is allowed", overlay)
				case !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err):
					t.Errorf("%.200s: %v", overlay, err)
				case !strings.Contains(err.Error(), rule.says):
					t.Errorf("%.200s is refused, but does not say %q: %v", overlay, rule.says, err)
				}
			}
			for _, overlay := range rule.later {
				object := parsed(t, valid, overlay)
				if err := dryRun(t, object); err != nil {
					t.Errorf("%.300s is refused by the API server already: %v", overlay, err)
				} else if err := plannable(t, object); err == nil || !strings.Contains(err.Error(), rule.says) {
					t.Errorf("%.300s: the operator says %v, want %q", overlay, err, rule.says)
				}
			}
		})
	}
}

// firstSight is what the API server and then the operator say of a run; of an object of Kubernetes, what the API server says.
func firstSight(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	if schemas[object.GetKind()] == nil {
		return dryRun(t, object)
	}
	must.Do(t, offline(t, object))
	if err := dryRun(t, object); err != nil {
		return err
	}
	return plannable(t, object)
}

// offline is what is said of a run without an API server, in the API server's words.
func offline(t *testing.T, from *unstructured.Unstructured) error {
	t.Helper()
	schema := must.Get(schemas[from.GetKind()]())(t)
	object := must.Get(apischema.Object(from.Object))(t)
	unknown, err := apischema.PruneMetadata(object)
	if err != nil {
		return err
	}
	if unknown = append(unknown, schema.Prune(object)...); len(unknown) > 0 {
		return errors.New(`strict decoding error: unknown field "` + strings.Join(unknown, `", unknown field "`) + `"`)
	}
	if errs := schema.Errors(t.Context(), object); len(errs) > 0 {
		return apierrors.NewInvalid(from.GroupVersionKind().GroupKind(), from.GetName(), errs)
	}
	return nil
}

// schemas by kind.
var schemas = map[string]func() (*apischema.Schema, error){
	"BenchmarkRun": apischema.Runs,
}

// plannable is what the operator says of a run that the API server has stored.
func plannable(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	_, err := validation.PlanRun(&run)
	return err
}

func dryRun(t *testing.T, object client.Object) error {
	return api.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
}

// clientSideApply is how large an object may be: kubectl apply keeps a copy in an annotation.
const clientSideApply = 256 << 10

// mostOfCRD leaves some of that to spare; test/docs has the same bound.
const mostOfCRD = 200_000

// TestEnvtestBudget: the schema has room to spare. A run holds its database and workload once more in a list of variants: the API
// server multiplies the cost of each rule by the length of the list.
func TestEnvtestBudget(t *testing.T) {
	encoded := must.Get(json.Marshal(crd(t)))(t)
	t.Logf("CRD budget: %d of %d bytes", len(encoded), clientSideApply)
	if len(encoded) > mostOfCRD {
		t.Errorf("the CRD has %d bytes, of at most %d: kubectl apply takes %d", len(encoded), mostOfCRD, clientSideApply)
	}
	fits := 0
	for n := int64(16); n <= 1<<20; n *= 2 {
		c := crd(t)
		*c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["variants"].MaxItems = n
		if err := accepted(t, c); err != nil {
			t.Logf("CRD budget: the rules do not fit into a run of %d variants: %.300v", n, err)
			break
		}
		fits = int(n)
	}
	t.Logf("CRD budget: the rules fit into a run of %d variants", fits)
	if fits < 32 {
		t.Errorf("the rules fit into a run of %d variants: it has up to 16, and there is no room to spare", fits)
	}
}

// crd is that of runs.
func crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text := must.Get(os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml"))(t)
	c := new(apiextensionsv1.CustomResourceDefinition)
	must.Do(t, yaml.UnmarshalStrict(text, c))
	return c
}

// accepted is what the API server says of a CRD under another name: it has this one already.
func accepted(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) error {
	t.Helper()
	object := asObject(t, c)
	object.SetName("others.benchrun.dev")
	names := map[string]any{"plural": "others", "singular": "other", "kind": "Other", "listKind": "OtherList"}
	must.Do(t, unstructured.SetNestedField(object.Object, names, "spec", "names"))
	return dryRun(t, object)
}

func asObject(t *testing.T, c *apiextensionsv1.CustomResourceDefinition) *unstructured.Unstructured {
	t.Helper()
	content := must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(c))(t)
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(apiextensionsv1.SchemeGroupVersion.String())
	object.SetKind("CustomResourceDefinition")
	unstructured.RemoveNestedField(object.Object, "status")
	unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
	return object
}

// The API server's defaults are those that the operator uses for what is unset.
func TestEnvtestDefaults(t *testing.T) {
	object := parsed(t, minimal, spec("database: {storage: {}}"))
	must.Do(t, dryRun(t, object))
	var run v1alpha1.BenchmarkRun
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	s := &run.Spec
	if s.Seed == nil || *s.Seed != v1alpha1.DefaultSeed || s.Trials.MaxInvalid == nil ||
		*s.Trials.MaxInvalid != v1alpha1.DefaultMaxInvalid || s.Trials.DeadlineSeconds != v1alpha1.DefaultTrialDeadlineSeconds ||
		s.Database.Storage.Size.String() != v1alpha1.DefaultStorageSize ||
		s.Trials.Repetitions != nil {
		t.Errorf("defaults of the API server: seed %v, trials %+v, storage %s", s.Seed, s.Trials, s.Database.Storage.Size.String())
	}
}

// An object that the operator has not seen yet is not ready to anybody who waits for it, such as Helm 4.
func TestEnvtestNewObjectIsInProgress(t *testing.T) {
	object := parsed(t, minimal, "metadata: {name: seen-by-nobody}")
	must.Do(t, api.Create(t.Context(), object))
	t.Cleanup(func() { must.Do(t, api.Delete(context.Background(), object)) })
	stored := object.DeepCopy()
	must.Do(t, api.Get(t.Context(), client.ObjectKeyFromObject(object), stored))
	if got, err := kstatus.Compute(stored); err != nil || got.Status != kstatus.InProgressStatus {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEnvtestSamples asks a real API server to take every sample, strictly.
func TestEnvtestSamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../config/samples/*.yaml", "../../config/samples/publications/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files like %s, %v", len(found), pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object := parsed(t, "metadata: {namespace: default}", document)
			if object.GetKind() != "BenchmarkRun" {
				continue // what a run needs besides, for example a ConfigMap with a script
			}
			if err := dryRun(t, object); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// yamlBlock is YAML for Benchrun. That of other programs, for example workflows, is in blocks of yml.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestEnvtestDocs asks a real API server, and then the operator, to take every YAML block of the documentation: a run, or a
// part of a run's spec. Files of plots are read.
func TestEnvtestDocs(t *testing.T) {
	blocks := 0
	for _, page := range pages(t) {
		text := must.Get(os.ReadFile(page))(t)
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			blocks++
			var err error
			if strings.HasPrefix(block[1], "plots:") {
				_, err = report.ReadRequested(page, []byte(block[1]))
			} else {
				err = firstSight(t, documented(t, block[1]))
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block[1])
			}
		}
	}
	if blocks < 20 {
		t.Errorf("%d blocks of YAML were found: is the documentation elsewhere?", blocks)
	}
}

// documented is the run that a block shows. What is no run of its own completes the shortest one.
func documented(t *testing.T, block string) *unstructured.Unstructured {
	t.Helper()
	shown := parsed(t, block)
	if shown.GetKind() != "" {
		return parsed(t, "metadata: {namespace: default}", block)
	}
	run := parsed(t, minimal)
	if _, has := shown.Object["workload"]; has {
		unstructured.RemoveNestedField(run.Object, "spec", "workload")
	}
	merge(run.Object, map[string]any{"spec": shown.Object})
	return run
}

// pages are the README and everything in docs.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	})
	must.Do(t, err)
	return found
}
