// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// ImagesOf are the images that a run or comparison uses: those that it has pinned or, before that, the installation's.
func ImagesOf(pinned v1alpha1.ImagesStatus, installation podutil.Images) podutil.Images {
	if pinned.Loader == "" {
		return installation
	}
	images := podutil.Images{
		Loader: string(pinned.Loader), Sysbench: string(pinned.Sysbench), Registry: string(pinned.Registry),
		Databases: map[string]string{}, PullSecrets: installation.PullSecrets,
	}
	for name, image := range pinned.Databases {
		images.Databases[name] = string(image)
	}
	return images
}

// LoaderRefused is why a run whose workload needs the loader with sysbench cannot have it, or nil.
func LoaderRefused(run *v1alpha1.BenchmarkRun, images podutil.Images) *Failure {
	if run.Spec.Workload.Type != v1alpha1.WorkloadSysbench || images.HasSysbench() {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: "this installation has no loader with sysbench: use " +
		"another workload, or have an administrator name its image (loader.sysbenchImage in the Helm chart, the operator's flag " +
		"--sysbench-image)"}
}

// pinImages are the full names of images.
func pinImages(images podutil.Images) v1alpha1.ImagesStatus {
	name := func(image string) v1alpha1.ImageName { return v1alpha1.ImageName(cut(images.Name(image), maxImage)) }
	pinned := v1alpha1.ImagesStatus{
		Loader: name(images.Loader), Sysbench: name(images.Sysbench), Registry: v1alpha1.ImageName(cut(images.Registry, maxImage)),
		Databases: map[string]v1alpha1.ImageName{},
	}
	for engine, image := range database.Images(images) {
		pinned.Databases[engine] = v1alpha1.ImageName(cut(image, maxImage))
	}
	return pinned
}

// maxImage bounds the name of an image.
const maxImage = 512

// images that the run has pinned: none before it is admitted. From its first accepted attempt on they are named by the digests
// that it ran, where nodes can pull these: a tag may be moved.
func (s *situation) images(d Decision) v1alpha1.ImagesStatus {
	before := s.run.Status.Images
	if s.seen.Images.Loader == "" || before.Loader == "" && d.Pauses() {
		return before
	}
	pinned := pinImages(s.seen.Images)
	first := s.seen.firstAccepted()
	if first == nil {
		return pinned
	}
	ran := func(name *v1alpha1.ImageName, image string) {
		*name = v1alpha1.ImageName(cut(podutil.ByDigest(string(*name), image), maxImage))
	}
	ran(&pinned.Loader, first.Place.LoaderImage)
	ran(&pinned.Sysbench, first.Place.LoaderImage)
	if db := &s.run.Spec.Database; db.Image == "" {
		name := pinned.Databases[string(db.Engine)]
		ran(&name, first.Place.DatabaseImage)
		pinned.Databases[string(db.Engine)] = name
	}
	return pinned
}

// firstAccepted is the record of the first attempt that counts, or nil.
func (o *Observed) firstAccepted() *result.Record {
	for _, r := range o.Records {
		if r.Outcome == result.OutcomeAccepted {
			return r
		}
	}
	return nil
}

// images that the runs of the comparison begin with: those that the comparison began with, by the digests that its runs have
// found.
func (s *comparisonSituation) images(d Decision) v1alpha1.ImagesStatus {
	before := s.comparison.Status.Images
	if s.seen.Images.Loader == "" || before.Loader == "" && d.Pauses() {
		return before
	}
	pinned := pinImages(s.seen.Images)
	for i := range s.seen.Members {
		m := &s.seen.Members[i]
		if !m.Is(v1alpha1.ConditionComplete) || m.Run.Status.Images.Loader == "" {
			continue
		}
		found := &m.Run.Status.Images
		pinned.Loader, pinned.Sysbench = found.Loader, found.Sysbench
		maps.Copy(pinned.Databases, map[string]v1alpha1.ImageName{
			string(m.Run.Spec.Database.Engine): found.Databases[string(m.Run.Spec.Database.Engine)],
		})
	}
	return pinned
}
