// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// share is what one of several loader Pods has to do. What there is to do does not depend on how many share it: only who
// does which part of it.
type share struct {
	// pod counts from 0 to pods-1.
	pod, pods int64
}

func shareOf(cfg *result.Config) share {
	return share{pod: int64(cfg.Pod), pods: int64(max(cfg.Pods, 1))}
}

// number is that of this Pod's i-th thing, from 0, if all Pods take theirs in turns.
func (s share) number(i int64) int64 { return i*s.pods + s.pod }

// of is this Pod's part of so many things.
func (s share) of(n int64) int64 {
	part := n / s.pods
	if s.pod < n%s.pods {
		part++
	}
	return part
}

// enough is an error if some Pod would have none of so many things, whose name is the API's.
func (s share) enough(name string, n int64) error {
	if n >= s.pods {
		return nil
	}
	return fmt.Errorf("%s is %d, it must be at least %d: all loader Pods share them", name, n, s.pods)
}

// shared are the workloads that several Pods can make together.
var shared = map[string]bool{"BulkInsert": true, "IIBench": true, "Sysbench": true}

// checkShare finds a configuration for several Pods whose workload is not for them.
func checkShare(cfg *result.Config) error {
	switch {
	case cfg.Pods > 1 && !shared[cfg.Workload.Type]:
		return fmt.Errorf("workload %s loads from one Pod, and loader.pods is %d", cfg.Workload.Type, cfg.Pods)
	case cfg.Pod < 0 || cfg.Pod >= max(cfg.Pods, 1):
		return fmt.Errorf("this is Pod %d, and there are %d, counted from 0", cfg.Pod, max(cfg.Pods, 1))
	}
	return nil
}
