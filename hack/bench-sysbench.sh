#!/usr/bin/env bash
# bench-sysbench.sh [PAIRS] [SECONDS] — does sysbench lose anything by being run by the loader? Measures oltp_read_only by the
# loader and by hand, in turns, in the same image, with the same options, against the same MariaDB and the same tables; prints
# each pair, the median of the ratios, and its 95 % interval by order statistics. It only reads, because what the server still
# has to write would be part of the next measurement.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=/dev/null
. "$BIN/images.env"

pairs=${1:-10} seconds=${2:-10}
image=benchrun/loader-sysbench:$LOADER_SYSBENCH_TAG
[ "$pairs" -ge 6 ] || die "fewer than six pairs have no 95 % interval"
if [ -z "${BENCHRUN_TEST_HOST:-}" ]; then eval "$("$HACK/mariadb.sh" up 11.8)"; fi
: "${BENCHRUN_TEST_PORT:?}" "${BENCHRUN_TEST_USER:?}" "${BENCHRUN_TEST_PASSWORD:?}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
printf %s "$BENCHRUN_TEST_USER" >"$work/user"
printf %s "$BENCHRUN_TEST_PASSWORD" >"$work/password"
printf 'mysql-password="%s"\n' "$BENCHRUN_TEST_PASSWORD" >"$work/cnf"
: >"$work/summary"
chmod 644 "$work"/*
chmod 666 "$work/summary"

contain() {
	docker run --rm --network host --user 65532:65532 --read-only --tmpfs /tmp --tmpfs /run/benchrun:mode=1777 \
		--volume "$work:$work" "$@"
}

by_loader() {
	local config='{"version":1,"namespace":"bench","run":"bench","trial":'$(($1 + 1))',"attempt":1,"seed":42,"connectSeconds":10,
		"server":{"engine":"MariaDB","host":"'$BENCHRUN_TEST_HOST'","port":'$BENCHRUN_TEST_PORT',"schema":"bench_sysbench",
		"userFile":"'$work'/user","passwordFile":"'$work'/password"},"workload":{"type":"Sysbench","sysbench":{
		"script":"oltp_read_only","commands":["prepare","cleanup"],"keepData":true,"threads":2,"tables":2,"tableSize":10000,"seconds":'$seconds',
		"warmupSeconds":2,"percentile":95,"randType":"uniform"}}}'
	contain --env BENCHRUN_CONFIG="$config" --env BENCHRUN_RUN_UID="bench-$$" --env BENCHRUN_POD_UID="$1" \
		"$image" run --termination-log "$work/summary" >"$work/log"
	grep -o '"transactionsPerSecond","value":[0-9.]*' "$work/summary" | cut -d: -f2
}

by_hand() {
	local options=(oltp_read_only --config-file="$work/cnf" --db-driver=mysql --mysql-host="$BENCHRUN_TEST_HOST"
		--mysql-port="$BENCHRUN_TEST_PORT" --mysql-user="$BENCHRUN_TEST_USER" --mysql-db=bench_sysbench --threads=2
		--tables=2 --table-size=10000 --rand-type=uniform --percentile=95)
	contain --entrypoint sysbench "$image" "${options[@]}" --rand-seed=7 --time=2 run >/dev/null
	contain --entrypoint sysbench "$image" "${options[@]}" --rand-seed=42 --time="$seconds" --report-interval=1 --histogram=on run \
		>"$work/log"
	awk '/transactions:/ {n = $2} /total time:/ {print n / $3}' "$work/log"
}

by_loader 0 >/dev/null # makes the tables
for ((i = 1; i <= pairs; i++)); do
	if ((i % 2)); then
		a=$(by_loader "$i") b=$(by_hand)
	else
		b=$(by_hand) a=$(by_loader "$i")
	fi
	awk -v i="$i" -v a="$a" -v b="$b" 'BEGIN {printf "%2d  loader %8.1f  by hand %8.1f transactions/s  ratio %.4f\n", i, a, b, a / b}'
done | tee "$work/pairs"
# The k-th smallest and the k-th largest ratio enclose the median with a probability of 95 % or more: k is the largest number for
# which twice the chance of fewer than k heads in so many tosses is at most 5 %.
awk '{print $NF}' "$work/pairs" | sort -n | awk '{r[NR] = $1} END {
	p = 0.5 ^ NR; sum = 0
	for (k = 0; 2 * (sum + p) <= 0.05; k++) {sum += p; p *= (NR - k) / (k + 1)}
	m = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
	printf "median of the ratio %.4f, 95 %% interval %.4f to %.4f\n", m, r[k], r[NR + 1 - k]}'
