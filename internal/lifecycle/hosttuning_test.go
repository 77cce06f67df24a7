// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Only a run that asks for it is refused, and only where nobody has allowed it.
func TestHostTuningRefused(t *testing.T) {
	plain, tuned := oneAxis(1, 1), oneAxis(1, 1)
	tuned.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	for _, allowed := range []bool{true, false} {
		if got := HostTuningRefused(plain, allowed); got != nil {
			t.Errorf("a run that asks for nothing is refused: %+v", got)
		}
	}
	if got := HostTuningRefused(tuned, true); got != nil {
		t.Errorf("refused, although it is allowed: %+v", got)
	}
	got := HostTuningRefused(tuned, false)
	if got == nil || got.Reason != v1alpha1.ReasonHostTuningNotAllowed || !strings.Contains(got.Message, "hostTuning.enabled: true") {
		t.Errorf("not allowed: %+v", got)
	}
}
