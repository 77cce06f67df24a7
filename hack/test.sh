#!/usr/bin/env bash
# test.sh [--record] [LAYER… --]… LAYER… — runs layers of tests, each with all the set-up that it needs, and says how many tests
# of each layer ran. A skipped test counts as a failure: what cannot run must say so. Groups of layers, with -- between them, run
# beside each other, because each waits for much of its time; what a group but the last prints comes when it has ended. --record
# writes each layer's result to docs/test-results.md as soon as it is there, with date and commit, and leaves the other layers'
# lines alone. Layers: unit, unit-long, envtest, page (report pages in a browser), site (the documentation's web site in a browser), loader
# (MariaDB 11.8), loader-old (10.11), loader-mysql (MySQL 9.7), the same with -sysbench, e2e, faults (what goes wrong on a cluster,
# and paths that share most of their way with one of e2e),
# reliability (the cases of docs/reliability.md), samples (each to its end, and the servers of the publications in full), tutorials
# (typed from first to last line), release (what is published, installed in a cluster of its own), fuzz. FLAGS go to Ginkgo: what they
# leave out may be skipped.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

LOGS=$BIN/test
mkdir -p "$LOGS"
rm -f "$LOGS"/*
failed=0

# tests NAME ARGUMENT… runs `go test` with these arguments and writes its result to NAME.xml. Its status is in $status. Compilers,
# linkers and tests that collect garbage less often take less time.
tests() {
	log "$1: go test ${*:2}"
	status=0
	GOGC=400 tool gotestsum --format pkgname --hide-summary=skipped --jsonfile "$LOGS/$1.json" --junitfile "$LOGS/$1.xml" -- \
		-count 1 "${@:2}" || status=$?
}

# race NAME ARGUMENT… is tests with the race detector, which is C.
race() {
	have "${CC:-gcc}" || apt_install gcc libc6-dev || die "install a C compiler: go test -race needs one"
	CGO_ENABLED=1 tests "$1" -race "${@:2}"
}

# tally LAYER [NAME…] counts the tests in the JUnit files of these names, by default that of the layer, and adds a line to the
# results. What Ginkgo does before and after the specs is no test, unless it fails. A file that is not whole is that of a program
# that died before it could write it. The seconds are those since the line before, set-up and all.
counted=$SECONDS
tally() {
	local names=("${@:2}") files file result
	[ $# -gt 1 ] || names=("$1")
	files=("${names[@]/#/$LOGS/}")
	files=("${files[@]/%/.xml}")
	for file in "${files[@]}"; do
		grep -qs '^ *</testsuites>$' "$file" || { log "$file is missing, or not whole" && status=1; }
	done
	result="$1: $({ cat "${files[@]}" 2>/dev/null || true; } | awk -v 'RS=<testcase' '
		NR == 1 { next }
		/<(failure|error)[ >]/ { failed++; next }
		/ name="\[/ && !/ name="\[It\]/ { next }
		/<skipped/ { skipped++; next }
		{ passed++ }
		END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped" }')"
	[[ $status -eq 0 && $result =~ :\ [1-9][0-9]*\ passed,\ 0\ failed,\ (0|${FLAGS:+[0-9]+})\ skipped$ ]] || failed=1
	[ "$status" -eq 0 ] || result+=", exit code $status,"
	result+=" in $((SECONDS - counted)) s"
	counted=$SECONDS
	echo "$result" >>"$LOGS/results"
	if [ -n "$recording" ]; then locked test-results record "$result"; fi
}

# concurrent are the packages with code or tests that start goroutines, without the simulations, whose goroutines share nothing and
# compute for minutes.
concurrent() {
	git grep -lE '(^|[[:space:]])go (func|[[:alpha:]].*\()|\.Go\(|\.Parallel\(\)|httptest\.New' -- 'api/*.go' 'cmd/*.go' 'controllers/*.go' \
		'hack/*.go' 'internal/*.go' 'test/*.go' ':!test/statistics/' | xargs -n 1 dirname | sort -u | sed 's#^#./#'
}

# pure are the packages whose tests need nothing but Go.
pure() {
	go list -f '{{.Dir}}' ./api/... ./cmd/... ./controllers/... ./hack/... ./internal/... ./test/benchloader \
		./test/cost ./test/docs ./test/frozen ./test/samples ./test/statistics | sed "s#^$REPO#.#"
}

# unit runs each package once: with the race detector those that start goroutines; it finds nothing in the others, and makes a test
# take five times as long. -short has the tests repeat less of what they do hundreds of times, all of which unit-long repeats.
unit() {
	local packages goroutines
	packages=$(pure)
	goroutines=$(grep -Fx "$(concurrent)" <<<"$packages")
	# shellcheck disable=SC2046 # one argument for each
	tests unit -short -timeout 30m $(grep -vFx "$goroutines" <<<"$packages")
	tally unit
	# shellcheck disable=SC2086
	race unit-race -short -timeout 30m $goroutines
	tally unit-race
}

unit_long() {
	# shellcheck disable=SC2046
	tests unit-long -timeout 60m $(pure)
	tally unit-long
}

envtest() {
	local assets
	assets=$("$HACK/envtest.sh")
	# Other layers run beside it: an API server may take longer to start than the 20 seconds that it is given otherwise.
	export KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=180s
	KUBEBUILDER_ASSETS=$assets tests envtest -tags envtest -parallel 8 -run 'TestEnvtest' -timeout 30m \
		./api/... ./cmd/manager ./controllers/... ./internal/kubectl ./test/install
	tally envtest
	# Figures that tests of the controllers print.
	sed -n 's/.*"Output":"\(API writes per trial: [^\\]*\|crash after every write: [^\\]*\).*/\1/p' "$LOGS/envtest.json"
}

# chromium_browser is what opens pages.
chromium_browser() {
	have chromium || have google-chrome || apt_install chromium || die "install Chromium: the tests open pages in it"
}

# page opens report pages in Chromium, and reads what it prints.
page() {
	chromium_browser
	have pdftotext || apt_install poppler-utils || die "install pdftotext (poppler-utils): the tests read what is printed"
	tests page -tags page -timeout 30m ./test/page
	tally page
}

# site makes the documentation's web site, and opens every page of it in Chromium.
site() {
	chromium_browser
	"$HACK/site.sh" >/dev/null
	tests site -tags site -timeout 20m ./test/site
	tally site
}

# reach IMAGE [digests] starts that server anew, and has the tests reach it.
reach() {
	local environment
	environment=$("$HACK/server.sh" new "$@")
	set -a
	eval "$environment"
	set +a
}

# loader LAYER IMAGE OTHERS TESTS runs the loader's tests against the server of that image, without those of other engines alone,
# whose names begin with OTHERS after TestIntegration. TESTS is tests, or race, which takes twice as long.
loader() {
	reach "$2"
	"$4" "$1" -tags integration -run '^TestIntegration' -skip "^TestIntegration($3|PostgreSQL)" -timeout 60m \
		./internal/loader/... ./internal/engine/...
	tally "$1"
}

# neutral are the tests that speak no engine's SQL.
neutral='Statements|ByTime|SecondStart|Interrupted$|SIGTERM|MetricThatIsNone|PrimeIsBounded|QuiesceInterrupted|SideLost|Observe|CustomInterrupted|CustomLeavesChild'

# postgres LAYER IMAGE TESTS does the same with a server that speaks another language than most tests.
postgres() {
	reach "$2"
	"$3" "$1" -tags integration -run "^TestIntegration(PostgreSQL|$neutral)" -timeout 60m ./internal/loader
	tally "$1"
}

# postgres_sysbench LAYER IMAGE: sysbench's scripts on it.
postgres_sysbench() {
	local image
	reach "$2" digests
	make --no-print-directory build
	image=$("$HACK/build-images.sh" loader-sysbench)
	tests "$1" -tags integration,sysbench -run '^TestSysbenchPostgreSQL' -timeout 60m -exec "$HACK/in-image.sh $image" ./internal/loader
	tally "$1"
}

# sysbench LAYER IMAGE OTHERS does the same with sysbench, which is where the loader has it in a cluster. Its statements are
# counted.
sysbench() {
	local image
	reach "$2" digests
	make --no-print-directory build
	image=$("$HACK/build-images.sh" loader-sysbench)
	tests "$1" -tags integration,sysbench -run '^TestSysbench' -skip "^TestSysbench($3|PostgreSQL)" -timeout 60m \
		-exec "$HACK/in-image.sh $image" ./internal/loader
	tally "$1"
}

# e2e LAYER runs the Ginkgo specs with that build tag.
e2e() {
	make --no-print-directory deploy
	case $1 in e2e | reliability | tutorials) ;; *) "$HACK/mariadb-operator.sh" up ;; esac
	if [ "$1" = faults ]; then "$HACK/kueue.sh" up; fi
	# Reliability and the tutorials measure how long things take, one at a time.
	local processes=''
	case $1 in e2e | faults | samples) processes='--procs 2 --randomize-all' ;; esac
	status=0
	# shellcheck disable=SC2086 # flags
	tool ginkgo run --tags "$1" $processes --timeout 120m ${FLAGS:-} --no-color -v --output-dir "$LOGS" --junit-report "$1.xml" ./test/e2e || status=$?
	# What is measured on this cluster later must not share it with Kueue.
	if [ "$1" = faults ]; then "$HACK/kueue.sh" down || failed=1; fi
	tally "$1"
}

# release makes a release, of the plugin for this machine alone, and has the tests install it.
release() {
	local version=v0.0.0-test images public=$BIN/release.pub key=$BIN/release.key
	have skopeo || apt_install skopeo || die "install skopeo: the tests copy images to a registry with it"
	have minisign || apt_install minisign || die "install minisign: the tests verify a signature with it"
	images=$("$HACK/images.sh" node mariadb:11.8)
	minisign -G -f -W -p "$public" -s "$key" >/dev/null
	DIST=$BIN/release PLATFORMS=linux-$(go env GOARCH) KEY=$key REGISTRY='' "$HACK/release.sh" "$version" >/dev/null
	BENCHRUN_HELM_4=$(tool_path helm) BENCHRUN_HELM_3=$(tool_path v3/cmd/helm) BENCHRUN_KIND=$(tool_path kind)
	export BENCHRUN_HELM_4 BENCHRUN_HELM_3 BENCHRUN_KIND BENCHRUN_RELEASE=$BIN/release BENCHRUN_RELEASE_VERSION=$version
	export BENCHRUN_NODE_IMAGE=${images%%$'\n'*} BENCHRUN_PUBLIC_KEY=$public
	export BENCHRUN_FIRST_HOUR=${FIRST_HOUR:-}
	# shellcheck disable=SC2086 # flags
	tests release -tags release -timeout 60m ${FIRST_HOUR:+-run ^TestFirstHour$} ./test/release
	tally release
}

fuzz() {
	local folder target names=() worst=0
	while IFS=: read -r folder target; do
		names+=("${folder##*/}-$target")
		tests "${names[-1]}" -run '^$' -fuzz "^$target\$" -fuzztime 30s -fuzzminimizetime 10x "./$folder"
		worst=$((worst > status ? worst : status))
	done < <(git grep -o '^func Fuzz[[:alnum:]]*' -- '*_test.go' | sed 's#/[^/]*:func #:#')
	status=$worst
	tally fuzz "${names[@]}"
}

# record RESULT puts what a layer gave into the document, in place of what it gave before.
record() {
	local document=docs/test-results.md
	sed -i "/^- ${1%%:*}: /d" "$document"
	echo "- $1 ($(date -u +%F), commit $commit, $(go env GOVERSION), $(uname -sm), $(nproc) CPUs)" >>"$document"
}

layers() {
	local layer
	for layer; do
		case $layer in
		unit | envtest | page | site | release | fuzz) "$layer" ;;
		unit-long) unit_long ;;
		e2e | faults | reliability | samples | tutorials) e2e "$layer" ;;
		loader) loader "$layer" mariadb:11.8 MySQL tests ;;
		loader-sysbench) sysbench "$layer" mariadb:11.8 '(MySQL|MariaDBTPCCCompat)' ;; # which takes a minute: loader-old-sysbench has it
		loader-old) loader "$layer" mariadb:10.11 MySQL race ;;
		loader-old-sysbench) sysbench "$layer" mariadb:10.11 MySQL ;;
		loader-mysql) loader "$layer" mysql:9.7 MariaDB race ;;
		loader-mysql-sysbench) sysbench "$layer" mysql:9.7 MariaDB ;;
		loader-postgres) postgres "$layer" postgres:17 tests ;;
		loader-postgres-sysbench) postgres_sysbench "$layer" postgres:17 ;;
		loader-old-postgres) postgres "$layer" postgres:15 race ;;
		loader-old-postgres-sysbench) postgres_sysbench "$layer" postgres:15 ;;
		*) die "layer $layer is not known: unit, unit-long, envtest, page, site, loader, loader-old, loader-mysql, loader-postgres, loader-old-postgres, each of these five with -sysbench, e2e, faults, reliability, samples, tutorials, release, fuzz" ;;
		esac
	done
}

# beside LAYER… runs a group with its output in a file, which it prints whole at the end, whatever ends it.
beside() {
	local file=$LOGS/beside-$1.log
	# shellcheck disable=SC2064 # the file's name now
	trap "cat '$file' >&3 || echo 'test.sh: $file could not be printed whole'" EXIT
	layers "$@" >"$file" 2>&1
	return "$failed"
}

# The document itself does not make the tree another one.
commit=$(git describe --always --exclude "*")
git diff --quiet HEAD -- . ':!docs/test-results.md' || commit+=-dirty
recording=
if [ "${1:-}" = --record ]; then
	recording=yes
	shift
fi
groups=()
trap 'kill -- "${groups[@]/#/-}" 2>/dev/null || true' EXIT
while [[ " $* " == *" -- "* ]]; do
	others=()
	while [ "$1" != -- ]; do others+=("$1") && shift; done
	shift
	log "beside other layers, with output in ${LOGS#"$REPO/"}/beside-${others[0]}.log: ${others[*]}"
	set -m # a process group of its own, which ends with this one
	beside "${others[@]}" 3>&1 &
	set +m
	groups+=("$!")
done
layers "$@"
for group in "${groups[@]}"; do wait "$group" || { log "a group of layers ended with exit code $?" && failed=1; }; done
groups=()
echo
cat "$LOGS/results"
if [ "$failed" -ne 0 ]; then die "failed"; fi
