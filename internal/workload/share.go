// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Share is what one of several loader Pods has to do. What there is to do does not depend on how many share it: only who
// does which part of it.
type Share struct {
	// Pod counts from 0 to Pods-1.
	Pod, Pods int64
}

// ShareOf is the share of the Pod whose configuration it is.
func ShareOf(cfg *result.Config) Share {
	return Share{Pod: int64(cfg.Pod), Pods: int64(max(cfg.Pods, 1))}
}

// Number is that of this Pod's i-th thing, from 0, if all Pods take theirs in turns.
func (s Share) Number(i int64) int64 { return i*s.Pods + s.Pod }

// Of is this Pod's part of so many things.
func (s Share) Of(n int64) int64 {
	part := n / s.Pods
	if s.Pod < n%s.Pods {
		part++
	}
	return part
}

// Enough is an error if there are fewer than one for each Pod. The name is the API's.
func (s Share) Enough(name string, n int64) error {
	if n >= s.Pods {
		return nil
	}
	return fmt.Errorf("%s is %d but must be at least loader.pods, %d: all loader Pods share them", name, n, s.Pods)
}

// CheckShare finds a configuration for several Pods whose workload cannot be shared.
func CheckShare(cfg *result.Config, shared bool) error {
	switch {
	case cfg.Pods > 1 && !shared:
		return fmt.Errorf("this load is made from one Pod: loader.pods is %d but must be 1", cfg.Pods)
	case cfg.Pod < 0 || cfg.Pod >= max(cfg.Pods, 1):
		return fmt.Errorf("this is Pod %d, but the loader Pods (%d) are numbered from 0", cfg.Pod, max(cfg.Pods, 1))
	}
	return nil
}
