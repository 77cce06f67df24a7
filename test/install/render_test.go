//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// create an object that is deleted after the test.
func create(t *testing.T, object client.Object) {
	t.Helper()
	must.Do(t, api.Create(t.Context(), object))
	t.Cleanup(func() { must.Do(t, api.Delete(context.WithoutCancel(t.Context()), object)) })
}

// eventually waits for a condition: the API server learns of roles by a watch.
func eventually(t *testing.T, what string, condition func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		return condition(ctx), nil
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// helm renders the chart.
func helm(t *testing.T, args ...string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	return helmChart(t, "charts/benchrun", args...)
}

// helmChart renders a chart in another folder.
func helmChart(t *testing.T, chart string, args ...string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	args = append([]string{"template", "benchrun", chart, "--namespace=" + namespace}, args...)
	return output(t, exec.CommandContext(t.Context(), "bash", append([]string{"-c", `. hack/lib.sh; tool helm "$@"`, "helm"}, args...)...))
}

// kustomize builds a folder.
func kustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	objects := must.Get(output(t, exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", folder)))(t)
	return objects
}

// output has the objects that a command prints; the error has what it prints to standard error.
func output(t *testing.T, command *exec.Cmd) ([]*unstructured.Unstructured, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Dir, command.Stdout, command.Stderr = root, &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, &failed{err, stderr.String()}
	}
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(&stdout, 4096); ; {
		var content map[string]any
		switch err := decoder.Decode(&content); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			t.Fatal(err)
		case content != nil:
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
}

// failed is the end of a command.
type failed struct {
	error
	stderr string
}

func (f *failed) Error() string { return f.error.Error() + ": " + f.stderr }

// deployment is the manager's.
func deployment(t *testing.T, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	d := new(appsv1.Deployment)
	find(t, objects, "Deployment", "manager", d)
	return d
}

// find decodes the one object of a kind whose name ends so.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, suffix string, into any) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != kind || !strings.HasSuffix(o.GetName(), suffix) {
			continue
		}
		must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into))
		return
	}
	t.Fatalf("there is no %s …%s", kind, suffix)
}
