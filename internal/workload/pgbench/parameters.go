// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pgbench is the workload Pgbench: PostgreSQL's own program makes the load.
package pgbench

import (
	"cmp"
	"errors"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "Pgbench", SQL: base.PostgreSQL, Validate: workload.Checked(parameters), Pod: pod, NewTool: NewTool,
}

// Parameters are those of the API's member pgbench at one point.
type Parameters struct {
	// Script is TPCBLike, SimpleUpdate or SelectOnly; empty if ScriptFrom is set.
	Script     string      `json:"script,omitempty"`
	ScriptFrom *ScriptFrom `json:"scriptFrom,omitempty"`
	// Image has the program; empty is the installation's image of PostgreSQL.
	Image   string `json:"image,omitempty"`
	Scale   int32  `json:"scale"`
	Clients int32  `json:"clients"`
	// Protocol is Simple, Extended or Prepared.
	Protocol      string `json:"protocol"`
	RatePerSecond int32  `json:"ratePerSecond,omitempty"`
	WarmupSeconds int32  `json:"warmupSeconds,omitempty"`
}

// ScriptFrom is a script of the user's in a ConfigMap.
type ScriptFrom struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// script is one of the program's own.
type script struct {
	// builtin is its name, statements how many a transaction has; control of these begin and end it, which the server does not
	// count.
	builtin             string
	statements, control int64
	// history says that a transaction adds a row to the table of that name, and totals that it adds the same to every balance.
	history, totals bool
}

var scripts = map[string]script{
	"TPCBLike":     {builtin: "tpcb-like", statements: 7, control: 2, history: true, totals: true},
	"SimpleUpdate": {builtin: "simple-update", statements: 5, control: 2, history: true},
	"SelectOnly":   {builtin: "select-only", statements: 1},
}

// protocols by their names in the API, as the program calls them.
var protocols = map[string]string{"Simple": "simple", "Extended": "extended", "Prepared": "prepared"}

// defaultSeconds is what the API says of a load without limits.seconds.
const defaultSeconds = 60

func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return nil, err
	}
	if (p.Script == "") == (p.ScriptFrom == nil) {
		return nil, errors.New("one of script and scriptFrom must be set")
	}
	if p.ScriptFrom == nil {
		err = workload.OneOf("script", p.Script, "TPCBLike", "SimpleUpdate", "SelectOnly")
	}
	if cfg.KeepData && p.ScriptFrom != nil {
		err = errors.New("trials.data: Keep and Restore are for the program's own scripts: nobody knows what yours leaves")
	}
	return p, cmp.Or(err,
		workload.OneOf("protocol", p.Protocol, "Simple", "Extended", "Prepared"),
		workload.AtLeast("scale", p.Scale, 1), workload.AtLeast("clients", p.Clients, 1),
		workload.AtLeast("ratePerSecond", p.RatePerSecond, 0), workload.AtLeast("warmupSeconds", p.WarmupSeconds, 0))
}

// writes says whether the load changes what is in the tables.
func (p *Parameters) writes() bool { return p.ScriptFrom != nil || p.Script != "SelectOnly" }

// pod is one of the server's image, which has the program.
func pod(cfg *result.Config) (workload.Pod, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return workload.Pod{}, err
	}
	e := engine.PostgreSQL
	needs := workload.Pod{Image: p.Image, User: e.Image.User, Work: true}
	if p.Image == "" {
		needs.ImageOf = e.Name
	}
	if p.ScriptFrom != nil {
		needs.Files = p.ScriptFrom.Name
	}
	return needs, nil
}
