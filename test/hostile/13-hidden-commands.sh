#!/usr/bin/env bash
# 13: kubectl benchrun reproduce asks for consent, and does not show all commands that a stranger's bundle runs.
# Must: every argument of every program is shown (or the whole specification).
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

k apply -f - >/dev/null <<-YAML || end SETUP "the run is refused"
	apiVersion: benchrun.dev/v1alpha1
	kind: BenchmarkRun
	metadata: {name: nice}
	spec:
	  lane: $ID
	  database:
	    image: mariadb:11.8
	    settings: {bufferPoolSize: 64Mi, logFileSize: 96Mi}
	    storage: {medium: NodeDisk, size: 1Gi}
	    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
	  workload:
	    type: Custom
	    custom:
	      image: mariadb:11.8
	      command: [echo, value=1]
	      prepare: [sh, -c, "echo HIDDEN-PREPARE"]
	      cleanup: [sh, -c, "echo HIDDEN-CLEANUP"]
	      env: {ANY: HIDDEN-ENV}
	      result: {pattern: 'value=(?P<value>[0-9]+)', metrics: [{name: value, unit: x/s, better: Higher}]}
	  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
	  trials: {repetitions: 1}
YAML
over() { is brun/nice Finished; }
try 130 over
is brun/nice Complete || end SETUP "the run is not complete: $(ready brun/nice)"
kubectl benchrun export nice -n "$NS" -o "$TMP/nice.tgz" >/dev/null || end SETUP "no bundle"
kubectl benchrun reproduce "$TMP/nice.tgz" -n "$NS" --name again </dev/null >"$TMP/shown" 2>&1
k get brun again >/dev/null 2>&1 && end BROKEN "it was created without consent"
grep -q 'custom.command' "$TMP/shown" || end SETUP "it shows nothing: $(head -c 300 "$TMP/shown")"
hidden=""
for word in HIDDEN-PREPARE HIDDEN-CLEANUP HIDDEN-ENV; do grep -q "$word" "$TMP/shown" || hidden+="$word "; done
[ -z "$hidden" ] && end HELD "all of it is shown"
end BROKEN "it asks for consent without showing: $hidden"
