#!/usr/bin/env bash
# bench-operator.sh — how long nothing is measured between two trials: a run of 20 trials of 200 rows on the kind cluster.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

run=benchmarkrun/bench-operator
"$BIN/kubectl" delete "$run" --ignore-not-found --timeout=2m >/dev/null
"$BIN/kubectl" apply -f - >/dev/null <<YAML
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench-operator}
spec:
  database: {image: "mariadb:11.8", storage: {size: 1Gi}}
  workload: {type: CommitSize, commitSize: {rows: 200}}
  trials: {repetitions: 20}
YAML
"$BIN/kubectl" wait --for=condition=Complete --timeout=10m "$run" >/dev/null
"$BIN/kubectl" get configmap bench-operator-results -o jsonpath='{.data.results\.json}' | (cd "$REPO" && go run ./test/deadtime)
"$BIN/kubectl" delete "$run" --timeout=2m >/dev/null
