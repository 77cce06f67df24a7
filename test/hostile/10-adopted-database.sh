#!/usr/bin/env bash
# 10: A Pod made by hand becomes the database: the StatefulSet adopts it, and the operator takes it for its own.
# Attack: before a suspended run is resumed, a Pod <run>-db1-0 with the labels that the StatefulSet will select, with its revision's
# hash (from a copy of the StatefulSet in another namespace) and another server in it (here: innodb_doublewrite off, which nobody
# asked for).
# Must: a Pod that was there before its StatefulSet is somebody else's (creationTimestamp, or a look before the StatefulSet is made).
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

SHADOW=$OTHER A=hostileaa B=hostilebb
kube create namespace "$SHADOW" >/dev/null || end SETUP "no second namespace"
run $A "$ID-a" 1 'repetitions: 1'
try 40 k get sts $A-db1 || end SETUP "no StatefulSet: $(ready brun/$A)"
k get sts $A-db1 -o json >"$TMP/a.json"
UA=$(k get brun $A -o jsonpath='{.metadata.uid}')
k delete brun $A --wait=false >/dev/null
run $B "$ID-b" 1 'repetitions: 1' '' 'suspend: true'
UB=$(k get brun $B -o jsonpath='{.metadata.uid}')
sed "s/$UA/$UB/g; s/$ID-a/$ID-b/g; s/$A/$B/g; s/${UA%%-*}/${UB%%-*}/g" "$TMP/a.json" >"$TMP/b.json"
jq '{apiVersion, kind, metadata: {name: .metadata.name}, spec: (.spec | .replicas = 0)}' "$TMP/b.json" | kube -n "$SHADOW" create -f - >/dev/null ||
	end SETUP "no shadow"
revision() { kube -n "$SHADOW" get sts $B-db1 -o jsonpath='{.status.updateRevision}'; }
known() { [ -n "$(revision)" ]; }
try 20 known || end SETUP "no revision"
jq --arg r "$(revision)" --arg n "$B-db1" '{apiVersion: "v1", kind: "Pod",
	metadata: {name: ($n + "-0"), labels: (.spec.template.metadata.labels + {"controller-revision-hash": $r,
	  "statefulset.kubernetes.io/pod-name": ($n + "-0"), "apps.kubernetes.io/pod-index": "0"})},
	spec: (.spec.template.spec | .hostname = ($n + "-0") | .subdomain = $n | .containers[0].args = ["mariadbd", "--innodb-doublewrite=OFF"])}' \
	"$TMP/b.json" | k create -f - >/dev/null || end SETUP "no Pod"
FORGED=$(k get pod $B-db1-0 -o jsonpath='{.metadata.uid}')
k patch brun $B --type=merge -p '{"spec":{"suspend":false}}' >/dev/null
over() { is brun/$B Finished; }
try $((155 - SECONDS)) over
served=$(k get configmap $B-t1-a1 -o json 2>/dev/null | jq -r '.data["attempt.json"] | fromjson | .outcome + " " + .place.databasePodUID')
[ "$served" = "Accepted $FORGED" ] && end BROKEN "trial 1 is Accepted from a server that a stranger made ($FORGED): $(ready brun/$B)"
end HELD "trial 1: ${served:-no record} (the forged Pod was $FORGED): $(ready brun/$B)"
