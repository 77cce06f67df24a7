// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func digest(t *testing.T, spec *v1alpha1.BenchmarkRunSpec) string {
	t.Helper()
	d, err := plan.Digest(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The digest of a specification does not change within a version of the method: it is how published runs are found to have asked
// for the same.
func TestDigestGolden(t *testing.T) {
	cases := map[string]struct {
		spec *v1alpha1.BenchmarkRunSpec
		want string
	}{
		"default": {&testutil.MakeRun("r", "ns").Obj().Spec, "v2:sha256:8867fcfd085ec75130dfd7d12cb7b338da80c0e3b2c3d3cad72a51e6346c85aa"},
		"sweep":   {commits(1, 16), "v2:sha256:50cdea3e41ad19260d3c27352932b5ce44e77906c6410326fb623cab27414707"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// As it was stored before there were these fields.
			tc.spec.Trials.PrimeSeconds, tc.spec.Workload.CommitSize.Commit = nil, ""
			if got := digest(t, tc.spec); got != tc.want {
				t.Errorf("digest is %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDigestIgnoresWhatChangesNoNumber(t *testing.T) {
	spec := commits(1, 16)
	spec.Claims = v1alpha1.Claims{{Name: "faster"}}
	spec.Plots = v1alpha1.Plots{{Name: "curve", Against: "rowsPerCommit"}}
	spec.Tables = v1alpha1.Tables{{Name: "table", Metrics: []string{"durationSeconds"}}}
	spec.Lane = "fast"
	spec.Suspend = ptr.To(true)
	spec.DeadlineSeconds = ptr.To[int32](1)
	spec.QueueDeadlineSeconds = ptr.To[int32](1)
	spec.Title = "another"
	spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	spec.Cleanup = v1alpha1.CleanupNever
	spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "registry"}}
	spec.Results.Retention = v1alpha1.RetentionRetain
	before := spec.DeepCopy()
	if got, want := digest(t, spec), digest(t, commits(1, 16)); got != want {
		t.Errorf("digest is %s, want %s", got, want)
	}
	if diff := cmp.Diff(before, spec); diff != "" {
		t.Errorf("the specification was written to:\n%s", diff)
	}
}

// A quantity written in another way is the same quantity once the API server has stored it.
func TestDigestOfStoredSpecification(t *testing.T) {
	spec := commits(1, 16)
	spec.Database.Settings.BufferPoolSize = ptr.To(resource.MustParse("131072Ki"))
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	stored := new(v1alpha1.BenchmarkRunSpec)
	if err := json.Unmarshal(data, stored); err != nil {
		t.Fatal(err)
	}
	if got, want := digest(t, stored), digest(t, commits(1, 16)); got != want {
		t.Errorf("digest is %s, want %s", got, want)
	}
}

func TestDigestIsSensitiveToAllElse(t *testing.T) {
	changes := map[string][]func(*v1alpha1.BenchmarkRunSpec){
		"PodMetadata": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.PodMetadata.Labels = map[string]string{"a": "b"} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.PodMetadata.Annotations = map[string]string{"a": "b"} },
		},
		"Database": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Engine = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Image = "mariadb:11.4" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Provisioner = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Settings.BinaryLog = ptr.To(true) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Settings.FlushLogAtTrxCommit = nil },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.Settings.LogFileSize = ptr.To(resource.MustParse("97Mi"))
			},
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Variables = map[string]v1alpha1.VariableValue{"a": ""} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.Medium = v1alpha1.MediumMemory },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.StorageClassName = "fast" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.Size = resource.MustParse("6Gi") },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			},
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](0)}
			},
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.NodeSelector = map[string]string{"disk": "ssd"} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Tolerations = []corev1.Toleration{{Key: "k"}} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.NodeAffinity = &corev1.NodeAffinity{} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.PriorityClassName = "high" },
		},
		"Workload": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Type = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { *s.Workload.CommitSize.Rows++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.RowsPerCommit++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.Compat = v1alpha1.CompatIsotopp },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Limits.Seconds = ptr.To[int32](5) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Limits.ErrorPercent = ptr.To[int32](5) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.Sweep = nil },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Workload.CommitSize.Sweep.RowsPerCommit = []v1alpha1.CommitSizeRowsPerCommit{16, 1}
			},
		},
		"Sweep": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor} },
		},
		"Trials": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Repetitions = ptr.To[int32](4) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Precision = &v1alpha1.PrecisionSpec{Min: 6, Max: 12} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Order = v1alpha1.OrderShuffled },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Server = v1alpha1.ServerFresh },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.DeadlineSeconds++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.MaxInvalid = ptr.To[int32](0) },
		},
		"Loader": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.SeparateFromDatabase = v1alpha1.SeparationNone },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.Transport = v1alpha1.TransportUnixSocket },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.Scratch = &v1alpha1.ScratchSpec{} },
		},
		"Placement": {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement = v1alpha1.PlacementAny }},
		"Seed": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Seed = ptr.To[int64](2) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Seed = ptr.To[int64](0) },
		},
	}
	base := digest(t, commits(1, 16))
	seen := map[string]bool{base: true}
	for field, list := range changes {
		for i, change := range list {
			spec := commits(1, 16)
			change(spec)
			d := digest(t, spec)
			if seen[d] {
				t.Errorf("change %d of %s gives a digest that was seen before", i, field)
			}
			seen[d] = true
		}
	}
	// A new field must be decided about.
	fields := append(slices.Collect(maps.Keys(changes)), "Title", "Claims", "Plots", "Tables", "Lane", "Suspend", "DeadlineSeconds", "QueueDeadlineSeconds", "TTLSecondsAfterFinished", "Cleanup", "ImagePullSecrets", "Results")
	var have []string
	for field := range reflect.TypeFor[v1alpha1.BenchmarkRunSpec]().Fields() {
		have = append(have, field.Name)
	}
	slices.Sort(fields)
	slices.Sort(have)
	if diff := cmp.Diff(have, fields); diff != "" {
		t.Errorf("fields of the specification that are tested (-have +tested):\n%s", diff)
	}
}
