#!/usr/bin/env bash
# test.sh [--record] LAYER… — runs layers of tests, each with all the set-up that it needs, and says how many tests of each
# layer ran. A skipped test counts as a failure: what cannot run must say so. --record writes each layer's result to
# docs/test-results.md as soon as it is there, with date and commit, and leaves the other layers' lines alone. Layers: unit, envtest, loader (MariaDB 11.8), loader-old (10.11), e2e, faults
# (what goes wrong on a cluster), samples (each to its end), fuzz.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

LOGS=$BIN/test
mkdir -p "$LOGS"
summary=()
failed=0

# count LAYER runs `go test -json …` with the remaining arguments, shows what fails, and counts tests.
count() {
	local layer=$1 status=0
	shift
	log "$layer: go test $*"
	"$BIN/gotestsum" --format pkgname --hide-summary=skipped --jsonfile "$LOGS/$layer.json" -- -count 1 "$@" || status=$?
	tally "$layer" "$status" \
		"$(actions "$layer" pass)" "$(actions "$layer" fail)" "$(actions "$layer" skip)"
}

# actions LAYER WHAT counts the tests (not packages) that ended so.
actions() { grep -c "\"Action\":\"$2\",\"Package\":\"[^\"]*\",\"Test\"" "$LOGS/$1.json" || true; }

tally() {
	local layer=$1 status=$2 passed=$3 broken=$4 skipped=$5
	summary+=("$layer: $passed passed, $broken failed, $skipped skipped")
	if [ "$status" -ne 0 ] || [ "$broken" -ne 0 ] || [ "$skipped" -ne 0 ] || [ "$passed" -eq 0 ]; then
		failed=1
	fi
}

unit() { count unit ./api/... ./cmd/... ./controllers/... ./internal/... ./test/deadtime ./test/benchloader ./test/docs ./test/newworkload; }

envtest() {
	local assets
	assets=$("$HACK/envtest.sh")
	KUBEBUILDER_ASSETS=$assets count envtest -tags envtest -run 'TestEnvtest' ./api/... ./controllers/...
	# Figures that tests of the controllers print.
	sed -n 's/.*"Output":"\(API writes per trial: [^\\]*\|crash after every write: [^\\]*\).*/\1/p' "$LOGS/envtest.json"
}

# loader LAYER VERSION runs the loader's tests against a MariaDB of that version.
loader() {
	local environment
	environment=$("$HACK/mariadb.sh" up "$2")
	set -a
	eval "$environment"
	set +a
	count "$1" -tags integration -run '^TestIntegration' -timeout 15m ./internal/loader/...
	# sysbench is where the loader has it in a cluster.
	make -C "$REPO" --no-print-directory images
	# shellcheck source=/dev/null
	. "$BIN/images.env"
	CGO_ENABLED=0 count "$1-sysbench" -tags integration,sysbench -run '^TestSysbench' -timeout 15m \
		-exec "$HACK/in-image.sh benchrun/loader-sysbench:$LOADER_SYSBENCH_TAG" ./internal/loader
}

# e2e LAYER runs the ginkgo specs with that build tag: one Go test that says itself how many specs ran.
e2e() {
	local layer=$1 status=0 log=$LOGS/$1.log line
	make -C "$REPO" --no-print-directory deploy
	if [ "$layer" != e2e ]; then "$HACK/mariadb-operator.sh" up; fi
	(cd "$REPO" && "$BIN/ginkgo" run --tags "$layer" --timeout 120m --no-color -v ./test/e2e) 2>&1 | tee "$log" || status=$?
	line=$(grep -Eo '[0-9]+ Passed \| [0-9]+ Failed \| [0-9]+ Pending \| [0-9]+ Skipped' "$log" | tail -1 || true)
	if [ -z "$line" ]; then
		tally "$layer" 1 0 0 0
		return
	fi
	# shellcheck disable=SC2086 # words are wanted
	set -- ${line//[^0-9 ]/}
	tally "$layer" "$status" "$1" "$2" "$(($3 + $4))"
}

fuzz() {
	local target passed=0 broken=0
	for target in result.FuzzReadDocument result.FuzzDecodeSummary workload/sysbench/output.FuzzParse workload/delimited.FuzzReader; do
		log "fuzz: $target"
		if (cd "$REPO" && go test "./internal/${target%.*}" -run '^$' -fuzz "^${target#*.}\$" -fuzztime 30s -fuzzminimizetime 10x); then
			passed=$((passed + 1))
		else
			broken=$((broken + 1))
		fi
	done
	tally fuzz 0 "$passed" "$broken" 0
}

# record RESULT… puts what a layer gave into the document, in place of what it gave before.
record() {
	local document=$REPO/docs/test-results.md result where
	where="$(date -u +%F), commit $commit, $(go env GOVERSION)"
	for result; do
		sed -i "/^- ${result%%:*}: /d" "$document"
		echo "- $result ($where, $(uname -sm), $(nproc) CPUs)" >>"$document"
	done
}

# The document itself does not make the tree another one.
commit=$(git -C "$REPO" describe --always --exclude "*")
git -C "$REPO" diff --quiet HEAD -- . ':!docs/test-results.md' || commit+=-dirty
recording=
if [ "${1:-}" = --record ]; then
	recording=yes
	shift
fi
"$HACK/tools.sh" gotestsum ginkgo helm kubectl
cd "$REPO"
for layer; do
	before=${#summary[@]}
	case $layer in
	unit | envtest | fuzz) "$layer" ;;
	e2e | faults | samples) e2e "$layer" ;;
	loader) loader "$layer" 11.8 ;;
	loader-old) loader "$layer" 10.11 ;;
	*) die "layer $layer is not known: unit, envtest, loader, loader-old, e2e, faults, samples, fuzz" ;;
	esac
	if [ -n "$recording" ]; then record "${summary[@]:before}"; fi
done
echo
printf '%s\n' "${summary[@]}"
if [ "$failed" -ne 0 ]; then die "failed"; fi
