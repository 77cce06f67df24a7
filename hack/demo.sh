#!/usr/bin/env bash
# demo.sh [--record] — measures the eleven commit sizes of config/samples/commit-size.yaml on the kind cluster and prints the
# result. --record puts what is printed into README.md, in place of the last time's.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

kubectl() { "$BIN/kubectl" "$@"; }
run=benchmarkrun/commit-size

# show COMMAND… prints a command as a user would type it, and runs it.
show() {
	echo "\$ $*"
	"$@"
}

# follow prints the run's line of `kubectl get` whenever it changes, until it has finished.
follow() {
	local line last='' deadline=$((SECONDS + 900))
	until [ "$(kubectl get "$run" -o jsonpath='{.status.conditions[?(@.type=="Finished")].status}')" = True ]; do
		[ "$SECONDS" -lt "$deadline" ] || die "the run has not finished in 15 minutes: kubectl describe $run"
		line=$(kubectl get "$run" --no-headers)
		if [ "$(awk '{print $2, $3}' <<<"$line")" != "$last" ]; then
			echo "$line"
			last=$(awk '{print $2, $3}' <<<"$line")
		fi
		kubectl wait --for=condition=Finished --timeout=5s "$run" >/dev/null 2>&1 || true
	done
}

measure() {
	kubectl delete "$run" --ignore-not-found --timeout=2m >/dev/null
	show kubectl apply -f config/samples/commit-size.yaml
	echo "\$ kubectl wait --for=condition=Finished --timeout=15m $run"
	follow >&2
	echo "$run condition met"
	show kubectl get "$run"
	echo "\$ kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'"
	kubectl get configmap commit-size-results -o jsonpath='{.data.summary\.md}'
}

cd "$REPO"
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
