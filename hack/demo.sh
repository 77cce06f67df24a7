#!/usr/bin/env bash
# demo.sh — measures the eleven commit sizes of config/samples/commit-size.yaml on the kind cluster and prints the result.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

kubectl() { "$BIN/kubectl" "$@"; }
run=benchmarkrun/commit-size

kubectl delete "$run" --ignore-not-found --timeout=2m >/dev/null
echo '$ kubectl apply -f config/samples/commit-size.yaml'
kubectl apply -f "$REPO/config/samples/commit-size.yaml"
echo "\$ kubectl get $run --watch"
kubectl get "$run" --watch &
watch=$!
trap 'kill $watch 2>/dev/null || true' EXIT
if ! kubectl wait --for=condition=Finished --timeout=20m "$run" >/dev/null; then
	kubectl describe "$run" >&2
	die "the run has not finished"
fi
kill $watch 2>/dev/null || true
wait $watch 2>/dev/null || true
echo
echo "\$ kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'"
kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'
[ "$(kubectl get "$run" -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}')" = True ] || die "the run has failed"
