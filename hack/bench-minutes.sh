#!/usr/bin/env bash
# bench-minutes.sh [TURNS] — how many minutes a comparison takes on the kind cluster until it has its answer, and how precise that
# is, with each alternation in turn: of two equal variants, of flushing the log at every commit or once a second, and of the
# performance schema on or off. QUESTIONS and ALTERNATIONS in the environment name fewer. Prints a Markdown table, with a line as soon as a comparison has ended.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

name=bench-minutes

# variant QUESTION is the second variant's database settings.
variant() {
	case $1 in
	same) ;;
	flush) echo 'database: {settings: {flushLogAtTrxCommit: 0}}' ;;
	performance-schema) echo 'database: {variables: {performance_schema: "ON"}}' ;;
	esac
}

# seconds ALTERNATION is for how long a trial is measured: slices are parts of one trial a round, other trials are many.
seconds() { if [ "$1" = Slices ]; then echo 6; else echo 1; fi; }

# compare QUESTION ALTERNATION applies the comparison, waits for its end, and prints a line of the table.
compare() {
	kubectl delete "benchmarkcomparison/$name" --ignore-not-found --timeout=3m >/dev/null
	kubectl apply -f - >/dev/null <<-YAML
		apiVersion: benchrun.dev/v1alpha1
		kind: BenchmarkComparison
		metadata: {name: $name}
		spec:
		  alternation: $2
		  maxRounds: 20
		  template:
		    spec:
		      database:
		        image: mariadb:11.8
		        settings: {bufferPoolSize: 128Mi, logFileSize: 96Mi}
		        storage: {size: 1Gi}
		        resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 672Mi}}
		      workload: {type: CommitSize, commitSize: {rowsPerCommit: 1}, limits: {seconds: $(seconds "$2")}}
		      loader: {resources: {requests: {cpu: 250m}, limits: {cpu: "1", memory: 256Mi}}}
		      trials: {primeSeconds: 3}
		  variants:
		  - {name: base}
		  - {name: other, $(variant "$1")}
	YAML
	kubectl wait --for=condition=Finished --timeout=60m "benchmarkcomparison/$name" >/dev/null
	local pair="{.status.pairs[0]" start end
	start=$(kubectl get "benchmarkcomparison/$name" -o jsonpath='{.status.startTime}')
	end=$(kubectl get "benchmarkcomparison/$name" -o jsonpath='{.status.completionTime}')
	echo "| $1 | $2 | $(kubectl get "benchmarkcomparison/$name" -o jsonpath="$pair.verdict} | $pair.ratio} | $pair.low}–$pair.high} | $pair.rounds}") | $(($(date -d "$end" +%s) - $(date -d "$start" +%s))) |"
}

echo "| second variant | alternation | verdict | ratio | interval | rounds | seconds |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: |"
for _ in $(seq "${1:-1}"); do
	for question in ${QUESTIONS:-same flush performance-schema}; do
		for alternation in ${ALTERNATIONS:-Slices Trials Runs}; do compare "$question" "$alternation"; done
	done
done
kubectl delete "benchmarkcomparison/$name" --timeout=3m >/dev/null
