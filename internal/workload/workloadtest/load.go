// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workloadtest

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Load is what a loader is told of a workload with these parameters. It panics if they are not JSON.
func Load(d workload.Definition, parameters any) result.Workload {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		panic(fmt.Sprintf("encoding the parameters of %s: %v", d.Type, err))
	}
	return result.Workload{Type: d.Type, Parameters: encoded}
}
