#!/usr/bin/env bash
# demo.sh [--record] — measures the commit sizes of config/samples/commit-size.yaml on the kind cluster and prints the
# result. --record puts what is printed into README.md, in place of the last time's.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

run=benchmarkrun/commit-size

# show COMMAND… prints a command as a user would type it, and runs it.
show() {
	echo "\$ $*"
	"$@"
}

measure() {
	kubectl delete "$run" --ignore-not-found --timeout=2m >&2
	show kubectl apply -f config/samples/commit-size.yaml
	kubectl get "$run" --watch --no-headers >&2 &
	local watch=$!
	trap 'kill "$watch"' EXIT
	show kubectl wait --for=condition=Finished --timeout=15m "$run"
	kill "$watch" && trap - EXIT # here, because a subshell may end without its trap
	show kubectl get "$run"
	echo "\$ kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'"
	kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'
}

if [ "${1:-}" = --record ]; then
	OUTPUT=$(measure)
	export OUTPUT
	awk '
		/^<!-- \/demo -->/ { skip = 0 }
		!skip { print }
		/^<!-- demo -->/ { print "```"; print ENVIRON["OUTPUT"]; print "```"; skip = 1 }
	' README.md >"$BIN/README.new"
	mv "$BIN/README.new" README.md
else
	measure
fi
[ "$(kubectl get "$run" -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}')" = True ] ||
	die "the run has failed: kubectl describe $run"
