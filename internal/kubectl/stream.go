// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// configMaps are those that a stream has beside runs and comparisons: their texts by name and key. A key that has no text has an
// empty one.
type configMaps map[string]map[string]string

func configMapsOf(all []manifest) configMaps {
	found := configMaps{}
	for i := range all {
		o := all[i].object
		if o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
			continue
		}
		texts := map[string]string{}
		for _, field := range []string{"data", "binaryData"} {
			values, _ := o.Object[field].(map[string]any)
			for key, value := range values {
				if texts[key] = ""; field == "data" {
					texts[key], _ = value.(string)
				}
			}
		}
		found[o.GetName()] = texts
	}
	return found
}

// hashed is what kustomize adds to the name of a ConfigMap that it has made.
var hashed = regexp.MustCompile(`^-[a-z0-9]{10}$`)

// check says what a run that is valid wants of ConfigMaps and the ConfigMaps of its stream do not have, and what is wrong
// with the SQL in them. One that is not in the stream may be in the cluster.
func (m configMaps) check(run *v1alpha1.BenchmarkRun) []string {
	var lines []string
	load := &run.Spec.Workload
	if from := load.SchemaFrom; from != nil {
		lines = append(lines, m.lacking("workload.schemaFrom", from.Name, from.Key)...)
		if script, found := m[from.Name][from.Key]; found {
			if err := validation.CheckSchema(run, script); err != nil {
				lines = append(lines, err.Error())
			}
		}
	}
	if load.Sysbench != nil && load.Sysbench.ScriptFrom != nil {
		from := load.Sysbench.ScriptFrom
		lines = append(lines, m.lacking("workload.sysbench.scriptFrom", from.Name, from.Key)...)
	}
	if load.Custom != nil && load.Custom.FilesFrom != "" {
		lines = append(lines, m.lacking("workload.custom.filesFrom", load.Custom.FilesFrom, "")...)
	}
	return lines
}

func (m configMaps) lacking(path, name, key string) []string {
	texts, found := m[name]
	_, has := texts[key]
	switch {
	case found && (key == "" || has):
		return nil
	case found:
		return []string{fmt.Sprintf("%s.key: ConfigMap %s has no key %s; it has %s", path, name, key,
			strings.Join(slices.Sorted(maps.Keys(texts)), ", "))}
	}
	for _, other := range slices.Sorted(maps.Keys(m)) {
		if suffix, same := strings.CutPrefix(other, name); same && hashed.MatchString(suffix) {
			return []string{fmt.Sprintf("%s: there is no ConfigMap %s, which kustomize has called %s: name "+
				"config/kustomize/name-references.yaml of Benchrun in the configurations of your kustomization", path, name, other)}
		}
	}
	return nil
}
