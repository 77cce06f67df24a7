// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// sysbench is the wire form of a Sysbench workload.
func sysbench(w *v1alpha1.SysbenchWorkload, data v1alpha1.DataLifetime) *result.Sysbench {
	s := &result.Sysbench{
		Script: string(w.Script), Threads: w.Threads, Tables: w.Tables, TableSize: w.TableSize, Scale: w.Scale,
		Rate: ptr.Deref(w.Rate, 0), Seconds: ptr.Deref(w.Seconds, 0), Events: ptr.Deref(w.Events, 0),
		WarmupSeconds: ptr.Deref(w.WarmupSeconds, 0), Percentile: w.Percentile, RandType: string(w.RandType),
		KeepData: data == v1alpha1.DataKeep,
	}
	for name, value := range w.Options {
		if s.Options == nil {
			s.Options = map[string]string{}
		}
		s.Options[name] = string(value)
	}
	switch {
	case w.ScriptFrom != nil:
		s.ScriptFile = result.ScriptPath + "/" + w.ScriptFrom.Key
		for _, command := range w.ScriptFrom.Commands {
			s.Commands = append(s.Commands, string(command))
		}
		slices.Sort(s.Commands)
	case w.Script == v1alpha1.SysbenchScriptTPCC:
		s.Commands = []string{"check", "cleanup", "prepare"}
	default:
		s.Commands = []string{"cleanup", "prepare"}
	}
	return s
}

// custom is the wire form of a Custom workload, with its parameters in their places.
func custom(w *v1alpha1.CustomWorkload) (*result.Custom, error) {
	c := &result.Custom{Files: w.FilesFrom != "", Parameters: map[string]string{}}
	for name, value := range w.Parameters {
		c.Parameters[name] = string(value)
	}
	for _, part := range []struct {
		from []v1alpha1.CustomArgument
		to   *[]string
	}{{w.Command, &c.Command}, {w.Prepare, &c.Prepare}, {w.Cleanup, &c.Cleanup}} {
		for _, argument := range part.from {
			text, err := substitute(string(argument), c.Parameters)
			if err != nil {
				return nil, err
			}
			*part.to = append(*part.to, text)
		}
	}
	for name, value := range w.Env {
		text, err := substitute(string(value), c.Parameters)
		if err != nil {
			return nil, err
		}
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[name] = text
	}
	if w.Result != nil {
		c.Pattern = w.Result.Pattern
		for _, m := range w.Result.Metrics {
			c.Metrics = append(c.Metrics, result.CustomMetric{
				Name: m.Name, Unit: m.Unit, Better: strings.ToLower(string(m.Better)),
			})
		}
	}
	return c, nil
}

// substitute replaces each ${name} with the parameter's value. What a value holds is not looked at again.
func substitute(text string, parameters map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := parameters[name]
		if !closed || !known {
			return "", fmt.Errorf("%q has ${%s}, which workload.custom.parameters does not name", text, name)
		}
		out.WriteString(value)
		text = after
	}
}
