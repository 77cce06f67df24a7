// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// The loader of each variant is told who gives the turns, and can prove itself there. Together they have as long as each would have
// alone. Where the first one's loader is, is not known before it is there: the others follow it.
func TestSlices(t *testing.T) {
	for name, tc := range map[string]struct {
		place  int
		change func(*v1alpha1.BenchmarkRun)
		nodes  []string
		// follows is whether it must be on the node of the first one's loader.
		follows bool
	}{
		"first":            {},
		"second":           {place: 1, follows: true},
		"second, anywhere": {place: 1, change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Placement = v1alpha1.PlacementAny }},
		"second, bound":    {place: 1, nodes: []string{"worker2"}},
		"second, beside its database": {place: 1, follows: true, change: func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Loader.Transport = v1alpha1.TransportUnixSocket
		}},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeRun("c-r1-lazy", "ns").Obj()
			if tc.change != nil {
				tc.change(run)
			}
			a := trial.Attempt{Number: 1, Instance: 1, Nodes: tc.nodes, Slices: &trial.Slices{
				First: "c-r1-durable", FirstUID: "12345678-9", Variants: 2, Place: tc.place, Milliseconds: 300,
			}}
			a.Trial.Number = 1
			c, err := trial.Config(run, a)
			if err != nil {
				t.Fatal(err)
			}
			want := &result.Turns{
				Host: "c-r1-durable-db1.ns.svc", Port: 9706, PasswordFile: "/etc/benchrun/referee/password",
				Variants: 2, Place: tc.place, Seed: c.Seed, SliceMilliseconds: 300,
			}
			if diff := cmp.Diff(want, c.Turns); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			job, err := trial.Job(run, a, podutil.Images{Loader: "loader"})
			if err != nil {
				t.Fatal(err)
			}
			if *job.Spec.ActiveDeadlineSeconds != 7200 {
				t.Errorf("deadline %d s", *job.Spec.ActiveDeadlineSeconds)
			}
			spec := &job.Spec.Template.Spec
			if got := secretOf(spec, "/etc/benchrun/referee"); got != "c-r1-durable-12345678" {
				t.Errorf("it proves itself by the Secret %q", got)
			}
			if got := follows(spec, "12345678-9"); got != tc.follows {
				t.Errorf("it follows the first loader: %t; affinity %+v", got, spec.Affinity)
			}
		})
	}
}

// secretOf is the name of the Secret that is mounted at a path.
func secretOf(spec *corev1.PodSpec, path string) string {
	for _, m := range spec.Containers[0].VolumeMounts {
		for _, v := range spec.Volumes {
			if m.MountPath == path && v.Name == m.Name && v.Secret != nil {
				return v.Secret.SecretName
			}
		}
	}
	return ""
}

func follows(spec *corev1.PodSpec, uid string) bool {
	if spec.Affinity == nil || spec.Affinity.PodAffinity == nil {
		return false
	}
	for _, term := range spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		labels := term.LabelSelector.MatchLabels
		if labels[v1alpha1.LabelRunUID] == uid && labels[v1alpha1.LabelComponent] == v1alpha1.ComponentLoader {
			return true
		}
	}
	return false
}
