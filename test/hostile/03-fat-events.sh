#!/usr/bin/env bash
# 03: Large events about a Pod that waits kill the manager; who has the role edit may create events.
# Attack: a run whose database cannot be scheduled, and 180 events of type Warning about its Pod, of 1.3 MB each.
# Must: a page at a time, and of each event only reason, time and the first 4 KiB of its message.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run waits "$ID" 1 'repetitions: 1' 'nodeSelector: {no: such}
    storage: {medium: NodeDisk, size: 1Gi}'
try 40 k get pod waits-db1-0 || end SETUP "no Pod: $(ready brun/waits)"
POD=$(k get pod waits-db1-0 -o jsonpath='{.metadata.uid}')
before=$(restarts)
proxy
python3 - "$NS" "$POD" >"$TMP/event.json" <<-'PYTHON'
	import json, sys
	print(json.dumps({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "fat-NUMBER"}, "type": "Warning", "reason": "Fat",
	  "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": sys.argv[1], "name": "waits-db1-0", "uid": sys.argv[2]},
	  "message": "x" * 1300000}))
PYTHON
died() { [ "$(restarts)" -gt "$before" ]; }
post 180 110 "$TMP/event.json" "/api/v1/namespaces/$NS/events"
if try 40 died; then end BROKEN "the manager was ended ($(lastend)), restarts $before -> $(restarts), by $made events of one tenant"; fi
end HELD "the manager lives with $made events of 1.3 MB: $(ready brun/waits)"
