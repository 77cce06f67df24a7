// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// reproducing reproduces a bundle in a cluster with these objects, and returns what is printed.
func reproducing(t *testing.T, b *bundle.Bundle, o *reproduction, objects ...client.Object) (string, error) {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o.streams = streams
	if o.wait == nil {
		o.wait = func(context.Context, io.Writer, client.Client, client.ObjectKey) error {
			return nil
		}
	}
	compared, err := o.reproduce(t.Context(), clusterWith(objects...), "bench", b)
	if err == nil {
		err = answered(out, compared, must.Get(comparedFormat("text"))(t))
	}
	return out.String(), err
}

func bundleOf(t *testing.T, name string, objects []client.Object) *bundle.Bundle {
	t.Helper()
	path := must.Get(exported(t, name, objects))(t)
	b := must.Get(openBundle(path))(t)
	b.Results = regexp.MustCompile(`("uid": )"[^"]*"`).ReplaceAll(b.Results, []byte(`$1"that of another cluster"`))
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
		{1.3, 0, ExitRegression, "different at 2 of 2 points"},
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

// What is shown while it waits does not mix with the answer. A run that fails ends the command; one without an answer about
// its variants does not.
func TestReproduceWaits(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	waiting := func(err error) *reproduction {
		return &reproduction{wait: func(
			_ context.Context, out io.Writer, _ client.Client, key client.ObjectKey,
		) error {
			_, _ = out.Write([]byte("waiting for " + key.Name))
			return err
		}}
	}
	out := must.Get(reproducing(t, b, waiting(verdictError{ExitCannotSay}), finishedRun(t, "commit-size", 1)...))(t)
	if !strings.HasPrefix(out, "commit-size: all 2 points are reproduced") {
		t.Errorf("it says %s", out)
	}
	failed := errors.New("it failed")
	must.Is(t, must.Err(reproducing(t, b, waiting(failed), finishedRun(t, "commit-size", 1)...)), failed)
}

// A run with variants is used if it asks for the same, and only then.
func TestReproduceVariants(t *testing.T) {
	objects := finishedVariants(t, v1alpha1.AlternateRuns)
	b := bundleOf(t, "twice", objects)
	out, err := reproducing(t, b, &reproduction{}, finishedVariants(t, v1alpha1.AlternateRuns)...)
	if !errors.Is(err, verdictError{ExitCannotSay}) || !strings.Contains(out, "cannot say at 2 of 2 points") {
		t.Errorf("%v: %s", err, out)
	}
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	run.Spec.Rounds.AtMost = 7
	must.Refused(reproducing(t, b, &reproduction{}, objects...))(t, "run twice already exists with another specification")
}

// A bundle whose specification is not that of its results is refused before anything is created.
func TestReproduceRefusesAnotherSpecification(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	b.Benchmark = bytes.Replace(b.Benchmark, []byte("repetitions: 6"), []byte("repetitions: 7"), 1)
	must.Refused(reproducing(t, b, &reproduction{}))(t, "but the results are of")
	b = bundleOf(t, "twice", finishedVariants(t, v1alpha1.AlternateSlices))
	b.Benchmark = bytes.Replace(b.Benchmark, []byte("baseline: other"), []byte("baseline: one"), 1)
	must.Refused(reproducing(t, b, &reproduction{}))(t, "but the results are of")
	b = bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	b.Benchmark = append(b.Benchmark, "further: 1\n"...)
	must.Refused(reproducing(t, b, &reproduction{}))(t, `unknown field "further"`)
}

// What was created is measured, and compared when it has finished. The output has the answer and nothing else.
func TestReproduceMeasures(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	o := &reproduction{name: "again", yes: true, streams: streams, wait: func(
		ctx context.Context, _ io.Writer, cl client.Client, created client.ObjectKey,
	) error {
		if (created != client.ObjectKey{Namespace: "bench", Name: "again"}) {
			t.Errorf("%s is waited for", created)
		}
		objects := finishedRun(t, "again", 0.5)
		for _, object := range objects[:len(objects)-1] {
			if err := cl.Create(ctx, object); err != nil {
				return err
			}
		}
		measured, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
		existing := new(v1alpha1.BenchmarkRun)
		if err := cl.Get(ctx, created, existing); err != nil {
			return err
		}
		measured.ResourceVersion = existing.ResourceVersion
		return cl.Update(ctx, measured)
	}}
	compared := must.Get(o.reproduce(t.Context(), clusterWith(), "bench", b))(t)
	if compared.Ruling() != report.Different || compared.Pairs[1].Verdict != stats.Slower {
		t.Errorf("%+v", compared)
	}
	if !strings.HasSuffix(errOut.String(), "\nrun again is created in namespace bench\n") {
		t.Errorf("it says %q", errOut)
	}
}

// Flags and bundle are read before a cluster is contacted.
func TestReproduceFlags(t *testing.T) {
	path := must.Get(exported(t, "commit-size", finishedRun(t, "commit-size", 1)))(t)
	for _, tc := range []struct {
		arguments []string
		says      string
	}{
		{[]string{path, "-o", "pdf"}, "-o pdf is not known; use one of text, markdown, json, junit"},
		{[]string{path, "--within", "1000%"}, "from 0 to below 1000, for example 5% or 0.5%"},
		{[]string{path, "--within", "999%"}, "no cluster is configured"},
		{[]string{"no-such-file.tgz"}, "no such file"},
	} {
		code, out, errOut := plugin(t, append([]string{"reproduce"}, tc.arguments...)...)
		if code != ExitError || out != "" || !strings.Contains(errOut, tc.says) {
			t.Errorf("%v: exit code %d, it does not say %q: %s%s", tc.arguments, code, tc.says, out, errOut)
		}
	}
}

// Of a stranger's object, the specification is created, and nothing else.
func TestReproduceCreatesTheSpecificationOnly(t *testing.T) {
	for name, objects := range map[string][]client.Object{
		"commit-size": finishedRun(t, "commit-size", 1), "twice": finishedVariants(t, v1alpha1.AlternateRuns),
	} {
		b := bundleOf(t, name, objects)
		var object map[string]any
		must.Do(t, yaml.Unmarshal(b.Benchmark, &object))
		object["metadata"] = map[string]any{
			"name": name, "namespace": "kube-system", "generateName": "x-", "finalizers": []string{"example.com/stays"},
			"labels":      map[string]string{"kueue.x-k8s.io/queue-name": "theirs", v1alpha1.LabelRunUID: "1"},
			"annotations": map[string]string{"example.com/a": "b"},
			"ownerReferences": []metav1.OwnerReference{{
				APIVersion: "benchrun.dev/v1alpha1", Kind: "BenchmarkRun", Name: "s", UID: "1",
			}},
		}
		object["status"] = map[string]any{"startTime": "2026-01-02T03:04:05Z"}
		b.Benchmark = must.Get(yaml.Marshal(object))(t)
		cl := clusterWith()
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		stop := errors.New("it is created")
		o := &reproduction{streams: streams, yes: true, wait: func(
			context.Context, io.Writer, client.Client, client.ObjectKey,
		) error {
			return stop
		}}
		if _, err := o.reproduce(t.Context(), cl, "bench", b); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		created := must.Get(find(t.Context(), cl, "bench", name))(t)
		wanted := metav1.ObjectMeta{Namespace: "bench", Name: name, ResourceVersion: created.ResourceVersion}
		must.Same(t, name, wanted, created.ObjectMeta)
		run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
		run.Spec.Suspend = nil // as it was when the run ended is of no interest here
		must.Same(t, name, run.Spec, created.Spec, cmpopts.EquateEmpty())
		if created.Status.StartTime != nil {
			t.Errorf("%s has the status of the bundle", name)
		}
	}
}

// Without a terminal and without --yes, what would run is shown, and nothing is created. What is there already is compared.
func TestReproduceAsksFirst(t *testing.T) {
	b := bundleOf(t, "commit-size", finishedRun(t, "commit-size", 1))
	cl := clusterWith()
	streams, in, _, problems := genericiooptions.NewTestIOStreams()
	in.WriteString("y\n") // a pipe is nobody who has read what is shown
	waited := func(context.Context, io.Writer, client.Client, client.ObjectKey) error {
		t.Error("it is waited for")
		return nil
	}
	_, err := (&reproduction{streams: streams, wait: waited}).reproduce(t.Context(), cl, "bench", b)
	must.Is(t, err, errNoConsent)
	if _, err := find(t.Context(), cl, "bench", "commit-size"); err == nil {
		t.Error("it is created")
	}
	must.Has(t, problems.String(), "run commit-size in namespace bench", "\n    \"image\": \"mariadb:", "\n    \"type\": \"CommitSize\"")
	must.Get(reproducing(t, b, &reproduction{}, finishedRun(t, "commit-size", 1)...))(t)
}

func TestConfirmed(t *testing.T) {
	for answer, agrees := range map[string]bool{"y\n": true, "Yes\n": true, "y": true, "n\n": false, "\n": false, "": false, "yup\n": false} {
		streams, in, _, problems := genericiooptions.NewTestIOStreams()
		in.WriteString(answer)
		if err := confirmed(streams); (err == nil) != agrees || !strings.Contains(problems.String(), "[y/N]") {
			t.Errorf("%q: %v, %s", answer, err, problems)
		}
	}
}
