// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
)

// reproducing reproduces a bundle in a cluster with these objects, and returns what is printed.
func reproducing(t *testing.T, b *bundle.Bundle, o *reproduction, objects ...client.Object) (string, error) {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o.streams = streams
	if o.output == "" {
		o.output = "text"
	}
	o.wait = func(context.Context, genericiooptions.IOStreams, client.WithWatch, client.Object) error { return nil }
	err := o.reproduce(t.Context(), clusterWith(objects...), "bench", b)
	return out.String(), err
}

func bundleOf(t *testing.T, name string, objects []client.Object) *bundle.Bundle {
	t.Helper()
	path, err := exported(t, name, objects)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openBundle(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReproduceComparesWithWhatIsThere(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	for _, c := range []struct {
		factor float64
		within float64
		code   int
		want   string
	}{
		{1, 0, ExitFine, "commit-size: all 2 points are reproduced"},
		{1.3, 0, ExitRegression, "faster here at 2 of 2 points"},
		{0.7, 0, ExitRegression, "slower here at 2 of 2 points"},
		{1.02, 0.1, ExitFine, "all 2 points are reproduced"},
	} {
		out, err := reproducing(t, b, &reproduction{within: percentage{fraction: c.within}}, finishedRun(t, "commit-size", c.factor)...)
		code := verdictError{}
		if err != nil && !errors.As(err, &code) {
			t.Fatal(err)
		}
		if code.code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%g: exit code %d, want %d with %q:\n%s", c.factor, code.code, c.code, c.want, out)
		}
	}
}

// A run of the same name that asks for something else is not touched.
func TestReproduceRefusesAnotherRun(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	objects := finishedRun(t, "commit-size", 1)
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	run.Spec.Workload.CommitSize.RowsPerCommit = 3
	_, err := reproducing(t, b, &reproduction{}, objects...)
	if err == nil || !strings.Contains(err.Error(), "with another specification: use --name") {
		t.Errorf("the error is %v", err)
	}
}

// What is created asks for the same as the bundle, whatever it is called.
func TestReproduceCreates(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	cl := clusterWith()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	s, err := (&reproduction{name: "again", streams: streams}).create(t.Context(), cl, "other", b)
	if err != nil {
		t.Fatal(err)
	}
	created, err := find(t.Context(), cl, "other", "again")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := subjectIn(b)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := asksForTheSame(wanted, created); !same || err != nil || s.kind() != "run" {
		t.Errorf("%v, %v: %+v", same, err, created.run.Spec)
	}
}

// A bundle whose specification is not that of its results is refused before anything is created.
func TestReproduceRefusesAnotherSpecification(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	b.Benchmark = bytes.Replace(b.Benchmark, []byte("repetitions: 6"), []byte("repetitions: 7"), 1)
	if _, err := reproducing(t, b, &reproduction{}); err == nil || !strings.Contains(err.Error(), "the results are those of") {
		t.Errorf("the error is %v", err)
	}
}
