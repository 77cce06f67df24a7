#!/usr/bin/env bash
# 13: kubectl benchrun reproduce asks for consent, and does not show all commands that a stranger's bundle runs.
# Must: every argument of every program is shown (or the whole specification).
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

custom nice "$ID" '[echo, value=1]' 'prepare: [sh, -c, "echo HIDDEN-PREPARE"]
      cleanup: [sh, -c, "echo HIDDEN-CLEANUP"]
      env: {ANY: HIDDEN-ENV}'
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
