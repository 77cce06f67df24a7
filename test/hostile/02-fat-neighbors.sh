#!/usr/bin/env bash
# 02: Fat Pods on a database's node, of anybody, kill the manager whenever a run there starts an attempt.
# Attack: 85 Pods bound to the node (spec.nodeName; they wait for a Secret that does not exist), each with 2,200 long labels.
# Must: read in pages and keep what is kept, as everywhere else (controllers/live.go); RSS below 128 MiB.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

kube create namespace "$OTHER" >/dev/null || end SETUP "no second namespace"
NODE=$(kube get nodes -l '!node-role.kubernetes.io/control-plane' -o jsonpath='{.items[0].metadata.name}')
proxy
python3 - "$NODE" >"$TMP/pod.json" <<-'PYTHON'
	import json, sys
	x = "x" * 63
	labels = {f"{x}.{x}.{x}/{i:05d}" + "x" * 58: x for i in range(2200)}
	print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fat-NUMBER", "labels": labels}, "spec": {
	  "nodeName": sys.argv[1], "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
	  "containers": [{"name": "a", "image": "mariadb:11.8", "command": ["sleep", "1"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
	  "volumes": [{"name": "v", "secret": {"secretName": "none-such"}}]}}))
PYTHON
post 85 70 "$TMP/pod.json" "/api/v1/namespaces/$OTHER/pods"
before=$(restarts)
run victim "$ID" 1 'repetitions: 2' "nodeSelector: {kubernetes.io/hostname: $NODE}
    storage: {medium: NodeDisk, size: 1Gi}"
died() { [ "$(restarts)" -gt "$before" ]; }
over() { died || is brun/victim Finished; }
try $((150 - SECONDS)) over
sleep 3
if died; then end BROKEN "the manager was ended ($(lastend)), restarts $before -> $(restarts), by $made Pods of a stranger on $NODE"; fi
is brun/victim Complete && end HELD "Complete beside $made fat Pods; the manager was not restarted"
end BROKEN "the manager lives, and the run is not complete: $(ready brun/victim)"
