#!/usr/bin/env bash
# hostile.sh [TIMES [NAME…]]: tries what tenants, strangers and careless administrators may do, on the kind cluster with Benchrun in
# it. Each script of test/hostile ends HELD or BROKEN. All must be HELD, TIMES in a row.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/lib.sh
. hack/lib.sh
times=${1:-1}
[ $# -eq 0 ] || shift
passed=0 failed=0
for ((i = 1; i <= times; i++)); do
	for script in test/hostile/[0-9]*.sh; do
		name=$(basename "$script" .sh)
		[ $# -eq 0 ] || [[ " $* " == *" ${name%%-*} "* ]] || continue
		started=$SECONDS
		if text=$("$script" 2>&1); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
		printf '%-24s %4d s  %s\n' "$name" $((SECONDS - started)) "${text##*$'\n'}"
	done
done
echo "hostile: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
