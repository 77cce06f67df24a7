// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// configMaps are the keys of those that a stream has beside runs and comparisons, by name.
type configMaps map[string]map[string]bool

func configMapsOf(all []manifest) configMaps {
	found := configMaps{}
	for i := range all {
		o := all[i].object
		if o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
			continue
		}
		keys := map[string]bool{}
		for _, field := range []string{"data", "binaryData"} {
			values, _ := o.Object[field].(map[string]any)
			for key := range values {
				keys[key] = true
			}
		}
		found[o.GetName()] = keys
	}
	return found
}

// hashed is what kustomize adds to the name of a ConfigMap that it has made.
var hashed = regexp.MustCompile(`^-[a-z0-9]{10}$`)

// lacks says what a run or a comparison that is valid wants of ConfigMaps, and that the ConfigMaps of its stream do not have. One
// that is not in the stream may be in the cluster.
func (m configMaps) lacks(object *unstructured.Unstructured) []string {
	var lines []string
	for _, run := range runsOf(object) {
		load := &run.Spec.Workload
		if load.SchemaFrom != nil {
			lines = append(lines, m.lacking("workload.schemaFrom", load.SchemaFrom.Name, load.SchemaFrom.Key)...)
		}
		if load.Sysbench != nil && load.Sysbench.ScriptFrom != nil {
			from := load.Sysbench.ScriptFrom
			lines = append(lines, m.lacking("workload.sysbench.scriptFrom", from.Name, from.Key)...)
		}
		if load.Custom != nil && load.Custom.FilesFrom != "" {
			lines = append(lines, m.lacking("workload.custom.filesFrom", load.Custom.FilesFrom, "")...)
		}
	}
	return slices.Compact(lines)
}

func (m configMaps) lacking(path, name, key string) []string {
	keys, found := m[name]
	switch {
	case found && (key == "" || keys[key]):
		return nil
	case found:
		return []string{fmt.Sprintf("%s.key: ConfigMap %s has no key %s; it has %s", path, name, key,
			strings.Join(slices.Sorted(maps.Keys(keys)), ", "))}
	}
	for _, other := range slices.Sorted(maps.Keys(m)) {
		if suffix, same := strings.CutPrefix(other, name); same && hashed.MatchString(suffix) {
			return []string{fmt.Sprintf("%s: there is no ConfigMap %s, which kustomize has called %s: name "+
				"config/kustomize/name-references.yaml of Benchrun in the configurations of your kustomization", path, name, other)}
		}
	}
	return nil
}

// runsOf is a run, or those of a comparison's variants; none if the object is neither.
func runsOf(object *unstructured.Unstructured) []*v1alpha1.BenchmarkRun {
	run, comparison := new(v1alpha1.BenchmarkRun), new(v1alpha1.BenchmarkComparison)
	if object.GetKind() == plan.RunKind {
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, run) != nil {
			return nil
		}
		return []*v1alpha1.BenchmarkRun{run}
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, comparison) != nil {
		return nil
	}
	var runs []*v1alpha1.BenchmarkRun
	for i := range comparison.Spec.Variants {
		runs = append(runs, plan.MemberRun(comparison, plan.Member{Variant: i}))
	}
	return runs
}
