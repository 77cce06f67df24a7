// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestDryRun prints a run without a cluster, and refuses one that is not valid.
func TestDryRun(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	dry := []string{"run", "-f", "-", "--dry-run=client", "--set", "workload.commitSize.rows=10000"}
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		code      int
		out, errs string
	}{
		"its name": {runWith("database: {}"), append(dry, "-o", "name"), ExitFine, "benchmarkrun.benchrun.dev/a\n", ""},
		"a rule": {
			runWith("database: {}"), append(dry, "--set", "workload.commitSize.rowsPerCommit=10001"), ExitError, "",
			"BenchmarkRun a: spec.workload.commitSize: Invalid value: rowsPerCommit must not be above rows\nerror: BenchmarkRun a is not valid\n",
		},
		"no file": {"", []string{"run", "sizes"}, ExitError, "", "error: -f FILE is missing; - is the standard input\n"},
		"a file":  {runWith("database: {}"), []string{"run", "-f", "-", "--dry-run=client"}, ExitFine, "benchmarkrun.benchrun.dev/a created (dry run)\n", ""},
		"more than runs": {
			runWith("database: {}") + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: sql}}\n",
			[]string{"run", "-f", "-"},
			ExitError, "",
			"error: - also contains ConfigMap sql, which is not a run: create everything with `kubectl apply -f -`, then use " +
				"`kubectl benchrun watch NAME`\n",
		},
		"nothing": {"---\n", []string{"run", "-f", "-"}, ExitError, "", "error: there are no runs in the file\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runMain(t, tc.stdin, tc.arguments...)
			if code != tc.code || out != tc.out || errs != tc.errs {
				t.Errorf("exit code %d\n%s%s\nwant %d\n%s%s", code, out, errs, tc.code, tc.out, tc.errs)
			}
		})
	}
}

// TestCompletion: names of runs; and a script for kubectl.
func TestCompletion(t *testing.T) {
	cl := fakeCluster(testutil.MakeRun("sizes", "ns").Obj(), testutil.MakeVariants("pair", "ns", "a", "b").Obj(), testutil.MakeRun("far", "other").Obj())
	command := new(cobra.Command)
	command.SetContext(t.Context())
	must.Same(t, "what is got", []string{"pair", "sizes"}, named(command, client.Reader(cl), "ns"))
	if code, out, errs := runMain(t, "", "__complete", "run", "--dry-run", ""); code != ExitFine || !strings.HasPrefix(out, "none\nclient\n") {
		t.Error(code, out, errs)
	}
	code, out, _ := runMain(t, "", "completion", "kubectl")
	if code != ExitFine || !strings.HasPrefix(out, "#!/bin/sh\n") || !strings.Contains(out, "kubectl benchrun __complete \"$@\"") {
		t.Error(code, out)
	}
}

// A file's run under another name, with other fields: those of a variant by its name.
func TestRunChanged(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const file = `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: gate}
spec:
  database: {image: "mariadb:11.8"}
  workload: {type: CommitSize, commitSize: {}}
  variants: [{name: base}, {name: new, database: {settings: {flushLogAtTrxCommit: 0}}}]
`
	const set, run = "variants.new.database.image=mariadb:12", "database.image=mariadb:12"
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		code      int
		says      string
	}{
		"another name":  {file, []string{"pr-7"}, ExitFine, "name: pr-7\n"},
		"of a variant":  {file, []string{"--set", set}, ExitFine, "image: mariadb:12\n      settings:\n        flushLogAtTrxCommit: 0\n    name: new\n"},
		"of its rounds": {file, []string{"--set", "spec.rounds.atMost=8"}, ExitFine, "atMost: 8\n"},
		"of a run":      {runWith("database: {}"), []string{"b", "--set", run}, ExitFine, "image: mariadb:12\n"},
		"a variant that is not there": {
			file,
			[]string{"--set", "variants.nwe.database.image=x"},
			ExitError,
			`--set variants.nwe.database.image=x: spec.variants has no element "nwe"; it has base, new`,
		},
		"a variant and nothing of it": {file, []string{"--set", "variants.new=x"}, ExitError, "spec.variants.new has no value of its own"},
		"no field of a variant":       {file, []string{"--set", "variants.new.img=x"}, ExitError, `spec.variants.new has no field "img"; it has database, loader, name`},
		"of all variants":             {file, []string{"--set", run}, ExitFine, "  database:\n    image: mariadb:12\n"},
		"two":                         {file + "---\n" + runWith("database: {}"), []string{"x"}, ExitError, "NAME and --set take a file with one run, but there are 2"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runMain(t, tc.stdin, append([]string{"run", "-f", "-", "--dry-run=client", "-o", "yaml"}, tc.arguments...)...)
			if code != tc.code || !strings.Contains(out+errs, tc.says) {
				t.Errorf("exit code %d\n%s%s\nwant %d, %q", code, out, errs, tc.code, tc.says)
			}
		})
	}
}

func TestSetAll(t *testing.T) {
	got := map[string]any{"workload": map[string]any{"type": "CommitSize"}}
	must.Do(t, setAll(got, []string{
		"database.image=mariadb:11.8", "workload.commitSize.rows=10000", "spec.workload.commitSize.sweep.rowsPerCommit=1,16,256", "database.storage.size=2Gi",
		"database.variables.innodb_flush_method=O_DIRECT", "database.settings.binaryLog=false",
		"database.resources.limits.memory=1Gi", "trials.repetitions=6", "database.nodeSelector.kubernetes.io/hostname=a",
		"claims=[{name: best, bestAt: {at: {parameters: {rowsPerCommit: '16'}}}}]",
	}))
	want := map[string]any{
		"database": map[string]any{
			"image": "mariadb:11.8", "storage": map[string]any{"size": "2Gi"}, "settings": map[string]any{"binaryLog": false},
			"variables":    map[string]any{"innodb_flush_method": "O_DIRECT"},
			"resources":    map[string]any{"limits": map[string]any{"memory": "1Gi"}},
			"nodeSelector": map[string]any{"kubernetes.io/hostname": "a"},
		},
		"workload": map[string]any{"type": "CommitSize", "commitSize": map[string]any{
			"rows": int64(10000), "sweep": map[string]any{"rowsPerCommit": []any{int64(1), int64(16), int64(256)}},
		}},
		"trials": map[string]any{"repetitions": int64(6)},
		"claims": []any{map[string]any{"name": "best", "bestAt": map[string]any{"at": map[string]any{
			"parameters": map[string]any{"rowsPerCommit": "16"},
		}}}},
	}
	must.Same(t, "what is got", want, got)
}

// TestSetErrors: a mistake is answered by what is allowed there.
func TestSetErrors(t *testing.T) {
	for setting, says := range map[string]string{
		"workload.commitsize.rows=1": `spec.workload has no field "commitsize"; it has bulkInsert, commitSize, custom, dataFrom, iiBench, limits, ` +
			"pgbench, schemaFrom, statements, sysbench, tprochLoad, type",
		"workload.commitSize.row=1":                 `spec.workload.commitSize has no field "row"; it has asPublished, commit, points, rampSeconds, ratePerSecond, rows, rowsPerCommit, sweep`,
		"workload.commitSize.rows=many":             "spec.workload.commitSize.rows is a number: cannot unmarshal string",
		"workload.commitSize.rows=":                 "spec.workload.commitSize.rows is a number: a value is missing",
		"workload.commitSize.rows.more=1":           "spec.workload.commitSize.rows has no fields: spec.workload.commitSize.rows.more is too long",
		"workload.commitSize.sweep.rowsPerCommit=a": "spec.workload.commitSize.sweep.rowsPerCommit is a list, for example 1,2,3, each a number",
		"workload.commitSize=1":                     "spec.workload.commitSize is an object with the fields asPublished, commit, points, rampSeconds, ratePerSecond, rows, rowsPerCommit, sweep",
		"workload.commitSize.points=[{rows: 1}]":    `a list of objects with the fields commit, ratePerSecond, rowsPerCommit: unknown field "rows"`,
		"database.storage.size=much":                "spec.database.storage.size is a quantity",
		"database.storage.size.x=1":                 "spec.database.storage.size has no fields",
		"database.settings.binaryLog=maybe":         "spec.database.settings.binaryLog is true or false",
		"database.variables=1":                      "spec.database.variables is a map: write the key after a dot",
		"seed":                                      "write PATH=VALUE",
		"=1":                                        `spec has no field ""`,
	} {
		must.Fail(t, setAll(map[string]any{}, []string{setting}), says)
	}
}

const nameReferences = "../../config/kustomize/name-references.yaml"

// kustomized is what kustomize makes of a run and one with variants that name a ConfigMap which it generates.
func kustomized(t *testing.T, more string) string {
	t.Helper()
	const own = "{type: Sysbench, sysbench: {scriptFrom: {name: script, key: own.lua}, seconds: 1}}"
	folder := t.TempDir()
	references := must.Get(os.ReadFile(nameReferences))(t)
	for file, text := range map[string]string{
		"name-references.yaml": string(references),
		"own.lua":              "function event() end\n",
		"run.yaml":             "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec: {database: {}, workload: " + own + "}\n",
		"variants.yaml": "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: c}\nspec:\n  database: {}\n  workload: " +
			own + "\n  variants: [{name: one}, {name: two, workload: {sysbench: {scriptFrom: {name: script, key: own.lua}}}}]\n",
		"kustomization.yaml": "resources: [run.yaml, variants.yaml]\nconfigMapGenerator: [{name: script, files: [own.lua]}]\n" + more,
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
	resources := must.Get(krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder))(t)
	text := must.Get(resources.AsYaml())(t)
	return string(text)
}

// With the file that Benchrun ships, kustomize renames what runs name; without it, validate says what is missing.
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

// Every field of the API that names a ConfigMap, a Secret or a claim of the user is in the file: it is called so, or has a name
// beside a key.
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
	must.Do(t, err)
	named := map[string]bool{}
	for _, r := range file.NameReference {
		for _, f := range r.FieldSpecs {
			named[f.Kind+" "+f.Path] = true
		}
	}
	reference := regexp.MustCompile(`/(\w+From|\w*[sS]ecret(Name)?|\w*[cC]onfigMap(Name)?|\w*[cC]laim(Name)?|\w*Secrets/name)$`)
	found := 0
	text = must.Get(os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml"))(t)
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	must.Do(t, yaml.Unmarshal(text, &crd))
	properties := crd.Spec.Versions[0].Schema.OpenAPIV3Schema["properties"].(map[string]any)
	paths := fieldsBelow("spec", properties["spec"].(map[string]any))
	has := func(path string) bool { return slices.Contains(paths, path) }
	for _, path := range paths {
		object, isName := strings.CutSuffix(path, "/name")
		if reference.MatchString(path) && !has(path+"/name") && !has(path+"/persistentVolumeClaim") || isName && has(object+"/key") {
			found++
			if !named["BenchmarkRun "+path] {
				t.Errorf("%s is missing", path)
			}
		}
	}
	must.Same(t, "the file", len(named), found)
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

// The SQL that stands beside a run is read before the cluster has it.
func TestValidateReadsTheSchema(t *testing.T) {
	const schema = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: schema}\ndata: {own.sql: 'CREATE TABLE inserts (a INT); DROP TABLE shop.orders'}\n---\n"
	const spec = "spec: {database: {}, workload: {type: BulkInsert, bulkInsert: {rows: 10}, schemaFrom: {name: schema, key: own.sql}}}"
	const run = "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\n" + spec
	variants := strings.TrimSuffix(run, "}") + ", variants: [{name: one}, {name: two, database: {settings: {flushLogAtTrxCommit: 0}}}]}"
	for text, want := range map[string]string{
		schema + run:      "BenchmarkRun a: spec.workload.schemaFrom: own.sql: statement 2, line 1: shop.orders names another schema",
		schema + variants: "BenchmarkRun a: spec.variants[one]: workload.schemaFrom: own.sql: statement 2",
		strings.ReplaceAll(schema, "shop.", "bench.") + run: "BenchmarkRun a: valid",
		run: "BenchmarkRun a: valid",
	} {
		if _, out, _ := runMain(t, text, "validate", "-f", "-"); !strings.Contains(out, want) {
			t.Errorf("%s\nthere is no %q in\n%s", text, want, out)
		}
	}
}

func TestValidateWarnsOfProgramsOnOtherServers(t *testing.T) {
	const run = "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec:\n" +
		"  database: {provisioner: External, external: {host: db, credentialsSecretName: bench}}\n" +
		"  workload: {type: Sysbench, sysbench: {scriptFrom: {name: scripts, key: a.lua}}}\n"
	code, out, _ := runMain(t, run, "validate", "-f", "-")
	if code != ExitFine || !strings.Contains(out, `; warning: workload.sysbench.scriptFrom runs a program of yours on a server that was there before`) {
		t.Errorf("%d: %s", code, out)
	}
}

// Variants that ask for the same are a test of the cluster, or a mistake: it says so.
func TestValidateEqualVariants(t *testing.T) {
	const lazy = "database: {settings: {flushLogAtTrxCommit: 0}}"
	for variants, want := range map[string]string{
		"{name: one}, {name: two}": " trials; all variants are equal (an A/A test); alternation: ",
		"{name: one}, {name: two, " + lazy + "}, {name: three, " + lazy + "}": " trials; equal to an earlier variant: three; alternation: ",
		"{name: one}, {name: two, " + lazy + "}":                              " trials; alternation: ",
	} {
		if _, out, errs := runMain(t, runWith("database: {}\n  variants: ["+variants+"]"), "validate", "-f", "-"); !strings.Contains(out, want) {
			t.Errorf("%s: there is no %q in %s%s", variants, want, out, errs)
		}
	}
}
