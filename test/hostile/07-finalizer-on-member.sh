#!/usr/bin/env bash
# 07: Somebody else's finalizer on a run of a comparison that is deleted: the comparison holds its lane and does nothing.
# Must: the comparison ends MemberLost, or begins the round again, and its lane is not held by what does nothing.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

compare c Runs 20 0
member() { k get brun -l benchrun.dev/comparison=c -o jsonpath='{.items[0].metadata.name}' 2>/dev/null; }
measuring() { local m; m=$(member) && [ -n "$m" ] && logged "job/$m-t1-a1" measure; }
try 70 measuring || end SETUP "no member measures: $(ready bcmp/c)"
M=$(member)
k patch brun "$M" --type=merge -p '{"metadata":{"finalizers":["example.com/x"]}}' >/dev/null || end SETUP "no finalizer"
k delete brun "$M" --wait=false >/dev/null
run next "$ID" 1 'repetitions: 1'
over() { is bcmp/c Finished || is brun/next Admitted; }
try 75 over && end HELD "$(ready bcmp/c) / next: $(ready brun/next)"
end BROKEN "75 s after $M was deleted: comparison: $(ready bcmp/c) / next in the lane: $(ready brun/next)"
