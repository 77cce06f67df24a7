//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/testutil"
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
	if err := offline(t, object); err != nil {
		t.Errorf("without an API server: %v", err)
	}
	if err := dryRun(t, object); err != nil {
		return err
	}
	return plannable(t, object)
}

// offline is what is said of a run or a comparison without an API server, in the API server's words.
func offline(t *testing.T, from *unstructured.Unstructured) error {
	t.Helper()
	schema, err := schemas[from.GetKind()]()
	if err != nil {
		t.Fatal(err)
	}
	object, err := apischema.Object(from.Object)
	if err != nil {
		t.Fatal(err)
	}
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
	"BenchmarkRun": apischema.Runs, "BenchmarkComparison": apischema.Comparisons,
}

// plannable is what the operator says of a run or a comparison that the API server has stored.
func plannable(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	convert := func(into any) {
		t.Helper()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
			t.Fatal(err)
		}
	}
	if object.GetKind() == "BenchmarkComparison" {
		var comparison v1alpha1.BenchmarkComparison
		convert(&comparison)
		_, err := validation.PlanComparison(&comparison)
		return err
	}
	var run v1alpha1.BenchmarkRun
	convert(&run)
	_, err := validation.PlanRun(&run)
	return err
}

func dryRun(t *testing.T, object client.Object) error {
	return api.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
}
