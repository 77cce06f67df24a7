// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// tprochLoad is the wire form of TPROCHLoad.
func tprochLoad(spec *v1alpha1.TPROCHLoadWorkload) *result.TPROCHLoad {
	w := &result.TPROCHLoad{
		ScaleFactor:      spec.ScaleFactor,
		Data:             string(spec.Data),
		LoadMode:         string(spec.LoadMode),
		ForeignKeyChecks: ptr.Deref(spec.ForeignKeyChecks, true),
		UniqueChecks:     ptr.Deref(spec.UniqueChecks, true),
		Indexes:          string(spec.Indexes),
		Analyze:          ptr.Deref(spec.Analyze, false),
	}
	switch spec.LoadMode {
	case v1alpha1.TPROCHChunked:
		w.RowsPerChunk = spec.RowsPerChunk
	case v1alpha1.TPROCHParallel:
		w.Streams = int(ptr.Deref(spec.Streams, plan.DefaultStreams))
	case v1alpha1.TPROCHOneStatement:
	}
	return w
}
