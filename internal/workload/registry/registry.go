// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry lists the workloads.
package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/custom"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/pgbench"
	"github.com/benchrun-dev/benchrun/internal/workload/statements"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

var definitions = []workload.Definition{
	bulkinsert.Definition,
	commitsize.Definition,
	custom.Definition,
	iibench.Definition,
	pgbench.Definition,
	statements.Definition,
	sysbench.Definition,
	tprochload.Definition,
}

func find(cfg *result.Config) (*workload.Definition, error) {
	i := slices.IndexFunc(definitions, func(d workload.Definition) bool { return d.Type == cfg.Workload.Type })
	if i < 0 {
		var known []string
		for _, d := range definitions {
			known = append(known, d.Type)
		}
		return nil, fmt.Errorf("workload type %q is unknown; use one of %s", cfg.Workload.Type, strings.Join(known, ", "))
	}
	d := &definitions[i]
	return d, named(cfg, cmp.Or(checkEngine(cfg, d), workload.CheckShare(cfg, d.Shared)))
}

func checkEngine(cfg *result.Config, d *workload.Definition) error {
	speaks := engine.SQL(cfg.Server.Engine)
	loads := func(d workload.Definition) bool { return d.SQL == "" || d.SQL == speaks }
	if loads(*d) {
		return nil
	}
	var can []string
	for _, other := range definitions {
		if loads(other) {
			can = append(can, other.Type)
		}
	}
	return fmt.Errorf("it cannot load a server of engine %s: use %s", cfg.Server.Engine, strings.Join(can, ", "))
}

func named(cfg *result.Config, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("workload %s: %w", cfg.Workload.Type, err)
}

// Validate checks the parameters of one point. The error is for the author of the run.
func Validate(cfg *result.Config) error {
	d, err := find(cfg)
	if err != nil {
		return err
	}
	return named(cfg, d.Validate(cfg))
}

// LeastSeconds is for how long an attempt measures and rests at least, of parameters that are valid; 0 if that is not asked
// for.
func LeastSeconds(cfg *result.Config) int64 {
	least := int64(cfg.LimitSeconds)
	w, err := New(cfg)
	if err != nil { // another program makes the load
		return least
	}
	if chain, staged := w.(workload.Staged); staged {
		for _, s := range chain.Stages() {
			least += int64(s.Seconds)
			if s.Rest != nil {
				least += int64(s.Rest.AtLeast / time.Second)
			}
		}
	}
	return least
}

// Pod is what the workload needs of its loader's Pod.
func Pod(cfg *result.Config) (workload.Pod, error) {
	d, err := find(cfg)
	if err != nil || d.Pod == nil {
		return workload.Pod{}, err
	}
	needs, err := d.Pod(cfg)
	return needs, named(cfg, err)
}

// IsTool says whether another program makes the load. It is false for a workload that is not known.
func IsTool(cfg *result.Config) bool {
	d, err := find(cfg)
	return err == nil && d.NewTool != nil
}

// Primes says whether the load can prime a new server. It is false for a workload that is not known.
func Primes(cfg *result.Config) bool {
	d, err := find(cfg)
	return err == nil && d.Primes
}

// New makes the load of the loader's own clients. It is an error if another program makes it.
func New(cfg *result.Config) (workload.Workload, error) {
	d, err := find(cfg)
	switch {
	case err != nil:
		return nil, err
	case d.New == nil:
		return nil, fmt.Errorf("workload %s is made by another program", d.Type)
	}
	w, err := d.New(cfg)
	return w, named(cfg, err)
}

// NewTool makes the load of another program. It is an error if the loader's own clients make it.
func NewTool(in workload.ToolInput) (workload.Tool, error) {
	d, err := find(in.Config)
	switch {
	case err != nil:
		return nil, err
	case d.NewTool == nil:
		return nil, fmt.Errorf("workload %s is made by the loader itself", d.Type)
	}
	t, err := d.NewTool(in)
	return t, named(in.Config, err)
}
