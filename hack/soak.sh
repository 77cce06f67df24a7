#!/usr/bin/env bash
# soak.sh N BURNERS: runs CI of the last commit from a fresh clone, N times, beside BURNERS processes that take a CPU each, and
# appends a row for each to docs/soak.csv. BESIDE in the environment says what else the machine does. It prints the seconds of each
# layer. A flake is a defect: the log of a run that failed is kept.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$PWD/docs/soak.csv
[ -e "$table" ] || echo "date,commit,burners,beside,seconds,result" >"$table"
clone=$(mktemp -d)
burners=() failed=0
trap '[ ${#burners[@]} -eq 0 ] || kill "${burners[@]}" 2>/dev/null; rm -rf "$clone"' EXIT
for ((i = 0; i < $2; i++)); do
	(while :; do :; done) &
	burners+=($!)
done
for ((i = 1; i <= $1; i++)); do
	rm -rf "$clone" && git clone -q . "$clone"
	started=$SECONDS result=passed log=$(mktemp "${TMPDIR:-/tmp}/soak-XXXXXX.log")
	(cd "$clone" && CI=true bash .ci/run </dev/null >"$log" 2>&1) || result=failed
	echo "$(date -u +%F),$(git -C "$clone" rev-parse --short HEAD),$2,${BESIDE:-},$((SECONDS - started)),$result" | tee -a "$table"
	grep -E '^[a-z0-9-]+: [0-9]+ passed' "$log" || true
	if [ $result = passed ]; then rm "$log"; else failed=1 && echo "soak.sh: $log"; fi
done
exit $failed
