// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const nameReferences = "../../config/kustomize/name-references.yaml"

// kustomized is what kustomize makes of a run and a comparison that name a ConfigMap which it generates.
func kustomized(t *testing.T, more string) string {
	t.Helper()
	const own = "{type: Sysbench, sysbench: {scriptFrom: {name: script, key: own.lua}, seconds: 1}}"
	folder := t.TempDir()
	references, err := os.ReadFile(nameReferences)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"name-references.yaml": string(references),
		"own.lua":              "function event() end\n",
		"run.yaml":             "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec: {database: {}, workload: " + own + "}\n",
		"comparison.yaml": "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkComparison\nmetadata: {name: c}\nspec:\n  template: {spec: {database: {}, workload: " +
			own + "}}\n  variants: [{name: one}, {name: two, workload: {sysbench: {scriptFrom: {name: script, key: own.lua}}}}]\n",
		"kustomization.yaml": "resources: [run.yaml, comparison.yaml]\nconfigMapGenerator: [{name: script, files: [own.lua]}]\n" + more,
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// With the file that Benchrun ships, kustomize renames what runs and comparisons name; without it, validate says what is missing.
func TestKustomize(t *testing.T) {
	stream := kustomized(t, "configurations: [name-references.yaml]\n")
	if names := regexp.MustCompile(`name: script-[a-z0-9]{10}\n`).FindAllString(stream, -1); len(names) != 4 {
		t.Errorf("%d names of the ConfigMap in\n%s", len(names), stream)
	}
	if code, out, errs := runMain(t, stream, "validate", "-f", "-"); code != ExitFine {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, _ := runMain(t, kustomized(t, ""), "validate", "-f", "-")
	const want = "workload.sysbench.scriptFrom: there is no ConfigMap script, which kustomize has called script-"
	if code != ExitError || strings.Count(out, want) != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	code, out, _ = runMain(t, strings.ReplaceAll(stream, "  own.lua:", "  other.lua:"), "validate", "-f", "-")
	if code != ExitError || !strings.Contains(out, "has no key own.lua; it has other.lua") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// Every field of the API that names a ConfigMap, a Secret or a claim of the user is in the file.
func TestNameReferences(t *testing.T) {
	var file struct {
		NameReference []struct {
			FieldSpecs []struct{ Kind, Path string }
		}
	}
	text, err := os.ReadFile(nameReferences)
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, r := range file.NameReference {
		for _, f := range r.FieldSpecs {
			named[f.Kind+" "+f.Path] = true
		}
	}
	reference := regexp.MustCompile(`/(schemaFrom/name|scriptFrom/name|filesFrom|\w*SecretName|imagePullSecrets/name|persistentVolumeClaim|\w*ConfigMapName)$`)
	found := 0
	for kind, plural := range map[string]string{"BenchmarkRun": "benchmarkruns", "BenchmarkComparison": "benchmarkcomparisons"} {
		text, err := os.ReadFile("../../config/crd/bases/benchrun.dev_" + plural + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Versions []struct {
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		properties := crd.Spec.Versions[0].Schema.OpenAPIV3Schema["properties"].(map[string]any)
		for _, path := range fieldsBelow("spec", properties["spec"].(map[string]any)) {
			if reference.MatchString(path) {
				found++
				if !named[kind+" "+path] {
					t.Errorf("%s: %s is missing", kind, path)
				}
			}
		}
	}
	if found != len(named) {
		t.Errorf("the file has %d fields, and the API %d", len(named), found)
	}
}

// fieldsBelow are the paths of all fields of a schema, as kustomize writes them.
func fieldsBelow(path string, schema map[string]any) []string {
	all := []string{path}
	if items, isList := schema["items"].(map[string]any); isList {
		schema = items
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, below := range properties {
		all = append(all, fieldsBelow(path+"/"+name, below.(map[string]any))...)
	}
	return all
}
