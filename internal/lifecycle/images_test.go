// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// installed are the images of an installation of that release.
func installed(release string) podutil.Images {
	return podutil.Images{
		Loader: "registry.example.com/loader:" + release, Sysbench: "sysbench:" + release, Registry: "mirror",
		Databases: map[string]string{"MariaDB": "mariadb:" + release}, PullSecrets: []string{"of-" + release},
	}
}

// A run keeps the images that it was admitted with, whatever the operator is upgraded to. Who may pull them is no part of them.
func TestImagesArePinned(t *testing.T) {
	run := oneAxis(1, 2)
	status := statusOf(t, run, &Observed{Images: installed("1"), Lane: heldByOther}, now)
	if status.Images.Loader != "" {
		t.Errorf("queued, it has pinned %+v", status.Images)
	}
	run.Status = statusOf(t, run, &Observed{Images: installed("1")}, now)
	upgraded := installed("2")
	upgraded.Registry = "other"
	images := ImagesOf(run.Status.Images, upgraded)
	want := podutil.Images{
		Loader: "registry.example.com/loader:1", Sysbench: "mirror/sysbench:1", Registry: "mirror",
		Databases: map[string]string{"MariaDB": "mirror/mariadb:1", "MySQL": "mirror/mysql:8.4"}, PullSecrets: []string{"of-2"},
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if again := statusOf(t, run, &Observed{Images: images}, now).Images; !cmp.Equal(again, run.Status.Images) {
		t.Errorf("pinned again: %+v", again)
	}
	if images := statusOf(t, run, &Observed{Blockers: Blockers{ObserveFailed: true}}, now).Images; !cmp.Equal(images, run.Status.Images) {
		t.Errorf("when nothing can be read: %+v", images)
	}
}

// From its first accepted attempt on, a run names its images by the digests that it ran, if nodes can pull them by these.
func TestImagesByDigest(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		image, loader, server string
		want                  []v1alpha1.ImageName // of the loader, of sysbench and of MariaDB
	}{
		"pulled": {
			loader: "registry.example.com/loader" + digest, server: "mirror/mariadb" + digest,
			want: []v1alpha1.ImageName{"registry.example.com/loader" + v1alpha1.ImageName(digest), "mirror/sysbench:1", "mirror/mariadb:1"},
		},
		"loaded":       {loader: "sha256:1", server: "docker.io/library/import-2026-01-02" + digest},
		"a user's own": {image: "mirror.example.com/mariadb:7", server: "mirror.example.com/mariadb" + digest},
	} {
		run := oneAxis(1, 2)
		run.Spec.Database.Image = tc.image
		seen := &Observed{Records: records(1), Images: installed("1")}
		seen.Records[0].Place.LoaderImage, seen.Records[0].Place.DatabaseImage = tc.loader, tc.server
		got := statusOf(t, run, seen, now).Images
		want := tc.want
		if want == nil {
			want = []v1alpha1.ImageName{"registry.example.com/loader:1", "mirror/sysbench:1", "mirror/mariadb:1"}
		}
		if diff := cmp.Diff(want, []v1alpha1.ImageName{got.Loader, got.Sysbench, got.Databases["MariaDB"]}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The runs of a comparison begin with its images, and with the digests that the first of them has found.
func TestImagesOfComparison(t *testing.T) {
	s := testutil.MakeComparison("s", "ns", "a", "b").Obj()
	p, err := validation.PlanComparison(s)
	if err != nil {
		t.Fatal(err)
	}
	seen := &ComparisonObserved{ComparisonRuns: membersOf(p), Checked: true, Lane: Lane{Holder: new(Holder)}, Images: installed("1")}
	*seen.Lane.Holder = HolderOfComparison(s)
	s.Status = StatusOfComparison(s, p, seen, NextOfComparison(s, p, seen, now), now)
	if s.Status.Images.Loader != "registry.example.com/loader:1" {
		t.Fatalf("pinned %+v", s.Status.Images)
	}
	seen.Images = ImagesOf(s.Status.Images, installed("2"))
	run := testutil.MakeRun("s-r1-a", "ns").Obj()
	run.Spec.Database.Engine = v1alpha1.EngineMariaDB
	run.Status.Images = *s.Status.Images.DeepCopy()
	run.Status.Images.Loader, run.Status.Images.Databases["MariaDB"] = "registry.example.com/loader@sha256:1", "mirror/mariadb@sha256:2"
	endedRun(run, v1alpha1.ConditionComplete)
	seen.Members[0].Run = run
	got := StatusOfComparison(s, p, seen, NextOfComparison(s, p, seen, now), now).Images
	if got.Loader != "registry.example.com/loader@sha256:1" || got.Databases["MariaDB"] != "mirror/mariadb@sha256:2" ||
		got.Databases["MySQL"] != "mirror/mysql:8.4" || got.Sysbench != "mirror/sysbench:1" {
		t.Errorf("after its first run: %+v", got)
	}
}

// An installation that has no loader with sysbench refuses runs of Sysbench at once, in one sentence, and no others.
func TestMissingLoaderIsRefusedAtOnce(t *testing.T) {
	for image, missing := range map[string]bool{
		"": true, "unset.invalid/loader-sysbench": true, "unset.invalid/loader-sysbench@sha256:1": true,
		"example.com/loader-sysbench:1": false, "localhost/benchrun/loader-sysbench:x": false,
	} {
		images := podutil.Images{Loader: "loader", Sysbench: image}
		run := oneAxis(1, 1)
		if f := LoaderRefused(run, images); f != nil {
			t.Errorf("%q: a run that needs no sysbench is refused: %s", image, f.Message)
		}
		run.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{}}
		f := LoaderRefused(run, images)
		if (f != nil) != missing {
			t.Errorf("%q: %+v", image, f)
		}
		if f != nil && (f.Reason != v1alpha1.ReasonInvalidSpecification || len(f.Message) > 250 || !strings.Contains(f.Message, "--sysbench-image")) {
			t.Errorf("%q: %+v", image, f)
		}
	}
}
