//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"
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
