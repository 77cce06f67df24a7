# shellcheck shell=bash
# What the scripts of this folder share. Each tries what a tenant, a stranger or a careless administrator may do on a cluster with
# Benchrun, and ends with a line: HELD (exit code 0), BROKEN (1), or SETUP (2) if it could not try.
set -uo pipefail
: "${KUBECONFIG:?the kubeconfig of a kind cluster with Benchrun}"
command -v kubectl >/dev/null || {
	echo "SETUP: no kubectl in PATH"
	exit 2
}
ID=h$(basename "$0" | cut -d- -f1)-$RANDOM
NS=$ID OTHER=$ID-other
TMP=$(mktemp -d)

kube() { kubectl --request-timeout=30s "$@"; }
k() { kube -n "$NS" "$@"; }

end() { # HELD|BROKEN|SETUP text
	echo "$1: $2"
	case $1 in HELD) exit 0 ;; BROKEN) exit 1 ;; *) exit 2 ;; esac
}

try() { # SECONDS command: until it succeeds
	local until=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.5
	done
}

ready() { k get "$1" -o json 2>/dev/null | jq -r '[.status.conditions[]? | select(.type=="Ready") | .reason + ": " + .message] | join("")' | cut -c1-300; }
is() { [ "$(k get "$1" -o json 2>/dev/null | jq -r --arg t "$2" '[.status.conditions[]? | select(.type==$t) | .status] | join("")')" = True ]; }
logged() { k logs "$1" 2>/dev/null | grep -q "$2"; }
manager() { kube -n benchrun-system get pods -l app.kubernetes.io/component=manager -o json; }
restarts() { manager | jq '[.items[].status.containerStatuses[]?.restartCount] | add // 0'; }
lastend() { manager | jq -r '[.items[].status.containerStatuses[]? | (.lastState.terminated.reason // .state.terminated.reason // "-")] | join(",")'; }

cleanup() {
	trap '' EXIT
	[ -z "${PROXY:-}" ] || kill "$PROXY" 2>/dev/null
	k get jobs,pvc,brun -o name 2>/dev/null | while read -r kept; do
		k patch "$kept" --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
	done
	kube delete namespace "$NS" "$OTHER" --ignore-not-found --wait=false >/dev/null 2>&1
	rm -rf "$TMP"
}
trap cleanup EXIT
trap 'exit 2' INT TERM
kube create namespace "$NS" >/dev/null || end SETUP "no namespace: is the cluster up?"

proxy() { # sets API
	kubectl proxy --port=0 >"$TMP/proxy" 2>&1 &
	PROXY=$!
	try 10 grep -q 'serve on' "$TMP/proxy" || end SETUP "no proxy"
	API=http://$(grep -o '127[0-9.:]*' "$TMP/proxy")
}

post() { # HOW-OFTEN SECONDS FILE PATH: creates an object under numbered names, until so many seconds; sets made
	local i
	for ((i = 1; i <= $1 && SECONDS < $2; i++)); do
		sed "s/fat-NUMBER/fat-$i/" "$3" | curl -s -o "$TMP/answer" -w '%{http_code}\n' -H 'Content-Type: application/json' \
			--data-binary @- "$API$4"
	done | sort | uniq -c >"$TMP/codes"
	made=$(awk '$2 == 201 {print $1}' "$TMP/codes")
	[ -n "$made" ] || end SETUP "nothing was made: $(cat "$TMP/codes" "$TMP/answer" | cut -c1-300)"
}

custom() { # NAME LANE COMMAND FIELDS: a run of one trial of a program
	k apply -f - >/dev/null <<-YAML || end SETUP "the run $1 is refused"
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkRun
		metadata: {name: $1}
		spec:
		  lane: $2
		  database:
		    image: mariadb:11.8
		    settings: {bufferPoolSize: 64Mi, redoLogSize: 96Mi}
		    storage: {medium: NodeDisk, size: 1Gi}
		    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
		  workload:
		    type: Custom
		    custom:
		      image: mariadb:11.8
		      command: $3
		      $4
		      result: {pattern: 'value=(?P<value>[0-9]+)', metrics: [{name: value, unit: x/s, better: Higher}]}
		  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
		  trials: {repetitions: 1}
	YAML
}

run() { # NAME LANE SECONDS TRIALS [DATABASE] [SPEC]
	local database=${5:-} spec=${6:-}
	[ -n "$database" ] || database='storage: {medium: NodeDisk, size: 1Gi}'
	k apply -f - >/dev/null <<-YAML || end SETUP "the run $1 is refused"
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkRun
		metadata: {name: $1}
		spec:
		  lane: $2
		  database:
		    image: mariadb:11.8
		    settings: {bufferPoolSize: 64Mi, redoLogSize: 96Mi}
		    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
		    $database
		  workload: {type: CommitSize, commitSize: {rowsPerCommit: 1}, limits: {seconds: $3}}
		  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
		  trials: {primeSeconds: 0, $4}
		  $spec
	YAML
}

compare() { # NAME ALTERNATION SECONDS PRIME
	k apply -f - >/dev/null <<-YAML || end SETUP "the run $1 is refused"
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkRun
		metadata: {name: $1}
		spec:
		  alternation: $2
		  rounds: {atMost: 2, until: All}
		  lane: $ID
		  database:
		    image: mariadb:11.8
		    settings: {bufferPoolSize: 64Mi, redoLogSize: 96Mi}
		    storage: {medium: NodeDisk, size: 1Gi}
		    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
		  workload: {type: CommitSize, commitSize: {rowsPerCommit: 1}, limits: {seconds: $3}}
		  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
		  trials: {primeSeconds: $4}
		  variants:
		  - {name: durable}
		  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
	YAML
}
