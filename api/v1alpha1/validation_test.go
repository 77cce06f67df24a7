//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestEnvtestRules asks a real API server about each rule: once what it allows, once what it refuses and with which words.
func TestEnvtestRules(t *testing.T) {
	checkRules(t, minimal, map[string]rule{
		"name length": {
			allowed: []string{"metadata: {name: " + strings.Repeat("a", 40) + "}"},
			refused: []string{"metadata: {name: " + strings.Repeat("a", 41) + "}", "metadata: {name: 1a}", "metadata: {name: a.b}"},
			says:    "a run's name has at most 40 characters",
		},
		"rows": {
			allowed: []string{spec("workload: {commitSize: {rows: 1}}")},
			refused: []string{spec("workload: {commitSize: {rows: -1}}"), spec("workload: {commitSize: {rows: 1000000001}}")},
			says:    "spec.workload.commitSize.rows",
		},
		"pod metadata": {
			allowed: []string{spec("podMetadata: {labels: {team: db}, annotations: {sidecar.istio.io/inject: 'false'}}")},
			refused: []string{spec("podMetadata: {labels: {benchrun.dev/run: other}}"), spec("podMetadata: {labels: {app.kubernetes.io/name: x}}")},
			says:    "labels of benchrun.dev and app.kubernetes.io are Benchrun's own",
		},
		"no pod metadata": {
			refused: []string{spec("podMetadata: {labels: {}}")},
			says:    "spec.podMetadata.labels",
		},
		"servers": {
			allowed: []string{spec("trials: {server: Reused}"), spec("trials: {server: PerTrial}")},
			refused: []string{spec("trials: {server: PerRound}")}, says: "trials.server is PerRound or PerTrial with variants",
		},
		"metric": {
			allowed: []string{spec("metric: transactionP99Micros")},
			refused: []string{spec("metric: p-99"), spec("metric: ''")}, says: "spec.metric",
		},
		"title": {
			allowed: []string{spec("title: commit sizes on NVMe")},
			refused: []string{spec("title: " + strings.Repeat("a", 129))},
			says:    "spec.title",
		},
		"lane": {
			allowed: []string{spec("lane: " + strings.Repeat("a", 40)), spec("lane: disk-1")},
			refused: []string{spec("lane: " + strings.Repeat("a", 41)), spec("lane: Disk"), spec("lane: a.b"), spec("lane: -a"), spec("lane: a-")},
			says:    "spec.lane",
		},
		"by time": {
			allowed: []string{spec("workload: {commitSize: {rows: null, sweep: {rowsPerCommit: [1, 1024]}}, limits: {seconds: 1}}")},
			refused: []string{spec("workload: {commitSize: {rows: 0}, limits: {seconds: 1}}")},
			says:    "spec.workload.commitSize.rows",
		},
		"rows per commit": {
			allowed: []string{spec("workload: {commitSize: {rows: 100, rowsPerCommit: 100}}")},
			refused: []string{spec("workload: {commitSize: {rows: 100, rowsPerCommit: 101}}")},
			says:    "rowsPerCommit must not be above rows",
		},
		"workload type": {
			refused: []string{spec("workload: {type: Nonsense}")},
			says:    `supported values: "CommitSize"`,
		},
		"workload member": {
			allowed: []string{spec("workload: {commitSize: {}}")},
			refused: []string{spec("workload: {commitSize: null}")},
			says:    "the member commitSize goes with type CommitSize, which needs it",
		},
		"another member": {
			refused: []string{
				spec("workload: {bulkInsert: {}}"), spec("workload: {iiBench: {}}"), spec("workload: {tprochLoad: {}}"),
				spec("workload: {sysbench: {script: tpcc}}"), spec("workload: {custom: {image: a, command: [b]}}"),
			},
			says: "which needs it",
		},
		"asPublished": {
			allowed: []string{spec("workload: {commitSize: {asPublished: Isotopp}}")},
			refused: []string{spec("workload: {commitSize: {asPublished: isotopp}}")},
			says:    `supported values: "None", "Isotopp"`,
		},
		"limit": {
			allowed: []string{spec("workload: {limits: {seconds: 1}}"), spec("workload: {limits: {errorPercent: 100}}")},
			refused: []string{spec("workload: {limits: {seconds: 0}}")},
			says:    "greater than or equal to 1",
		},
		"errors": {
			allowed: []string{spec("workload: {limits: {errorPercent: 0}}")},
			refused: []string{spec("workload: {limits: {errorPercent: 101}}")},
			says:    "less than or equal to 100",
		},
		"engine": {
			allowed: []string{spec("database: {engine: MariaDB}")},
			refused: []string{spec("database: {engine: Oracle}")},
			says:    `supported values: "MariaDB"`,
		},
		"provisioner": {
			refused: []string{spec("database: {provisioner: Magic}")},
			says:    `supported values: "StatefulSet"`,
		},
		"variable names": {
			allowed: []string{spec(`database: {variables: {innodb_flush_method: O_DIRECT, loose_some_thing: "1"}}`)},
			refused: []string{
				spec(`database: {variables: {innodb-flush-method: O_DIRECT}}`),
				spec(`database: {variables: {"a b": x}}`),
				spec(`database: {variables: {"x\n[client]": "y"}}`),
			},
			says: "a variable's name is lower case letters, digits, underscores and dots",
		},
		"operator's variables": {
			refused: []string{
				spec(`database: {variables: {datadir: /x}}`), spec(`database: {variables: {loose_datadir: /x}}`),
				spec(`database: {variables: {port: "1"}}`), spec(`database: {variables: {socket: x}}`),
				spec(`database: {variables: {bind_address: x}}`), spec(`database: {variables: {user: x}}`),
			},
			says: "reserved for the operator",
		},
		"binary log": {
			allowed: []string{spec(`database: {settings: {binaryLog: true}}`)},
			refused: []string{spec(`database: {variables: {log_bin: "OFF"}}`), spec(`database: {variables: {skip_log_bin: ""}}`)},
			says:    "log_bin=OFF would switch it on",
		},
		"line break in a variable": {
			allowed: []string{spec(`database: {variables: {init_connect: "SELECT 1; SELECT 2"}}`)},
			refused: []string{spec(`database: {variables: {init_connect: "a\nb"}}`), spec(`database: {variables: {init_connect: "a\rb"}}`)},
			says:    "should match '^[^\\r\\n]*$'",
		},
		"said twice": {
			allowed: []string{spec(`database: {variables: {innodb_buffer_pool_size: 128M}}`)},
			refused: []string{spec(`database: {settings: {bufferPoolSize: 64Mi}, variables: {innodb_buffer_pool_size: 128M}}`)},
			says:    "settings.bufferPoolSize sets innodb_buffer_pool_size",
		},
		"log file size said twice": {
			allowed: []string{spec(`database: {variables: {innodb_log_file_size: 128M}}`)},
			refused: []string{spec(`database: {settings: {redoLogSize: 64Mi}, variables: {loose_innodb_log_file_size: 128M}}`)},
			says:    "settings.redoLogSize sets innodb_log_file_size",
		},
		"an engine that is not known": {
			allowed: []string{spec(`database: {engine: MySQL, settings: {redoLogSize: 8Mi, flushLogAtTrxCommit: 2}}`)},
			refused: []string{spec(`database: {engine: Oracle}`)},
			says:    `supported values: "MariaDB", "MySQL"`,
		},
		"MySQL by the MariaDB operator": {
			allowed: []string{spec(`database: {engine: MySQL, provisioner: External, external: {host: h, credentialsSecretName: s}}`)},
			refused: []string{
				spec(`database: {engine: MySQL, provisioner: MariaDBOperator}`), spec(`database: {image: "mysql:8.4", provisioner: MariaDBOperator}`),
			},
			says: "with engine MySQL it must be StatefulSet or External",
		},
		"MySQL's log file bound": {
			allowed: []string{spec(`database: {image: "mysql.example/mariadb:11.8", settings: {redoLogSize: 7Mi}}`)},
			refused: []string{
				spec(`database: {engine: MySQL, settings: {redoLogSize: 7Mi}}`),
				spec(`database: {image: "mysql:9.7", settings: {redoLogSize: 7Mi}}`),
				spec(`database: {image: "example.com:5000/percona/percona-server@sha256:0", settings: {redoLogSize: 7Mi}}`),
			},
			says: "at least 8Mi with engine MySQL",
		},
		"MySQL's flush bound": {
			refused: []string{
				spec(`database: {engine: MySQL, settings: {flushLogAtTrxCommit: 3}}`),
				spec(`database: {image: mysql, settings: {flushLogAtTrxCommit: 3}}`),
			},
			says: "0, 1 or 2 with engine MySQL",
		},
		"redo log capacity said twice": {
			allowed: []string{spec(`database: {engine: MySQL, variables: {innodb_redo_log_capacity: 128M}}`)},
			refused: []string{spec(`database: {engine: MySQL, settings: {redoLogSize: 64Mi}, variables: {innodb_redo_log_capacity: 128M}}`)},
			says:    "settings.redoLogSize sets innodb_log_file_size or, with engine MySQL, innodb_redo_log_capacity",
		},
		"flush said twice": {
			refused: []string{spec(`database: {settings: {flushLogAtTrxCommit: 1}, variables: {innodb_flush_log_at_trx_commit: "2"}}`)},
			says:    "settings.flushLogAtTrxCommit sets innodb_flush_log_at_trx_commit",
		},
		"buffer pool below memory": {
			allowed: []string{spec(`database: {settings: {bufferPoolSize: 1Gi}, resources: {limits: {memory: 2Gi}}}`)},
			refused: []string{
				spec(`database: {settings: {bufferPoolSize: 2Gi}, resources: {limits: {memory: 2Gi}}}`),
				spec(`database: {settings: {bufferPoolSize: 3Gi}, resources: {limits: {memory: 2048Mi}}}`),
			},
			says: "bufferPoolSize must be below resources.limits.memory",
		},
		"buffer pool bound":  {refused: []string{spec(`database: {settings: {bufferPoolSize: 1Mi}}`)}, says: "at least 5Mi"},
		"log file bound":     {refused: []string{spec(`database: {settings: {redoLogSize: 1Mi}}`)}, says: "at least 4Mi"},
		"flush log bound":    {refused: []string{spec(`database: {settings: {flushLogAtTrxCommit: 4}}`)}, says: "less than or equal to 3"},
		"no quantity":        {refused: []string{spec(`database: {settings: {bufferPoolSize: 12Xi}}`)}, says: "bufferPoolSize"},
		"storage size bound": {refused: []string{spec(`database: {storage: {size: 1Mi}}`)}, says: "at least 256Mi"},
		"block I/O class": {
			allowed: []string{
				spec(`database: {storage: {blockIOClass: disk-100}}`), spec(`database: {storage: {blockIOClass: Slow_1.b, storageClassName: x}}`),
			},
			refused: []string{
				spec(`database: {storage: {blockIOClass: ""}}`), spec(`database: {storage: {blockIOClass: -a}}`),
				spec(`database: {storage: {blockIOClass: a b}}`), spec(`database: {storage: {blockIOClass: "` + strings.Repeat("a", 64) + `"}}`),
			},
			says: "spec.database.storage.blockIOClass",
		},
		"block I/O class of a disk": {
			allowed: []string{spec(`database: {storage: {medium: NodeDisk, blockIOClass: x}}`)},
			refused: []string{spec(`database: {storage: {medium: Memory, blockIOClass: x}}`)}, says: "a tmpfs has no disk to limit",
		},
		"block I/O class, provisioner": {
			refused: []string{spec(`database: {provisioner: MariaDBOperator, storage: {blockIOClass: x}}`)},
			says:    "storage.blockIOClass needs provisioner StatefulSet",
		},
		"medium": {
			allowed: []string{spec(`database: {storage: {medium: NodeDisk, size: 2Gi}}`)},
			refused: []string{spec(`database: {storage: {medium: Disk}}`)}, says: `supported values: "Volume", "NodeDisk", "Memory"`,
		},
		"storage class": {
			allowed: []string{spec(`database: {storage: {storageClassName: x}}`), spec(`database: {storage: {medium: Memory}}`)},
			refused: []string{
				spec(`database: {storage: {medium: Memory, storageClassName: x}}`),
				spec(`database: {storage: {medium: NodeDisk, storageClassName: x}}`),
			},
			says: "storageClassName goes with medium Volume only",
		},
		"sweep parameter": {
			allowed: []string{spec(commits("1, 2"))},
			refused: []string{
				spec("workload: {commitSize: {sweep: {rowsPerComit: [1]}}}"), spec("workload: {commitSize: {points: [{rows: 1}]}}"),
				spec("sweep: {axes: [{parameter: rowsPerCommit, values: ['1']}]}"),
			},
			says: "unknown field",
		},
		"nothing swept": {
			refused: []string{spec("workload: {commitSize: {sweep: {}}}"), spec("workload: {commitSize: {points: [{}]}}")},
			says:    "should have at least 1 properties",
		},
		"no values": {refused: []string{spec(commits("")), spec("workload: {commitSize: {points: []}}")}, says: "should have at least 1 items"},
		"swept values": {
			allowed: []string{spec(commits("100")), spec("workload: {commitSize: {points: [{rowsPerCommit: 7}]}}")},
			refused: []string{spec(commits("101")), spec("workload: {commitSize: {points: [{rowsPerCommit: 1}, {rowsPerCommit: 101}]}}")},
			says:    "rowsPerCommit must not be above rows",
		},
		"swept values are numbers": {
			refused: []string{
				spec(commits("0")), spec(commits(`"1"`)), spec(commits("1.5")), spec(commits("many")), spec(commits("1000000001")),
				spec("workload: {commitSize: {points: [{rowsPerCommit: many}]}}"), spec("workload: {commitSize: {points: [{rowsPerCommit: 0}]}}"),
			},
			says: "rowsPerCommit",
		},
		"a value twice": {refused: []string{spec(commits("1, 1"))}, says: "Duplicate value"},
		"sweep or points": {
			refused: []string{spec("workload: {commitSize: {sweep: {rowsPerCommit: [1]}, points: [{rowsPerCommit: 1}]}}")},
			says:    "set sweep or points, not both",
		},
		"sweep mode": {
			allowed: []string{spec("sweep: {mode: OneFactor}, " + commits("1"))}, refused: []string{spec("sweep: {mode: List}, " + commits("1"))},
			says: `supported values: "Grid", "OneFactor"`,
		},
		"points with a mode": {
			later: []string{spec("sweep: {mode: OneFactor}, workload: {commitSize: {points: [{rowsPerCommit: 1}]}}")},
			says:  "points are measured as they are listed",
		},
		"values of a parameter": {
			allowed: []string{spec("trials: {repetitions: 1}, workload: {commitSize: {rows: 10000, sweep: {rowsPerCommit: [" + values(1000) + "]}}}")},
			refused: []string{spec("workload: {commitSize: {rows: 10000, sweep: {rowsPerCommit: [" + values(1001) + "]}}}")},
			says:    "must have at most 1000 items",
		},
		"trials": {
			allowed: []string{spec("workload: {commitSize: {rows: 10000, sweep: {rowsPerCommit: [" + values(1000) + "]}}}, trials: {repetitions: 5}")},
			later: []string{
				spec("workload: {commitSize: {rows: 10000, sweep: {rowsPerCommit: [" + values(1000) + "]}}}, trials: {repetitions: 6}"),
				spec("workload: {commitSize: {rows: 10000, sweep: {rowsPerCommit: [" + values(500) + "]}}}, trials: {precision: {targetRelativeCIPercent: 2}}"),
			},
			says: "a run has at most 5000 trials",
		},
		"repetitions or precision": {
			allowed: []string{spec(`trials: {precision: {targetRelativeCIPercent: 2}}`), spec(`trials: {repetitions: 2}`)},
			refused: []string{spec(`trials: {repetitions: 2, precision: {targetRelativeCIPercent: 2}}`)},
			says:    "set repetitions or precision, not both",
		},
		"precision's bounds": {
			refused: []string{spec(`trials: {precision: {targetRelativeCIPercent: 2, min: 10, max: 8}}`)},
			says:    "precision.min must not be above precision.max",
		},
		"precision's order": {
			refused: []string{spec(`trials: {order: Shuffled, precision: {targetRelativeCIPercent: 2}}`)},
			says:    "precision goes with order Interleaved",
		},
		"repetitions": {refused: []string{spec(`trials: {repetitions: 0}`), spec(`trials: {repetitions: 101}`)}, says: "repetitions"},
		"data":        {refused: []string{spec(`trials: {data: Keep}`)}, says: "Keep and Restore are for workload type Sysbench"},
		"deadlines": {
			allowed: []string{spec(`trials: {startDeadlineSeconds: 10, deadlineSeconds: 10}`)},
			refused: []string{spec(`trials: {startDeadlineSeconds: 9}`), spec(`trials: {deadlineSeconds: 9}`)},
			says:    "greater than or equal to 10",
		},
		"loader pods": {refused: []string{spec(`loader: {pods: 2}`)}, says: "loader.pods must be 1"},
		"transport": {
			allowed: []string{spec(`loader: {transport: TCP}`), spec(`loader: {transport: UnixSocket, separateFromDatabase: None}`)},
			refused: []string{
				spec(`loader: {transport: UnixSocket}`), spec(`loader: {transport: UnixSocket, separateFromDatabase: Required}`),
				spec(`loader: {transport: UnixSocket, separateFromDatabase: None}, database: {tls: {mode: Required}}`),
				spec(`loader: {transport: UnixSocket, separateFromDatabase: None}, database: {provisioner: MariaDBOperator}`),
			},
			says: "loader.transport UnixSocket puts the loader beside the server",
		},
		"variants": {
			allowed: []string{
				spec("variants: [{name: a}, {name: b, database: {settings: {flushLogAtTrxCommit: 0}}, workload: {limits: {seconds: 2}}}]"),
				spec("variants: [{name: a}, {name: b}], baseline: b, alternation: Runs, rounds: {atMost: 6, until: All}, equivalentWithinPercent: 3"),
			},
			refused: []string{
				spec("baseline: a"), spec("rounds: {atMost: 6}"), spec("alternation: Runs"), spec("equivalentWithinPercent: 3"),
				spec("variants: [{name: a}, {name: b}], baseline: c"),
			},
			says: "baseline, rounds, alternation and equivalentWithinPercent need variants",
		},
		"trials of variants": {
			later: []string{spec("variants: [{name: a}, {name: b}], trials: {precision: {targetRelativeCIPercent: 2}}")},
			says:  "trials.precision is for runs without variants",
		},
		"types of variants": {
			later: []string{spec("variants: [{name: a}, {name: b, workload: {type: BulkInsert}}]")},
			says:  "variant b: workload.type must be CommitSize, as that of the run",
		},
		"few variants": {refused: []string{spec("variants: [{name: a}]")}, says: "should have at least 2 items"},
		"few rounds": {
			refused: []string{spec("variants: [{name: a}, {name: b}], rounds: {atMost: 5}")},
			says:    "rounds.atLeast (6 by default) must not be above rounds.atMost",
		},
		"seed": {allowed: []string{spec(`seed: 0`)}, refused: []string{spec(`seed: -1`)}, says: "greater than or equal to 0"},
		"unknown field": {
			refused: []string{spec(`repetitions: 3`), spec(`database: {variable: {}}`)},
			says:    "unknown field",
		},
	})
}

// rule is what the API server is asked about: overlays of a valid run. It allows some and refuses others; those of later it
// allows too, and the operator ends the run InvalidSpecification before it creates anything. says is a part of the refusal.
type rule struct {
	allowed, refused, later []string
	says                    string
}

// TestEnvtestImmutable changes each field of a stored run: only suspend and ttlSecondsAfterFinished may change.
func TestEnvtestImmutable(t *testing.T) {
	run := parsed(t, minimal, "metadata: {name: immutable}")
	must.Do(t, api.Create(t.Context(), run))
	for change, says := range map[string]string{
		"suspend: true":                                "",
		"metric: rowsPerSecond":                        "sweep, metric, capacity, podMetadata, imagePullSecrets and claims cannot be changed",
		"capacity: {atMost: '5'}":                      "capacity, podMetadata",
		"ttlSecondsAfterFinished: 5":                   "",
		"database: {settings: {bufferPoolSize: 64Mi}}": "database cannot be changed",
		"database: {variables: {sync_binlog: '1'}}":    "database cannot be changed",
		"workload: {commitSize: {rows: 7}}":            "workload cannot be changed",
		"workload: {limits: {seconds: 7}}":             "workload cannot be changed",
		commits("1"):                                   "workload cannot be changed",
		"sweep: {mode: OneFactor}":                     "title, sweep, metric, capacity, podMetadata, imagePullSecrets and claims cannot be changed",
		"title: new":                                   "title, sweep, metric, capacity, podMetadata, imagePullSecrets and claims cannot be changed",
		"podMetadata: {labels: {a: b}}":                "imagePullSecrets and claims cannot be changed",
		"trials: {repetitions: 2}":                     "trials cannot be changed",
		"loader: {separateFromDatabase: None}":         "loader cannot be changed",
		"lane: other":                                  "lane cannot be changed",
		"seed: 2":                                      "spec.seed: Invalid value: 2: seed cannot be changed",
		"placement: Any":                               "placement cannot be changed",
		"cleanup: Never":                               "cleanup cannot be changed",
		"results: {retention: Retain}":                 "results cannot be changed",
		"claims: [{name: c, value: {of: {variant: a}, atLeast: \"1\"}}]": "claims cannot be changed",
		"imagePullSecrets: [{name: other}]":                              "imagePullSecrets and claims cannot be changed",
		"variants: [{name: a}, {name: b}]":                               "variants, baseline, rounds, alternation and equivalentWithinPercent cannot be changed",
	} {
		changed := run.DeepCopy()
		merge(changed.Object, parsed(t, spec(change)).Object)
		err := api.Update(t.Context(), changed, client.DryRunAll)
		switch {
		case says == "" && err != nil:
			t.Errorf("%s is refused: %v", change, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: want %q, got %v", change, says, err)
		}
	}
}
