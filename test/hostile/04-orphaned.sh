#!/usr/bin/env bash
# 04: kubectl delete --cascade=orphan in mid-trial: the lane is given on while loader and server go on.
# Must: what still works keeps the lane, or is removed (the run's UID is in its labels, and was its controller until now).
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run first "$ID" 120 'repetitions: 1'
try 70 logged job/first-t1-a1 measure || end SETUP "first does not measure: $(ready brun/first)"
run second "$ID" 1 'repetitions: 1'
sleep 2
k delete brun first --cascade=orphan --wait=false >/dev/null
admitted() { is brun/second Admitted; }
try 45 admitted
working() {
	k get pods -l benchrun.dev/run=first -o json |
		jq -r '.items[] | select(.metadata.deletionTimestamp == null and .status.phase == "Running") | .metadata.name' | tr '\n' ' '
}
now=$(working)
if admitted && [ -n "$now" ]; then
	sleep 15
	end BROKEN "second has the lane beside what still works of first: $now(15 s later: $(working); objects: $(k get job,sts -l benchrun.dev/run=first -o name | tr '\n' ' '))"
fi
if admitted; then end HELD "nothing of first works any more, and second has the lane"; fi
[ -n "$now" ] && end HELD "as docs/troubleshooting.md says, what is left keeps the lane: $now; $(ready brun/second)"
end BROKEN "nothing of first works, and the lane is not given on: $(ready brun/second)"
