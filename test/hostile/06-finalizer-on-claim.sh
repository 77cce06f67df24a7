#!/usr/bin/env bash
# 06: A volume claim that is not let go (a snapshot, a backup tool's finalizer) stops a run with fresh servers.
# Must: go on with the next instance, and say what was left.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run fresh "$ID" 2 'repetitions: 2, server: PerTrial' 'storage: {size: 1Gi}'
try 60 k get pvc fresh-db1 || end SETUP "no claim: $(ready brun/fresh)"
sleep 1
k patch pvc fresh-db1 --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/x"}]' >/dev/null ||
	end SETUP "no finalizer"
try 70 k get configmap fresh-t1-a1 || end SETUP "trial 1 is not recorded: $(ready brun/fresh)"
over() { is brun/fresh Finished; }
try 70 over
is brun/fresh Complete && end HELD "Complete although the claim of the first server stays"
end BROKEN "70 s after the record of trial 1: $(k get brun fresh -o jsonpath='{.status.progress}'), $(ready brun/fresh)"
