// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Of a stranger's object, the specification is created, and nothing else.
func TestReproduceCreatesTheSpecificationOnly(t *testing.T) {
	for name, objects := range map[string][]client.Object{
		"commit-size": finishedRun(t, "commit-size", 1), "twice": finishedComparison(t),
	} {
		b := bundleOf(t, name, objects)
		var object map[string]any
		if err := yaml.Unmarshal(b.Benchmark, &object); err != nil {
			t.Fatal(err)
		}
		object["metadata"] = map[string]any{
			"name": name, "namespace": "kube-system", "generateName": "x-", "finalizers": []string{"example.com/stays"},
			"labels":      map[string]string{"kueue.x-k8s.io/queue-name": "theirs", v1alpha1.LabelComparisonUID: "1"},
			"annotations": map[string]string{"example.com/a": "b"},
			"ownerReferences": []metav1.OwnerReference{{
				APIVersion: "benchrun.dev/v1alpha1", Kind: "BenchmarkComparison", Name: "s", UID: "1",
			}},
		}
		object["status"] = map[string]any{"startTime": "2026-01-02T03:04:05Z"}
		var err error
		if b.Benchmark, err = yaml.Marshal(object); err != nil {
			t.Fatal(err)
		}
		cl := clusterWith()
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		if _, err := (&reproduction{streams: streams, yes: true}).create(t.Context(), cl, "bench", b); err != nil {
			t.Fatal(err)
		}
		created, err := find(t.Context(), cl, "bench", name)
		if err != nil {
			t.Fatal(err)
		}
		o := created.object()
		wanted := metav1.ObjectMeta{Namespace: "bench", Name: name, ResourceVersion: o.GetResourceVersion()}
		got := metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: o.GetName(), GenerateName: o.GetGenerateName(), Labels: o.GetLabels(),
			Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(), OwnerReferences: o.GetOwnerReferences(),
			ResourceVersion: o.GetResourceVersion(),
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		wantedSpec, err := subjectIn(b)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := sameSpecification(wantedSpec, created); !same || err != nil {
			t.Errorf("%s has another specification: %v", name, err)
		}
		if created.snapshot().started != nil {
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
	waited := func(context.Context, genericiooptions.IOStreams, client.WithWatch, *kind, client.ObjectKey) error {
		t.Error("it is waited for")
		return nil
	}
	err := (&reproduction{streams: streams, output: "text", wait: waited}).reproduce(t.Context(), cl, "bench", b)
	if !errors.Is(err, errNoConsent) {
		t.Errorf("the error is %v", err)
	}
	if _, err := find(t.Context(), cl, "bench", "commit-size"); err == nil {
		t.Error("it is created")
	}
	for _, want := range []string{"run commit-size in namespace bench", "  database.image: \"mariadb:", "  workload.type: \"CommitSize\""} {
		if !strings.Contains(problems.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, problems)
		}
	}
	if _, err := reproducing(t, b, &reproduction{}, finishedRun(t, "commit-size", 1)...); err != nil {
		t.Errorf("what is there is not compared: %v", err)
	}
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

// The whole specification is shown, in templates and variants too: a field that is added to the API cannot be forgotten. Each
// field of the API's own specification, filled, is on a line of its own.
func TestRevealed(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"every argument of every program": {
			`
database: {image: "a\nb", external: {host: db, credentialsSecretName: s}}
workload:
  type: Custom
  custom: {command: [sh, -c, id], prepare: [sh, -c, p], cleanup: [c], env: {ANY: e}, parameters: {x: "1"}, filesFrom: f}
trials: {}
`,
			[]string{
				`  database.external.credentialsSecretName: "s"`,
				`  database.external.host: "db"`,
				`  database.image: "a\nb"`,
				`  trials: {}`,
				`  workload.custom.cleanup: ["c"]`,
				`  workload.custom.command: ["sh","-c","id"]`,
				`  workload.custom.env.ANY: "e"`,
				`  workload.custom.filesFrom: "f"`,
				`  workload.custom.parameters.x: "1"`,
				`  workload.custom.prepare: ["sh","-c","p"]`,
				`  workload.type: "Custom"`,
			},
		},
		"lists of objects": {
			`variants: [{name: a, database: {image: other}}, {name: b, loader: {tolerations: [{key: k}]}}]`,
			[]string{
				`  variants[0].database.image: "other"`,
				`  variants[0].name: "a"`,
				`  variants[1].loader.tolerations[0].key: "k"`,
				`  variants[1].name: "b"`,
			},
		},
	} {
		var spec any
		if err := yaml.Unmarshal([]byte(tc.spec), &spec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, revealed("", spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
