#!/usr/bin/env bash
# 05: Somebody else's finalizer on the Job of an attempt: the run stands still, and its lane with it.
# Must: a Job that has its record, is being deleted and has no Pod that works is behind the run.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run fin "$ID" 6 'repetitions: 2'
try 70 k get job fin-t1-a1 || end SETUP "no Job: $(ready brun/fin)"
k patch job fin-t1-a1 --type=merge -p '{"metadata":{"finalizers":["example.com/x"]}}' >/dev/null || end SETUP "no finalizer"
try 60 k get configmap fin-t1-a1 || end SETUP "trial 1 is not recorded: $(ready brun/fin)"
over() { is brun/fin Finished; }
try 60 over
is brun/fin Complete && end HELD "Complete although the Job of trial 1 stays"
end BROKEN "a minute after the record of trial 1: $(k get brun fin -o jsonpath='{.status.progress}'), $(ready brun/fin)"
