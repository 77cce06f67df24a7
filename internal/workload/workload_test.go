// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"
)

func TestShareOf(t *testing.T) {
	sum := int64(0)
	for pod := range int64(4) {
		part := Share{Pod: pod, Pods: 4}.Of(10)
		if part < 2 || part > 3 {
			t.Errorf("Pod %d has %d of 10", pod, part)
		}
		sum += part
	}
	if sum != 10 {
		t.Errorf("the parts add up to %d", sum)
	}
}
