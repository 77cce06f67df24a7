// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// configMapKey is a key of a ConfigMap.
type configMapKey struct{ name, key string }

// scriptsOf are the texts of the ConfigMaps among manifests.
func scriptsOf(all []manifest) map[configMapKey]string {
	scripts := map[configMapKey]string{}
	for i := range all {
		object := all[i].object
		if object.GetAPIVersion() != "v1" || object.GetKind() != "ConfigMap" {
			continue
		}
		// What is no text is nothing that a ConfigMap may have: the API server says so.
		data, _, _ := unstructured.NestedStringMap(object.Object, "data")
		for key, text := range data {
			scripts[configMapKey{object.GetName(), key}] = text
		}
	}
	return scripts
}

// checkSchema checks the SQL of a run, if it stands beside it.
func (c *checker) checkSchema(run *v1alpha1.BenchmarkRun) error {
	from := run.Spec.Workload.SchemaFrom
	if from == nil {
		return nil
	}
	script, there := c.scripts[configMapKey{from.Name, from.Key}]
	if !there {
		return nil
	}
	return validation.CheckSchema(run, script)
}

// warning is what a summary ends with about a run that is valid.
func warning(run *v1alpha1.BenchmarkRun) string {
	if text := validation.Warning(&run.Spec); text != "" {
		return "; warning: " + text
	}
	return ""
}
