#!/usr/bin/env bash
# bench-minutes.sh [TURNS] — how many minutes a run with two variants takes on the kind cluster until it has its answer, and how
# precise that is, with each alternation in turn. Prints a Markdown table, with a line as soon as a run has ended. In the
# environment: IMAGE is the server's, of MariaDB 11.8 if unset, or of PostgreSQL. QUESTIONS are what the second variant is: same;
# flush (the log once a second); performance-schema (on); pool (512 MiB of buffer pool in place of 64); cpu (570m in place of 600m,
# where these limits are what a server works at: 5% less); image-NAME (another server); general-log (on: the server writes down each statement), slow-log (the same with the time that each took), logs-N (the general
# log, and each Nth statement in the slow log). ALTERNATIONS are Slices, Trials and Runs. POINTS is 1, 8 or 33, which are the
# microbenchmarks; with several, a run ends with the answer of all points together. ROUNDS are at most so many, 20 if unset, and at
# least AT_LEAST, 6 if unset. SECONDS_A_SIDE is for how long a variant is measured in a round. BESIDE=compiler has a compiler run on
# the same machine meanwhile; of anything else it says that it ran. NAME is that of the runs and of their lane: those of two names
# measure at the same time. RECORD is a folder for what each run measured, which `go run ./test/statistics -record FOLDER` adds to
# the recordings. WORKLOAD is a script of sysbench or of pgbench, in place of CommitSize, with CLIENTS of it, 16 if unset.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

name=${NAME:-bench-minutes}
points=${POINTS:-1}
case $points in 1 | 8 | 33) ;; *) die "POINTS=$points: 1, 8 or 33" ;; esac

# variant QUESTION is what the second variant has.
variant() {
	case $1 in
	same) ;;
	flush) echo 'database: {settings: {flushLogAtTrxCommit: 0}}' ;;
	performance-schema) echo 'database: {variables: {performance_schema: "ON"}}' ;;
	pool) echo 'database: {settings: {bufferPoolSize: 512Mi}}' ;;
	cpu) echo 'database: {resources: {limits: {cpu: 570m}}}' ;;
	image-*) echo "database: {image: '${1#image-}'}" ;;
	general-log) echo 'database: {variables: {general_log: "ON"}}' ;;
	slow-log) echo 'database: {variables: {slow_query_log: "ON", long_query_time: "0"}}' ;;
	logs-[1-9])
		echo "database: {variables: {general_log: 'ON', slow_query_log: 'ON', long_query_time: '0', log_slow_rate_limit: '${1#logs-}'}}"
		;;
	*) die "question $1 is not known: same, flush, performance-schema, pool, cpu, image-NAME, general-log, slow-log, logs-1 to logs-9" ;;
	esac
}

# workload ALTERNATION of both.
workload() {
	local scripts limits
	limits="limits: {seconds: $(seconds "$1")}"
	case $points in
	1) case ${WORKLOAD:-CommitSize} in
		CommitSize) ;;
		TPCBLike | SimpleUpdate | SelectOnly)
			echo "{type: Pgbench, pgbench: {script: $WORKLOAD, clients: ${CLIENTS:-16}, scale: 5}, $limits}"
			return
			;;
		*)
			echo "{type: Sysbench, sysbench: {script: $WORKLOAD, clients: ${CLIENTS:-16}, tables: 2, tableSize: 25000, seconds: $(seconds "$1")}}"
			return
			;;
		esac
		echo "{type: CommitSize, commitSize: {rowsPerCommit: 1}, $limits}" ;;
	8) echo "{type: CommitSize, commitSize: {sweep: {rowsPerCommit: [1, 2, 4, 8, 16, 32, 64, 128]}}, $limits}" ;;
	33)
		scripts=$(sed -n 's/^ *- \([a-z0-9-]*\)$/\1/p' "$(dirname "$0")/../config/samples/microbenchmarks.yaml" | paste -sd,)
		echo "{type: Sysbench, sysbench: {tables: 2, tableSize: 25000, seconds: $(seconds "$1"), sweep: {script: [$scripts]}}}"
		;;
	esac
}

# trials ALTERNATION of both: six in a round if trials take turns, and one point is measured.
trials() {
	if [ "$points" = 33 ]; then echo '{data: Keep}'
	elif [ "$points" = 1 ] && [ "$1" = Trials ]; then echo '{primeSeconds: 1, repetitions: 6}'
	else echo '{primeSeconds: 1}'; fi
}

# server is the image, and what its engine has besides. PostgreSQL counts statements for slices of other programs.
server() {
	local image=${IMAGE:-mariadb:11.8}
	case $image in
	*postgres*) echo "image: $image, variables: {shared_preload_libraries: pg_stat_statements}, settings: {redoLogSize: 1Gi" ;;
	*) echo "image: $image, settings: {redoLogSize: 96Mi, flushLogAtTrxCommit: 1, binaryLog: false" ;;
	esac
}

# memory QUESTION that a server may take: what is idle in MySQL takes more.
memory() { case $1 in pool | image-mysql*) echo 1200Mi ;; *) echo 672Mi ;; esac }

# cpus QUESTION of the first variant.
cpus() { if [ "$1" = cpu ]; then echo 600m; else echo 1; fi; }

# pool QUESTION of the first variant.
pool() { if [ "$1" = pool ]; then echo 64Mi; else echo 128Mi; fi; }

# seconds ALTERNATION is for how long a trial is measured: slices are parts of one trial a round, trials are six in a round. At
# several points a trial of each is measured in a round.
seconds() {
	if [ -n "${SECONDS_A_SIDE:-}" ]; then echo "$SECONDS_A_SIDE"
	elif [ "$points" != 1 ]; then echo 2
	elif [ "$1" = Trials ]; then echo 1
	else echo 4; fi
}

# slice ALTERNATION is its mean length in milliseconds; 0 is without slices.
slice() { if [ "$1" = Slices ]; then echo 500; else echo 0; fi }

# compare QUESTION ALTERNATION applies the run, waits for its end, and prints a line of the table. Each has a seed of its
# own: with the same one, what follows from the order would be the same in every repetition.
compare() {
	kubectl delete "benchmarkrun/$name" --ignore-not-found --timeout=3m >/dev/null
	kubectl apply -f - >/dev/null <<-YAML
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkRun
		metadata: {name: $name}
		spec:
		  alternation: $2
		  seed: $(date +%s)
		  rounds: {atMost: ${ROUNDS:-20}, atLeast: ${AT_LEAST:-6}, until: OverallDecided}
		  lane: $name
		  database: {$(server), bufferPoolSize: $(pool "$1")}, storage: {medium: NodeDisk, size: 1Gi},
		    resources: {requests: {cpu: 250m, memory: 672Mi}, limits: {cpu: "$(cpus "$1")", memory: $(memory "$1")}}}
		  workload: $(workload "$2")
		  loader: {resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 256Mi}}}
		  trials: $(trials "$2")
		  variants:
		  - {name: base}
		  - {name: other, $(variant "$1")}
	YAML
	kubectl wait --for=condition=Finished --timeout=60m "benchmarkrun/$name" >/dev/null
	local start end seconds
	start=$(kubectl get "benchmarkrun/$name" -o jsonpath='{.status.startTime}')
	end=$(kubectl get "benchmarkrun/$name" -o jsonpath='{.status.completionTime}')
	seconds=$(($(date -d "$end" +%s) - $(date -d "$start" +%s)))
	line "$1" "$2" "$seconds"
	if [ -n "${RECORD:-}" ]; then
		printf '{"second": "%s", "alternation": "%s", "beside": "%s", "minRounds": %d, "aSide": %d, "slice": %d, "seconds": %d, "results": %s}\n' \
			"$1" "$2" "${BESIDE:-}" "${AT_LEAST:-6}" "$(seconds "$2")" "$(slice "$2")" "$seconds" \
			"$(kubectl benchrun report "$name" -o json)" >"$RECORD/$start-$name.json"
	fi
}

# line QUESTION ALTERNATION SECONDS of the table, of the run that has finished.
line() {
	local of="{.status.pairs[0]"
	if [ "$points" != 1 ]; then of="{.status.overall[0]"; fi
	echo "| $1 | $2 | $(kubectl get "benchmarkrun/$name" -o jsonpath="$of.verdict} | $of.ratio} | $of.low}–$of.high} | $of.rounds}") | $3 |"
	if [ -n "${TABLE:-}" ]; then
		echo "$(date -u +%FT%H:%MZ),${WORKLOAD:-CommitSize}${IMAGE:+ on $IMAGE},${CLIENTS:-16},$1,$2,${BESIDE:-},$(kubectl get "benchmarkrun/$name" \
			-o jsonpath="$of.verdict},$of.ratio},$of.low},$of.high},$of.rounds}"),$3,$(seconds "$2")" >>"$TABLE"
	fi
}

# compiler compiles the manager again and again.
compiler() {
	local cache
	cache=$(mktemp -d)
	trap 'rm -rf "$cache"' EXIT
	while GOCACHE=$cache go build -a -o "$cache/manager" ./cmd/manager; do :; done
}

if [ "${BESIDE:-}" = compiler ]; then
	set -m # a process group of its own, so that the compilers end too
	compiler &
	set +m
	beside=$!
	trap 'kill -- "-$beside"' EXIT
fi
echo "| second variant | alternation | verdict | ratio | interval | rounds | seconds |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: |"
for _ in $(seq "${1:-1}"); do
	for question in ${QUESTIONS:-same flush performance-schema general-log}; do
		for alternation in ${ALTERNATIONS:-Slices Trials Runs}; do compare "$question" "$alternation"; done
	done
done
kubectl delete "benchmarkrun/$name" --timeout=3m >/dev/null
