#!/usr/bin/env bash
# bench-operator.sh — how long nothing is measured between two trials: a run of 20 trials of 200 rows on the kind cluster.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

run=benchmarkrun/bench-operator
kubectl delete "$run" --ignore-not-found --timeout=2m >/dev/null
kubectl apply -f - >/dev/null <<YAML
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench-operator}
spec:
  database: {image: "mariadb:11.8", storage: {size: 1Gi}}
  workload: {type: CommitSize, commitSize: {rows: 200}}
  trials: {repetitions: 20}
YAML
kubectl wait --for=condition=Complete --timeout=10m "$run" >/dev/null
kubectl get configmap bench-operator-results -o jsonpath='{.data.results\.json}' | go run ./test/deadtime
kubectl delete "$run" --timeout=2m >/dev/null
