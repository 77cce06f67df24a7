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
have jq || apt_install jq || die "install jq: it reads the results"
kubectl get configmap bench-operator-results -o jsonpath='{.data.results\.json}' | jq -r '
	def seconds: (.[:19] + "Z" | fromdateiso8601) + ("0" + (.[19:] | rtrimstr("Z")) | tonumber);
	[.attempts[] | select(.summary) | .summary.identity | {started: (.started | seconds), ended: (.ended | seconds)}] as $trials |
	[range(1; $trials | length) | $trials[.].started - $trials[. - 1].ended] | sort | map(. * 100 | round / 100) |
	"dead time between \(length + 1) trials: median \(.[(length - 1) / 2 | floor]) s (\(first)–\(last) s)"'
kubectl delete "$run" --timeout=2m >/dev/null
