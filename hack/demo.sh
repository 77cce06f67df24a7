#!/usr/bin/env bash
# demo.sh [--record] — measures the commit sizes of config/samples/commit-size.yaml on the kind cluster, then asks with
# config/samples/durable-or-not.yaml whether a server that does not wait for the disk is faster, and prints the
# results. --record puts what is printed into docs/quick-start.md, and the answer into README.md, in place of the last time's.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

# show COMMAND… prints a command as a user would type it, and runs it.
show() {
	echo "\$ $*"
	"$@"
}

# measure KIND NAME FILE
measure() {
	kubectl delete "$1/$2" --ignore-not-found --timeout=2m >&2
	show kubectl apply -f "config/samples/$3"
	kubectl get "$1/$2" --watch --no-headers >&2 &
	local watch=$!
	trap 'kill "$watch"' EXIT
	show kubectl wait --for=condition=Finished --timeout=15m "$1/$2"
	kill "$watch" && trap - EXIT # here, because a subshell may end without its trap
	show kubectl get "$1/$2"
	echo "\$ kubectl get configmap $2-results -o jsonpath='{.data.summary\.md}'"
	kubectl get configmap "$2-results" -o jsonpath='{.data.summary\.md}'
}

all() {
	measure benchmarkrun commit-size commit-size.yaml
	echo
	measure benchmarkrun durable-or-not durable-or-not.yaml
}

# replace FILE MARK TEXT puts a text between the lines <!-- MARK --> and <!-- /MARK -->.
replace() {
	TEXT=$3 awk -v mark="$2" '
		$0 == "<!-- /" mark " -->" { skip = 0 }
		!skip { print }
		$0 == "<!-- " mark " -->" { print "```"; print ENVIRON["TEXT"]; print "```"; skip = 1 }
	' "$1" >"$BIN/$2.new"
	mv "$BIN/$2.new" "$1"
}

if [ "${1:-}" = --record ]; then
	output=$(all)
	replace docs/quick-start.md demo "$output"
	replace README.md answer "$(sed -n '\,^\$ kubectl get benchmarkrun/durable-or-not,,+2p' <<<"$output")"
else
	all
fi
for object in benchmarkrun/commit-size benchmarkrun/durable-or-not; do
	[ "$(kubectl get "$object" -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}')" = True ] ||
		die "it has failed: kubectl describe $object"
done
