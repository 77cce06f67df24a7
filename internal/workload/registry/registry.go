// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registry finds the workload that a configuration names.
package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/program"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// workloads has a constructor for each workload that the loader itself makes, by its name in the API.
var workloads = map[string]func(*result.Config) (workload.Workload, error){
	"BulkInsert": bulkinsert.New,
	"CommitSize": commitsize.New,
	"IIBench":    iibench.New,
	"TPROCHLoad": tprochload.New,
}

// tools has one for each workload that another program makes.
var tools = map[string]func(workload.ToolInput) (workload.Tool, error){
	"Sysbench": program.NewSysbench,
	"Custom":   program.NewCustom,
}

// New returns the workload that the configuration names. The error is about its parameters and fit for the person
// who wrote them.
func New(cfg *result.Config) (workload.Workload, error) {
	construct, known := workloads[cfg.Workload.Type]
	if !known {
		return nil, fmt.Errorf("workload type %q is not known to this loader, it knows %s",
			cfg.Workload.Type, strings.Join(slices.Sorted(maps.Keys(workloads)), ", "))
	}
	if err := workload.CheckShare(cfg); err != nil {
		return nil, err
	}
	w, err := construct(cfg)
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", cfg.Workload.Type, err)
	}
	return w, nil
}

// IsTool says whether another program makes a workload.
func IsTool(workloadType string) bool {
	_, found := tools[workloadType]
	return found
}

// NewTool returns the program that the configuration names, for which IsTool must hold. The error is as New's.
func NewTool(in workload.ToolInput) (workload.Tool, error) {
	if err := workload.CheckShare(in.Config); err != nil {
		return nil, err
	}
	return tools[in.Config.Workload.Type](in)
}
