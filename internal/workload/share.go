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

// Enough is an error if some Pod would have none of so many things, whose name is the API's.
func (s Share) Enough(name string, n int64) error {
	if n >= s.Pods {
		return nil
	}
	return fmt.Errorf("%s is %d, it must be at least %d: all loader Pods share them", name, n, s.Pods)
}

// shared are the workloads that several Pods can make together.
var shared = map[string]bool{"BulkInsert": true, "IIBench": true, "Sysbench": true}

// CheckShare finds a configuration for several Pods whose workload is not for them.
func CheckShare(cfg *result.Config) error {
	switch {
	case cfg.Pods > 1 && !shared[cfg.Workload.Type]:
		return fmt.Errorf("workload %s loads from one Pod, and loader.pods is %d", cfg.Workload.Type, cfg.Pods)
	case cfg.Pod < 0 || cfg.Pod >= max(cfg.Pods, 1):
		return fmt.Errorf("this is Pod %d, and there are %d, counted from 0", cfg.Pod, max(cfg.Pods, 1))
	}
	return nil
}
