//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestEnvtestConnectionRules(t *testing.T) {
	external := func(more string) string {
		return spec(`database: {provisioner: External, external: {host: db.example.com, credentialsSecretName: mine}` + more + `}`)
	}
	operator := func(more string) string { return spec(`database: {provisioner: MariaDBOperator` + more + `}`) }
	checkRules(t, minimal, map[string]rule{
		"external goes with its provisioner": {
			allowed: []string{external(""), external(`, settings: {bufferPoolSize: 128Mi}, variables: {sync_binlog: "1"}`)},
			refused: []string{
				spec(`database: {provisioner: External}`), operator(`, external: {host: a, credentialsSecretName: b}`),
				spec(`database: {external: {host: a, credentialsSecretName: b}}`),
			},
			says: "provisioner External goes with external (host, credentialsSecretName)",
		},
		"external servers are not made": {
			refused: []string{
				external(`, image: "mariadb:11.8"`), external(`, storage: {size: 1Gi}`), external(`, nodeSelector: {a: b}`),
				external(`, resources: {limits: {memory: 1Gi}}`), external(`, priorityClassName: x`),
			},
			says: "are for servers that Benchrun makes: leave them out with provisioner External",
		},
		"external servers are not fresh": {
			refused: []string{spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b}}, trials: {server: PerTrial}`)},
			says:    "trials.server: PerRound and PerTrial need a provisioner that makes servers",
		},
		"host": {
			allowed: []string{
				spec(`database: {provisioner: External, external: {host: "fd00::17", credentialsSecretName: b}}`),
				spec(`database: {provisioner: External, external: {host: 10.0.0.7, port: 65535, credentialsSecretName: b}}`),
			},
			refused: []string{
				spec(`database: {provisioner: External, external: {host: "a b", credentialsSecretName: b}}`),
				spec(`database: {provisioner: External, external: {host: "tcp(a)/", credentialsSecretName: b}}`),
			},
			says: "external.host",
		},
		"port":        {refused: []string{spec(`database: {provisioner: External, external: {host: a, port: 65536, credentialsSecretName: b}}`)}, says: "less than or equal to 65535"},
		"credentials": {refused: []string{spec(`database: {provisioner: External, external: {host: a}}`)}, says: "credentialsSecretName: Required value"},
		"schema": {
			allowed: []string{spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: scratch_1}}`)},
			refused: []string{
				spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: mysql}}`),
				spec(`database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: SYS}}`),
			},
			says: "are the server's own: use another schema",
		},
		"schema's characters": {
			refused: []string{spec("database: {provisioner: External, external: {host: a, credentialsSecretName: b, schema: \"a`b\"}}")},
			says:    "external.schema",
		},
		"TLS": {
			allowed: []string{
				spec(`database: {tls: {mode: Required}}`), operator(`, tls: {mode: VerifyIdentity}`),
				external(`, tls: {mode: VerifyIdentity, caSecretName: ca}`), external(`, tls: {mode: VerifyIdentity}`),
			},
			refused: []string{spec(`database: {tls: {mode: VerifyIdentity}}`)},
			says:    "tls.mode must be Disabled or Required",
		},
		"authority of another mode": {
			refused: []string{external(`, tls: {mode: Required, caSecretName: ca}`), external(`, tls: {caSecretName: ca}`)},
			says:    "tls.caSecretName goes with tls.mode VerifyIdentity",
		},
		"the MariaDB operator's authority": {
			refused: []string{operator(`, tls: {mode: VerifyIdentity, caSecretName: ca}`)}, says: "brings its own authority",
		},
		"the MariaDB operator's disks": {
			allowed: []string{operator(`, storage: {size: 1Gi}`)},
			refused: []string{operator(`, storage: {medium: Memory}`), operator(`, storage: {medium: NodeDisk}`)},
			says:    "the others need provisioner StatefulSet",
		},
	})
}

// from is an overlay of a workload with the data of a claim, and what else is said of them.
func from(more string) string {
	return spec("workload: {dataFrom: {persistentVolumeClaim: mine, path: a/b.csv" + more + "}}")
}

// own is the same with a schema of the user's.
func own(more string) string {
	return spec("workload: {schemaFrom: {name: mine, key: a.sql}, dataFrom: {persistentVolumeClaim: mine, path: a/b.csv" + more + "}}")
}

// TestEnvtestDataRules asks a real API server about each rule of dataFrom and schemaFrom.
func TestEnvtestDataRules(t *testing.T) {
	const schema = "workload: {schemaFrom: {name: mine, key: a.sql}}"
	checkRules(t, minimalBulkInsert, map[string]rule{
		"path": {
			allowed: []string{from(""), from(", path: ."), from(", path: a..b/.c/d"), from(", path: \"ä b\"")},
			refused: []string{from(", path: /a"), from(", path: ../a"), from(", path: a/../b"), from(", path: a/..")},
			says:    "path is relative to the volume: it begins without / and has no ..",
		},
		"path is needed":  {refused: []string{from(", path: null"), from(`, path: ""`)}, says: "path"},
		"claim is needed": {refused: []string{spec("workload: {dataFrom: {path: a}}")}, says: "persistentVolumeClaim: Required value"},
		"claim":           {refused: []string{from(", persistentVolumeClaim: a/b")}, says: "persistentVolumeClaim in body should match"},
		"format": {
			allowed: []string{from(", format: TSV"), from(", format: CSV")}, refused: []string{from(", format: JSON")},
			says: `supported values: "TSV", "CSV"`,
		},
		"separator": {
			allowed: []string{
				from(`, separator: ";"`), from(`, separator: "|"`), from(`, separator: "\t"`), from(`, separator: " "`), from(`, separator: "^"`),
				from(`, separator: "["`), from(`, separator: "]"`), from(`, separator: "-"`), from(`, separator: "~"`), from(", separator: '`'"),
			},
			refused: []string{from(`, separator: "a"`), from(`, separator: "0"`), from(`, separator: "\\"`), from(`, separator: "\""`), from(`, separator: "'"`), from(`, separator: "\n"`), from(`, separator: "ß"`)},
			says:    "separator is one ASCII character",
		},
		"empty fields": {
			allowed: []string{from(`, emptyIs: "NULL"`), from(", emptyIs: EmptyString")},
			refused: []string{from(`, emptyIs: "null"`), from(`, emptyIs: ""`)}, says: `supported values: "EmptyString", "NULL"`,
		},
		"separator's length": {refused: []string{from(`, separator: "||"`)}, says: "may not be more than 1"},
		"header": {
			allowed: []string{from(", headerLines: 0"), from(", headerLines: 100")},
			refused: []string{from(", headerLines: -1"), from(", headerLines: 101")}, says: "headerLines",
		},
		"table": {
			allowed: []string{own(", table: Own_1")},
			refused: []string{own(", table: a.b"), own(`, table: "a b"`)}, says: "table in body should match",
		},
		"table needs schema": {refused: []string{from(", table: own")}, says: "dataFrom.table needs schemaFrom"},
		"loader's tables":    {refused: []string{own(", table: benchrun_attempts")}, says: "names that begin with benchrun_"},
		"columns": {
			allowed: []string{from(", columns: [a, b_1, c$]")},
			refused: []string{from(", columns: [a-b]"), from(", columns: ['a`']")}, says: "columns[0] in body should match",
		},
		"columns are different": {refused: []string{from(", columns: [a, b, a]")}, says: "Duplicate value"},
		"one pod": {
			allowed: []string{from("") + "\n"},
			refused: []string{spec("loader: {pods: 2}, workload: {dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			says:    "one Pod reads a file of dataFrom",
		},
		"schema": {
			allowed: []string{spec(schema)},
			refused: []string{spec("workload: {schemaFrom: {name: mine}}"), spec("workload: {schemaFrom: {key: a.sql}}")}, says: "Required value",
		},
	})
	checkRules(t, tprochMinimal, map[string]rule{
		"options of files": {
			allowed: []string{from("")},
			refused: []string{
				from(", format: CSV"), from(`, separator: "|"`), from(`, emptyIs: "NULL"`), from(", headerLines: 1"), own(", table: own"), from(", columns: [a]"),
			},
			says: "TPROCHLoad reads files as HammerDB writes them",
		},
		"staged": {
			refused: []string{spec("loader: {scratch: {}}, workload: {tprochLoad: {data: Staged}, dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			says:    "data: Staged is for generated data",
		},
		"keys": {
			allowed: []string{spec(schema), own("")},
			refused: []string{spec("workload: {tprochLoad: {indexes: After}, schemaFrom: {name: mine, key: a.sql}}")},
			says:    "with schemaFrom, its SQL defines all keys",
		},
		"scale": {
			allowed: []string{spec("workload: {tprochLoad: {sweep: {loadMode: [OneStatement]}}, dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			later: []string{
				spec(`workload: {tprochLoad: {sweep: {scaleFactor: ["1"]}}, dataFrom: {persistentVolumeClaim: mine, path: a}}`),
				spec(`workload: {tprochLoad: {points: [{scaleFactor: "1"}]}, dataFrom: {persistentVolumeClaim: mine, path: a}}`),
			},
			says: "scaleFactor cannot be swept with dataFrom",
		},
	})
	for says, overlay := range map[string]string{
		"dataFrom is for BulkInsert and TPROCHLoad":   from(""),
		"schemaFrom is for BulkInsert and TPROCHLoad": spec(schema),
	} {
		for _, base := range []string{minimal, minimalIIBench, minimalCustom} {
			checkRules(t, base, map[string]rule{"other workloads": {refused: []string{overlay}, says: says}})
		}
	}
}

// TestEnvtestHostTuningRules asks a real API server about database.hostTuning.
func TestEnvtestHostTuningRules(t *testing.T) {
	tuned := func(s string) string { return spec("database: {hostTuning: {" + s + "}}") }
	checkRules(t, minimal, map[string]rule{
		"values": {
			allowed: []string{tuned("swappiness: 0"), tuned("swappiness: 200, ioScheduler: none, transparentHugePages: never")},
			refused: []string{tuned("swappiness: -1"), tuned("swappiness: 201"), tuned("ioScheduler: ../sda"), tuned("transparentHugePages: on")},
			says:    "spec.database.hostTuning.",
		},
		"nothing asked": {refused: []string{tuned("")}, says: "should have at least 1 properties"},
		"provisioner": {
			refused: []string{spec("database: {provisioner: MariaDBOperator, hostTuning: {swappiness: 1}}")},
			says:    "hostTuning needs provisioner StatefulSet",
		},
		"no disk": {
			allowed: []string{spec("database: {storage: {medium: Memory}, hostTuning: {swappiness: 1}}")},
			refused: []string{spec("database: {storage: {medium: Memory}, hostTuning: {ioScheduler: none}}")},
			says:    "hostTuning.ioScheduler needs a disk",
		},
	})
}

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

// claim is an overlay with one claim, about a run with three points.
func claim(s string) string {
	return spec("claims: [{name: c, " + s + "}], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
}

const ofTo = `of: {parameters: {rowsPerCommit: "16"}}, to: {parameters: {rowsPerCommit: "1"}}`

func TestEnvtestClaimRules(t *testing.T) {
	ratio := func(s string) string { return claim("ratio: {" + ofTo + ", " + s + "}") }
	ratioOf := func(s string) string {
		return claim("ratio: {of: " + s + ", to: {parameters: {rowsPerCommit: 1}}, withinPercent: 5}")
	}
	figures := func(n int) string {
		return claim("ratio: {" + ofTo + `, atLeast: "8"}, published: [` +
			strings.Repeat(`{of: {parameters: {rowsPerCommit: "1"}}, value: "78"},`, n) + "]")
	}
	many := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{name: c%d, bestAt: {at: {parameters: {rowsPerCommit: "16"}}}}`, i))
		}
		return spec("claims: [" + strings.Join(list, ", ") + "], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
	}
	checkRules(t, minimal, map[string]rule{
		"ratio":           {allowed: []string{ratio(`atLeast: "8"`), ratio(`atMost: "7.25"`), ratio(`atLeast: "0.5", atMost: "2"`)}},
		"ratio's bound":   {refused: []string{claim("ratio: {" + ofTo + "}"), ratio(`atLeast: "1", withinPercent: 5`)}, says: "set withinPercent, or atLeast, atMost or both"},
		"numbers":         {refused: []string{ratio(`atLeast: "0"`), ratio(`atLeast: "0.0"`)}, says: "write a number above 0 in quotes"},
		"form of numbers": {refused: []string{ratio(`atLeast: "-1"`), ratio(`atLeast: "1e3"`), ratio(`atLeast: "8x"`)}, says: "should match"},
		"quotes":          {refused: []string{ratio("atLeast: 8")}, says: "must be of type string"},
		"values": {
			allowed: []string{
				ratioOf("{parameters: {rowsPerCommit: 16}}"),
			},
			refused: []string{ratioOf("{parameters: {rowsPerCommit: " + strings.Repeat("a", 257) + "}}")},
			says:    "may not be more than 256 bytes",
		},
		"a value with a point": {refused: []string{ratioOf("{parameters: {rowsPerCommit: 1.5}}")}, says: "rowsPerCommit"},
		"one of four": {
			refused: []string{
				claim("statement: nothing"), claim("ratio: {" + ofTo + `, atLeast: "8"}, value: {of: {variant: a}, atLeast: "8"}`),
			},
			says: "a claim has exactly one of value, ratio, bestAt and monotonic",
		},
		"no difference": {
			allowed: []string{ratio("withinPercent: 1"), ratio("withinPercent: 50")},
			refused: []string{ratio("withinPercent: 51"), ratio("withinPercent: 0")}, says: "withinPercent",
		},
		"value": {
			allowed: []string{claim(`value: {of: {parameters: {rowsPerCommit: 16}}, atMost: "20000"}`)},
			refused: []string{claim("value: {of: {variant: a}}")}, says: "set atLeast or atMost, or both",
		},
		"monotonic": {
			allowed: []string{claim("monotonic: {parameter: rowsPerCommit, direction: Rising}")},
			refused: []string{claim("monotonic: {parameter: rowsPerCommit, direction: Up}")}, says: `"Rising", "Falling"`,
		},
		"best":            {allowed: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "16"}}}`)}},
		"published":       {allowed: []string{figures(1), figures(32)}, refused: []string{figures(33)}, says: "published"},
		"number of them":  {allowed: []string{many(16)}, refused: []string{many(17)}, says: "spec.claims"},
		"an empty list":   {refused: []string{spec("claims: []")}, says: "spec.claims"},
		"named alike":     {refused: []string{strings.Replace(many(2), "c1", "c0", 1)}, says: "Duplicate value"},
		"no such point":   {later: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "2"}}}`)}, says: "claim c: bestAt: rowsPerCommit=2 names no point"},
		"not swept":       {later: []string{claim(`bestAt: {at: {parameters: {clients: "2"}}}`)}, says: "claim c: bestAt: clients=2 names no point"},
		"a variant":       {later: []string{claim("ratio: {of: {variant: a}, to: {variant: b}, atLeast: \"2\"}")}, says: "claim c: of: a names no point"},
		"nothing named":   {refused: []string{claim(`ratio: {of: {}, to: {parameters: {rowsPerCommit: "1"}}, atLeast: "2"}`)}, says: "ratio.of: Invalid value: 0: spec.claims[0].ratio.of in body should have at least 1 properties"},
		"among nothing":   {refused: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "16"}}, among: {}}`)}, says: "at least 1 properties"},
		"order of two":    {later: []string{spec("claims: [{name: c, monotonic: {parameter: rowsPerCommit, direction: Rising}}], " + commits("1, 2"))}, says: "an order takes at least 3"},
		"order of others": {later: []string{claim("monotonic: {parameter: rows, direction: Rising}")}, says: "has no parameter rows"},
	})
	checkRules(t, minimalVariants, map[string]rule{
		"variants":   {allowed: []string{spec(`claims: [{name: c, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "2"}}]`)}},
		"no variant": {later: []string{spec(`claims: [{name: c, ratio: {of: {variant: other}, to: {variant: durable}, atLeast: "2"}}]`)}, says: "of: other names no point"},
	})
}

// minimalVariants is the shortest run that compares something.
const minimalVariants = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {settings: {flushLogAtTrxCommit: 1}}
  workload: {type: CommitSize, commitSize: {rows: 100}}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`

// lazy is an overlay with a second variant that says this.
func lazy(s string) string { return "spec: {variants: [{name: durable}, {name: lazy, " + s + "}]}" }

func TestEnvtestVariantRules(t *testing.T) {
	named := func(length int) string {
		return spec("variants: [{name: durable}, {name: " + strings.Repeat("v", length) + "}]")
	}
	list := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("{name: v%d}", i))
		}
		return spec("variants: [" + strings.Join(names, ", ") + "]")
	}
	checkRules(t, minimalVariants, map[string]rule{
		"name of a variant": {
			allowed: []string{spec("variants: [{name: durable}, {name: 2-x}]")},
			refused: []string{spec("variants: [{name: durable}, {name: Lazy}]"), spec("variants: [{name: durable}, {name: a-}]")},
			says:    "should match",
		},
		"long name of a variant": {allowed: []string{named(20)}, refused: []string{named(21)}, says: "may not be more than 20"},
		"number of variants":     {allowed: []string{list(2), list(16)}, refused: []string{list(17)}, says: "spec.variants"},
		"variants named alike":   {refused: []string{spec("variants: [{name: a}, {name: a}]")}, says: "Duplicate value"},
		"title": {
			allowed: []string{lazy("title: flushed once a second")}, refused: []string{lazy("title: " + strings.Repeat("t", 129))},
			says: "title",
		},
		"rounds": {
			allowed: []string{spec("rounds: {atMost: 200}"), spec("rounds: {atMost: 6}"), spec("rounds: {atMost: 2, until: All}")},
			refused: []string{spec("rounds: {atMost: 1, until: All}"), spec("rounds: {atMost: 201}")}, says: "spec.rounds.atMost",
		},
		"fewest rounds": {refused: []string{spec("rounds: {atLeast: 5}")}, says: "greater than or equal to 6"},
		"alternation": {
			allowed: []string{spec("alternation: Trials"), spec("alternation: Slices"), spec("alternation: Runs, trials: {repetitions: 50}")},
			refused: []string{spec("alternation: Points")}, says: `supported values: "Automatic", "Runs", "Trials", "Slices"`,
		},
		"alternation of new servers": {
			later: []string{spec("alternation: Trials, trials: {server: PerTrial}"), spec("alternation: Slices, trials: {server: PerTrial}")},
			says:  "use alternation: Runs",
		},
		"servers": {
			allowed: []string{spec("trials: {server: PerRound}"), spec("trials: {server: PerTrial}")},
			refused: []string{spec("trials: {server: Reused}")}, says: "trials.server is PerRound or PerTrial with variants",
		},
		"until":      {refused: []string{spec("rounds: {until: Never}")}, says: `supported values: "Decided", "OverallDecided", "All"`},
		"difference": {allowed: []string{spec("equivalentWithinPercent: 50")}, refused: []string{spec("equivalentWithinPercent: 51")}, says: "equivalentWithinPercent"},
		"overlays": {
			allowed: []string{
				lazy("database: {image: mariadb:10.11, storage: {storageClassName: fast}, resources: {limits: {cpu: 2}}}"),
				lazy("database: {variables: {sync_binlog: '1'}}"), lazy("workload: {commitSize: {rowsPerCommit: 16}}"),
				spec("workload: {commitSize: {sweep: {rowsPerCommit: [1, 4]}}}, " +
					"variants: [{name: durable}, {name: lazy, workload: {commitSize: {sweep: {rowsPerCommit: [1, 2]}}, limits: {seconds: 1}}}]"),
			},
			later: []string{lazy("workload: {commitSize: {sweep: {rowsPerCommit: [2, 3]}}}")},
			says:  "variant lazy has no point in common with the baseline durable",
		},
		"bounds of an overlay": {refused: []string{lazy("database: {settings: {flushLogAtTrxCommit: 4}}")}, says: "less than or equal to 3"},
		"unknown field of an overlay": {
			refused: []string{lazy("database: {setings: {}}"), lazy("trials: {order: Sequential}"), lazy("loader: {pod: 2}")},
			says:    "unknown field",
		},
		"rules of what is replaced as a whole": {
			refused: []string{lazy("database: {variables: {log_bin: 'OFF'}}")}, says: "log_bin=OFF would switch it on",
		},
	})
}

// The API server fills no default into an overlay: it would be laid over the run.
func TestEnvtestOverlaysHaveNoDefaults(t *testing.T) {
	object := parsed(t, minimalVariants, lazy("database: {storage: {}, tls: {}}, workload: {commitSize: {}, limits: {}}"))
	must.Do(t, dryRun(t, object))
	var run v1alpha1.BenchmarkRun
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	v := run.Spec.Variants[1]
	if v.Database.Engine != "" || v.Database.Provisioner != "" || v.Database.Storage.Medium != "" || v.Database.TLS.Mode != "" ||
		v.Workload.CommitSize.Rows != nil || v.Workload.CommitSize.AsPublished != "" {
		t.Errorf("the overlay has defaults: %+v, %+v", v.Database, v.Workload.CommitSize)
	}
}
