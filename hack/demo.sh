#!/usr/bin/env bash
# demo.sh [--record] — brings up the kind cluster and the operator from nothing, measures the commit sizes of
# config/samples/commit-size.yaml, then asks with config/samples/durable-or-not.yaml whether a server that does not wait for the
# disk is faster, and prints the results. What a step before that says is in bin/demo-STEP.log. --record puts what is printed into
# docs/quick-start.md, and the answer into README.md, in place of the last time's.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

# step NAME WHY COMMAND… runs a part of the set-up, and shows its last lines if it fails.
step() {
	local began=$SECONDS output=$BIN/demo-${1// /-}.log
	log "$1: $2"
	"${@:3}" >"$output" 2>&1 || {
		tail -n 15 "$output" >&2
		die "$1 failed (${*:3}): its last lines are above, all of them in $output"
	}
	log "$1: done in $((SECONDS - began)) s"
}

# beside NAME WHY COMMAND… does so while others go on; its process group is $!.
beside() {
	set -m
	step "$@" &
	set +m
	groups+=("$!")
}

# prepare the cluster and the operator. Downloads go on while something compiles; two that compile never run at the same time,
# because they would compile what they share twice.
prepare() {
	local operator sysbench
	beside operator 'compile the manager and the loader (at first 4 min)' make --no-print-directory build
	operator=$!
	step Docker 'runs the nodes of the cluster' hack/docker.sh
	step sources 'fetch the node image, or the sources to build it from' hack/images.sh node-sources
	step MariaDB 'fetch or build the image of MariaDB 11.8' hack/images.sh mariadb:11.8
	beside sysbench 'fetch or build the image that the loader with sysbench is put on' hack/images.sh sysbench
	sysbench=$!
	wait "$operator"
	step 'node image' 'build Kubernetes, containerd and CoreDNS where there is no registry (at first 12 min)' hack/images.sh node
	step cluster 'bring up a control plane and two workers' hack/cluster.sh up mariadb:11.8
	wait "$sysbench"
	step install 'install the operator' hack/deploy.sh kustomize
}

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

mkdir -p "$BIN"
groups=()
trap 'kill -- "${groups[@]/#/-}" 2>/dev/null || true' EXIT
prepare
groups=()
log "measure: a run of one server and one with variants (5 min)"
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
