#!/usr/bin/env bash
# bench-sysbench.sh [PAIRS] — does sysbench lose anything by being run by the loader? See BenchmarkSysbench. Uses the MariaDB that
# BENCHRUN_TEST_… name, or that of server.sh.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

[ -n "${BENCHRUN_TEST_HOST:-}" ] || environment=$("$HACK/server.sh" up mariadb:11.8)
set -a
eval "${environment:-}"
image=$("$HACK/build-images.sh" loader-sysbench)
go test -tags integration,sysbench -run '^$' -bench '^BenchmarkSysbench$' -benchtime "${1:-12}x" -timeout 60m \
	-exec "$HACK/in-image.sh $image" ./internal/loader
