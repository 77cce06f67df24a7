#!/usr/bin/env bash
# 07: Somebody else's finalizer on the Pod of one variant's server, which is then deleted: the run holds its lane and does nothing.
# Must: the run measures the attempt again on new servers, or ends; its lane is not held by what does nothing.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

compare c Slices 20 0
try 70 logged job/c-t1-a1 measure || end SETUP "the run does not measure: $(ready brun/c)"
k patch pod c-db2-0 --type=merge -p '{"metadata":{"finalizers":["example.com/x"]}}' >/dev/null || end SETUP "no finalizer"
k delete pod c-db2-0 --wait=false >/dev/null
run next "$ID" 1 'repetitions: 1'
over() { is brun/c Finished || is brun/next Admitted || logged job/c-t1-a2 measure; }
try 75 over && end HELD "$(ready brun/c) / next: $(ready brun/next)"
end BROKEN "75 s after c-db2-0 was deleted: $(ready brun/c) / next in the lane: $(ready brun/next)"
