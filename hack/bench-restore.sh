#!/usr/bin/env bash
# bench-restore.sh — how soon a server has its data on the kind cluster: made by SQL, or restored from a copy (trials.data: Restore).
# SCALE is that of tpcc: 10, which is about 1 GB, if unset. Prints a Markdown table with a line for each server of a run: from its
# Pod's place on a node until it is up, how long making the data took then, and what the container `restore` says.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

run=bench-restore
servers=4

# condition POD TYPE is when a Pod got a condition, in seconds.
condition() { date -d "$(kubectl get pod "$1" -o jsonpath="{.status.conditions[?(@.type=='$2')].lastTransitionTime}")" +%s; }

# prepared ATTEMPT is for how many seconds the commands that prepare the data ran.
prepared() {
	kubectl get configmap "$1" -o jsonpath='{.binaryData}' | sed 's/.*:"//; s/".*//' | base64 -d | gunzip |
		grep -o '"phase":"prepare"[^}]*"micros":[0-9]*' | sed 's/.*://' | awk '{sum += $1} END {printf "%.1f", sum / 1e6}'
}

kubectl delete "benchmarkrun/$run" --ignore-not-found --timeout=2m >/dev/null
kubectl apply -f - >/dev/null <<YAML
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: $run}
spec:
  database:
    image: mariadb:11.8
    settings: {bufferPoolSize: 256Mi, redoLogSize: 256Mi, flushLogAtTrxCommit: 0, binaryLog: false}
    storage: {medium: NodeDisk, size: 4Gi}
  workload: {type: Sysbench, sysbench: {script: tpcc, scale: ${SCALE:-10}, seconds: 5}}
  trials: {data: Restore, server: PerTrial, repetitions: $((servers - 1))}
YAML
echo "| server | on a node until up, s | then made by SQL, s | restored |"
echo "| --- | ---: | ---: | --- |"
for ((i = 1; i <= servers; i++)); do
	pod=$run-db$i-0
	wait_until 1800 kubectl get pod "$pod"
	kubectl wait --for=condition=Ready --timeout=10m "pod/$pod" >/dev/null
	up=$(($(condition "$pod" Ready) - $(condition "$pod" PodScheduled)))
	restored=$(kubectl logs "$pod" -c restore)
	# The first attempt makes the data, and does not count.
	attempt=$run-t$((i > 1 ? i - 1 : 1))-a$((i == 2 ? 2 : 1))
	wait_until 3600 kubectl get configmap "$attempt"
	echo "| $i | $up | $(prepared "$attempt") | $restored |"
done
kubectl wait --for=condition=Complete --timeout=10m "benchmarkrun/$run" >/dev/null
kubectl delete "benchmarkrun/$run" --timeout=2m >/dev/null
