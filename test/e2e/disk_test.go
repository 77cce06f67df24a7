//go:build e2e || faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import "fmt"

// onDisk is a run of commits that wait for the disk of its volume. The log is written past the page cache.
func onDisk(name, storage, workload string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database:
    image: mariadb:11.8
    settings: {flushLogAtTrxCommit: 1, binaryLog: false}
    variables: {innodb_log_file_buffering: "OFF", innodb_log_file_write_through: "ON"}
    storage: {size: 512Mi, %s}
  workload: {type: CommitSize, commitSize: %s, limits: {seconds: 3}}
  trials: {repetitions: 1}
`, name, storage, workload)
}
