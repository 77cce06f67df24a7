//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestEnvtestNulls: a name without a value is refused by name, in a run, in a template and in a variant, however it is sent.
// internal/apischema has the same for every map; this asks a real API server, which has to keep the null until its rules see it.
func TestEnvtestNulls(t *testing.T) {
	const (
		commits  = "workload: {type: CommitSize, commitSize: {rows: 100}}"
		sysbench = "workload: {type: Sysbench, sysbench: {script: oltp_read_only, %}}"
		custom   = "workload: {type: Custom, custom: {image: a, command: [b], result: {pattern: '(?P<x>.)', metrics: [{name: x, unit: s}]}, %}}"
	)
	for name, spec := range map[string]string{
		"variables":         "database: {variables: {max_connections: '300', skip_this: }}, " + commits,
		"node selector":     "database: {nodeSelector: {skip_this: }}, " + commits,
		"resources":         "database: {resources: {limits: {skip_this: }}}, " + commits,
		"loader":            "loader: {nodeSelector: {skip_this: }}, " + commits,
		"pod labels":        "podMetadata: {labels: {skip_this: }}, " + commits,
		"options":           strings.Replace(sysbench, "%", "options: {range_size: '10', skip_this: }", 1),
		"swept options":     strings.Replace(sysbench, "%", "sweep: {options: {skip_this: }}", 1),
		"parameters":        strings.Replace(custom, "%", "parameters: {skip_this: }", 1),
		"environment":       strings.Replace(custom, "%", "env: {skip_this: }", 1),
		"claimed parameter": "claims: [{name: a, monotonic: {parameter: rowsPerCommit, direction: Rising, among: {parameters: {skip_this: }}}}], " + commits,
	} {
		overlaid := !strings.HasPrefix(spec, "loader") && !strings.HasPrefix(spec, "podMetadata") && !strings.HasPrefix(spec, "claims")
		if !strings.Contains(spec, "database") {
			spec = "database: {}, " + spec
		}
		run := "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: nulls, namespace: default}\nspec: {" + spec + "}"
		documents := map[string]string{"run": run, "variant": strings.Replace(minimalVariants, "durable}", "durable, "+spec+"}", 1)}
		if !overlaid {
			delete(documents, "variant")
		}
		for kind, text := range documents {
			t.Run(name+" of a "+kind, func(t *testing.T) {
				for way, send := range map[string]func() error{
					"create": func() error { return dryRun(t, parsedWithNulls(t, text)) },
					"apply": func() error {
						return api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(parsedWithNulls(t, text)),
							client.ForceOwnership, client.FieldOwner("test"), client.DryRunAll)
					},
				} {
					const want = `skip_this: no value: write one, as in "ON" or ""`
					if err := send(); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v", way, err)
					}
				}
			})
		}
	}
}

// parsedWithNulls is a YAML document as it stands.
func parsedWithNulls(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := new(unstructured.Unstructured)
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return object
}
