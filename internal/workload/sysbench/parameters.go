// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "Sysbench", Shared: true, Validate: workload.Checked(parameters), Pod: pod, NewTool: NewTool,
}

// Parameters are those of the API's member sysbench at one point. Options that are nil are not passed to sysbench.
type Parameters struct {
	// Script is the name of one that comes with the loader; empty if ScriptFrom is set.
	Script     string      `json:"script,omitempty"`
	ScriptFrom *ScriptFrom `json:"scriptFrom,omitempty"`
	// AsPublished is None, empty for None, or SysbenchTPCC: script tpcc then sends the statements of the published one.
	AsPublished   string `json:"asPublished,omitempty"`
	Clients       int32  `json:"clients"`
	Tables        *int32 `json:"tables,omitempty"`
	TableSize     *int64 `json:"tableSize,omitempty"`
	Scale         *int32 `json:"scale,omitempty"`
	RatePerSecond int32  `json:"ratePerSecond,omitempty"`
	// Seconds and Events end the measured phase; 0 is unset.
	Seconds       int32             `json:"seconds,omitempty"`
	Events        int64             `json:"events,omitempty"`
	WarmupSeconds int32             `json:"warmupSeconds,omitempty"`
	Percentile    int32             `json:"percentile"`
	RandType      string            `json:"randType"`
	Options       map[string]string `json:"options,omitempty"`
}

// ScriptFrom is a script of the user's in a ConfigMap, whose other keys are files that the script may load.
type ScriptFrom struct {
	Name string `json:"name"`
	Key  string `json:"key"`
	// Commands of the script besides run: prepare, check, cleanup.
	Commands []string `json:"commands,omitempty"`
}

const (
	asPublishedNone = "None"
	// asPublishedTPCC is for script tpcc.
	asPublishedTPCC = "SysbenchTPCC"
	// defaultSeconds is what the API says of a load without seconds and events.
	defaultSeconds = 60
)

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	switch {
	case err != nil:
		return nil, err
	case (p.Script == "") == (p.ScriptFrom == nil):
		return nil, errors.New("one of script and scriptFrom must be set")
	case p.Seconds < 0 || p.Events < 0:
		return nil, fmt.Errorf("seconds is %d and events is %d: they must be at least 1, or unset", p.Seconds, p.Events)
	}
	if p.Seconds == 0 && p.Events == 0 {
		p.Seconds = defaultSeconds
	}
	if p.Script == scriptTPCC && !driverOf(cfg).tpcc {
		return nil, fmt.Errorf("script %s speaks MySQL's SQL: use another script, or workload Pgbench, with engine %s", p.Script,
			cfg.Server.Engine)
	}
	return p, cmp.Or(
		workload.AtLeast("clients", p.Clients, 1),
		p.checkScript(), p.checkCompat(), p.checkSize(), p.checkTables(cfg), p.checkShare(workload.ShareOf(cfg)),
		p.checkStatements(cfg))
}

func (p *Parameters) script() script {
	if p.ScriptFrom != nil {
		return script{writes: true}
	}
	return allScripts[p.Script]
}

func (p *Parameters) checkScript() error {
	if p.ScriptFrom != nil {
		return nil
	}
	if _, known := allScripts[p.Script]; !known {
		return fmt.Errorf("script %s is unknown; use one of %s", p.Script, strings.Join(Scripts(), ", "))
	}
	if _, is := microbenchmarks[p.Script]; !is {
		return nil
	}
	for _, option := range slices.Sorted(maps.Keys(p.Options)) {
		// Those about connections, random numbers and the storage engine are not about what a script sends.
		prefix, _, found := strings.Cut(underscored(option), "_")
		if !found || !slices.Contains([]string{"mysql", "pgsql", "db", "rand"}, prefix) {
			return fmt.Errorf("options: %s cannot be set with script %s, whose options belong to its name, but for those that begin with "+
				"mysql, pgsql, db or rand: leave it out, or use one of sysbench's own scripts", option, p.Script)
		}
	}
	return nil
}

func (p *Parameters) checkCompat() error {
	if p.AsPublished == asPublishedTPCC && p.Script != scriptTPCC {
		return fmt.Errorf("asPublished %s is for script %s", asPublishedTPCC, scriptTPCC)
	}
	return workload.OneOf("asPublished", p.AsPublished, "", asPublishedNone, asPublishedTPCC)
}

func (p *Parameters) checkSize() error {
	oneTable := strings.HasPrefix(p.Script, "select_random_")
	switch {
	case p.Script == "":
		return nil
	case p.Script != scriptTPCC && p.Scale != nil,
		p.Script == scriptTPCC && p.TableSize != nil,
		p.Script == scriptBulkInsert && (p.Tables != nil || p.TableSize != nil),
		oneTable && p.Tables != nil && *p.Tables != 1:
		return fmt.Errorf("script %s has no such parameter: tpcc takes tables and scale, bulk_insert neither tables nor tableSize, "+
			"select_random_points and select_random_ranges tableSize, the others tables and tableSize", p.Script)
	case p.Script == scriptBulkInsert && p.WarmupSeconds > 0:
		return errors.New("script bulk_insert takes no warmupSeconds: it fills empty tables")
	}
	return nil
}

func (p *Parameters) checkShare(share workload.Share) error {
	err := share.Enough("clients", int64(p.Clients))
	if p.RatePerSecond > 0 {
		err = cmp.Or(err, share.Enough("ratePerSecond", int64(p.RatePerSecond)))
	}
	if p.Events > 0 {
		err = cmp.Or(err, share.Enough("events", p.Events))
	}
	if p.Script == scriptBulkInsert && share.Pods > 1 {
		err = cmp.Or(err, errors.New("script bulk_insert loads from one Pod, because it names its tables by the numbers of "+
			"its threads: loader.pods must be 1"))
	}
	return err
}

// commands of the script besides run.
func (p *Parameters) commands() []string {
	switch {
	case p.ScriptFrom != nil:
		return p.ScriptFrom.Commands
	case p.Script == scriptTPCC:
		return []string{"check", "cleanup", "prepare"}
	}
	return []string{"cleanup", "prepare"}
}

// pod has sysbench, and the user's script with all that is beside it: it may load other files.
func pod(cfg *result.Config) (workload.Pod, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return workload.Pod{}, err
	}
	needs := workload.Pod{Bundle: workload.BundleSysbench, Work: true}
	if p.ScriptFrom != nil {
		needs.Files = p.ScriptFrom.Name
	}
	return needs, nil
}
