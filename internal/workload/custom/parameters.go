// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package custom

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Definition of the workload.
var Definition = workload.Definition{Type: "Custom", Validate: workload.Checked(parameters), Pod: pod, NewTool: NewTool}

// Parameters are those of the API's member custom at one point.
type Parameters struct {
	// Image, User and FilesFrom are for the code that makes the Pod.
	Image     string `json:"image"`
	User      int64  `json:"user,omitempty"`
	FilesFrom string `json:"filesFrom,omitempty"`
	// Command, Prepare, Cleanup and Env may have ${name} of Parameters.
	Command []string          `json:"command"`
	Prepare []string          `json:"prepare,omitempty"`
	Cleanup []string          `json:"cleanup,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Parameters with their values at this point.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Result is nil if the program writes a result file.
	Result *Result `json:"result,omitempty"`
}

// Result finds numbers in the program's output.
type Result struct {
	Pattern string   `json:"pattern"`
	Metrics []Metric `json:"metrics"`
}

// Metric is a group of a pattern.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Better is Higher or Lower.
	Better string `json:"better"`
}

// parameters reads and checks them, and puts the values of Parameters in their places.
func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	switch {
	case err != nil:
		return nil, err
	case len(p.Command) == 0 || p.Command[0] == "":
		return nil, errors.New("command is empty")
	}
	if err := p.substitute(); err != nil {
		return nil, err
	}
	if p.Result == nil {
		return p, nil
	}
	pattern, err := regexp.Compile(p.Result.Pattern)
	if err != nil {
		return nil, fmt.Errorf("result.pattern: %w", err)
	}
	for _, m := range p.Result.Metrics {
		if pattern.SubexpIndex(m.Name) < 0 {
			return nil, fmt.Errorf("result.pattern has no group named %s", m.Name)
		}
	}
	return p, nil
}

// substitute replaces each ${name} with the parameter's value.
func (p *Parameters) substitute() error {
	for _, list := range []struct {
		name string
		args []string
	}{{"command", p.Command}, {"prepare", p.Prepare}, {"cleanup", p.Cleanup}} {
		for i, text := range list.args {
			replaced, err := substituted(text, p.Parameters)
			if err != nil {
				return fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
			list.args[i] = replaced
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		replaced, err := substituted(p.Env[name], p.Parameters)
		if err != nil {
			return fmt.Errorf("env.%s: %w", name, err)
		}
		p.Env[name] = replaced
	}
	return nil
}

// substituted is a text with the parameters' values. A value is not substituted again.
func substituted(text string, parameters map[string]string) (string, error) {
	var out strings.Builder
	for rest := text; ; {
		before, behind, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(behind, "}")
		value, known := parameters[name]
		if !closed || !known {
			return "", fmt.Errorf("%q has a ${…} that parameters does not name", text)
		}
		out.WriteString(value)
		rest = after
	}
}

// pod is one of the user's image, in which the loader starts the program.
func pod(cfg *result.Config) (workload.Pod, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return workload.Pod{}, err
	}
	return workload.Pod{Image: p.Image, User: p.User, Work: true, Files: p.FilesFrom}, nil
}
