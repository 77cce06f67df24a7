#!/usr/bin/env bash
# bench-minutes.sh [TURNS] — how many minutes a comparison takes on the kind cluster until it has its answer, and how precise that
# is, with each alternation in turn. Prints a Markdown table, with a line as soon as a comparison has ended. In the environment:
# QUESTIONS are what the second variant is: same; flush (the log once a second); performance-schema (on); pool (512 MiB of buffer
# pool in place of 64); mysql; general-log (on: the server writes down each statement), slow-log (the same with the time that each
# took). ALTERNATIONS are Slices, Trials and Runs.
# POINTS is 1 or 8; with 8, a comparison ends with the answer of all points together. ROUNDS are at most so many, 20 if unset.
# BESIDE=compiler has a compiler run on the same machine meanwhile; of anything else it says that it ran. NAME is that of the
# comparisons and of their lane: those of two names measure at the same time. RECORD is a folder for what each comparison measured,
# which `go run ./test/statistics -record FOLDER` adds to the recordings.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

name=${NAME:-bench-minutes}
points=${POINTS:-1}

# variant QUESTION is what the second variant has.
variant() {
	case $1 in
	same) ;;
	flush) echo 'database: {settings: {flushLogAtTrxCommit: 0}}' ;;
	performance-schema) echo 'database: {variables: {performance_schema: "ON"}}' ;;
	pool) echo 'database: {settings: {bufferPoolSize: 512Mi}}' ;;
	mysql) echo 'database: {engine: MySQL, image: "mysql:9.7"}' ;;
	general-log) echo 'database: {variables: {general_log: "ON"}}' ;;
	slow-log) echo 'database: {variables: {slow_query_log: "ON", long_query_time: "0"}}' ;;
	*) die "question $1 is not known: same, flush, performance-schema, pool, mysql, general-log, slow-log" ;;
	esac
}

# load is the workload of both.
load() {
	if [ "$points" = 1 ]; then
		echo '{rowsPerCommit: 1}'
	else
		echo '{sweep: {rowsPerCommit: [1, 2, 4, 8, 16, 32, 64, 128]}}'
	fi
}

# memory QUESTION that a server may take: what is idle in MySQL takes more.
memory() { case $1 in pool | mysql) echo 1200Mi ;; *) echo 672Mi ;; esac }

# pool QUESTION of the first variant.
pool() { if [ "$1" = pool ]; then echo 64Mi; else echo 128Mi; fi; }

# seconds ALTERNATION is for how long a trial is measured: slices are parts of one trial a round, trials are six in a round. At
# several points a trial of each is measured in a round.
seconds() { if [ "$points" != 1 ]; then echo 2; else case $1 in Trials) echo 1 ;; *) echo 5 ;; esac fi }

# compare QUESTION ALTERNATION applies the comparison, waits for its end, and prints a line of the table. Each has a seed of its
# own: with the same one, what follows from the order would be the same in every repetition.
compare() {
	kubectl delete "benchmarkcomparison/$name" --ignore-not-found --timeout=3m >/dev/null
	kubectl apply -f - >/dev/null <<-YAML
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkComparison
		metadata: {name: $name}
		spec:
		  alternation: $2
		  seed: $(date +%s)
		  maxRounds: ${ROUNDS:-20}
		  earlyStop: {policy: WhenOverallDecided}
		  template:
		    spec:
		      lane: $name
		      database:
		        image: mariadb:11.8
		        settings: {bufferPoolSize: $(pool "$1"), logFileSize: 96Mi, flushLogAtTrxCommit: 1, binaryLog: false}
		        storage: {medium: NodeDisk, size: 1Gi}
		        resources: {requests: {cpu: 250m, memory: 672Mi}, limits: {cpu: "1", memory: $(memory "$1")}}
		      workload: {type: CommitSize, commitSize: $(load), limits: {seconds: $(seconds "$2")}}
		      loader: {resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 256Mi}}}
		      trials: {primeSeconds: 1}
		  variants:
		  - {name: base}
		  - {name: other, $(variant "$1")}
	YAML
	kubectl wait --for=condition=Finished --timeout=60m "benchmarkcomparison/$name" >/dev/null
	local start end seconds
	start=$(kubectl get "benchmarkcomparison/$name" -o jsonpath='{.status.startTime}')
	end=$(kubectl get "benchmarkcomparison/$name" -o jsonpath='{.status.completionTime}')
	seconds=$(($(date -d "$end" +%s) - $(date -d "$start" +%s)))
	line "$1" "$2" "$seconds"
	if [ -n "${RECORD:-}" ]; then
		printf '{"second": "%s", "alternation": "%s", "beside": "%s", "seconds": %d, "results": %s}\n' "$1" "$2" "${BESIDE:-}" \
			"$seconds" "$(kubectl benchrun report "comparison/$name" -o json)" >"$RECORD/$start-$name.json"
	fi
}

# line QUESTION ALTERNATION SECONDS of the table, of the comparison that has finished.
line() {
	local of="{.status.pairs[0]"
	if [ "$points" != 1 ]; then of="{.status.overall[0]"; fi
	echo "| $1 | $2 | $(kubectl get "benchmarkcomparison/$name" -o jsonpath="$of.verdict} | $of.ratio} | $of.low}–$of.high} | $of.rounds}") | $3 |"
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
kubectl delete "benchmarkcomparison/$name" --timeout=3m >/dev/null
