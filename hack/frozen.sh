#!/usr/bin/env bash
# frozen.sh [freeze]: compares what Benchrun makes, decides and says with the recordings of test/frozen; with freeze, records it anew
# and empties the tables of what may differ. Recordings change in a commit of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/lib.sh
. hack/lib.sh
tables=test/frozen
KUBEBUILDER_ASSETS=$(hack/envtest.sh)
BENCHRUN_FROZEN_USED=$(mktemp -d)
export KUBEBUILDER_ASSETS BENCHRUN_FROZEN_USED
trap 'rm -r "$BENCHRUN_FROZEN_USED"' EXIT

# everything is recorded or compared by these tests. Of the crashes, the run that is not killed is frozen.
everything() {
	go test -count 1 -run '^TestFrozen' ./test/frozen ./test/statistics ./internal/lifecycle "$@"
	go test -count 1 -tags envtest -run '^TestEnvtestCacheThatIsBehind$|^TestEnvtestCrashAfterEveryWrite$/^none$' ./controllers "$@"
}

if [ "${1:-}" = freeze ]; then
	rm -rf "${tables:?}/recorded"
	everything -freeze
	sed -i '2,$d' "$tables/renamed.csv" "$tables/changed.csv"
	git status --short "$tables"
	exit
fi
everything
# Whoever reads a table reads what has changed, and nothing else.
for table in renamed.csv changed.csv; do
	for ((row = 2; row <= $(wc -l <"$tables/$table"); row++)); do
		[ -e "$BENCHRUN_FROZEN_USED/$table.$row" ] || die "$tables/$table, row $row: nothing has changed so"
	done
done
log "frozen: $(find $tables/recorded -type f | wc -l) recordings, $(($(wc -l <$tables/renamed.csv) - 1)) names and $(($(wc -l <$tables/changed.csv) - 1)) rows of what was meant to change"
