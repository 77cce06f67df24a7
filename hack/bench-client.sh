#!/usr/bin/env bash
# bench-client.sh [ROUNDS [REGEXP]] — the loader's own client and go-sql-driver, in turns. See BenchmarkClient. Uses the MariaDB
# that BENCHRUN_TEST_… name, its Unix socket too if BENCHRUN_TEST_SOCKET names that, or that of server.sh.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

[ -n "${BENCHRUN_TEST_HOST:-}" ] || environment=$("$HACK/server.sh" up mariadb:11.8)
set -a
eval "${environment:-}"
go test -tags integration -run '^$' -bench "^BenchmarkClient$/${2:-}" -benchtime "${1:-8}x" -v -timeout 60m ./internal/loader
