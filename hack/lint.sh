#!/usr/bin/env bash
# lint.sh — lints everything: code, import directions, the API, shell scripts, workflows, the chart.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

have shellcheck || apt_install shellcheck || die "install shellcheck: https://www.shellcheck.net"
"$HACK/structure.sh" >/dev/null
tool golangci-lint-kube-api-linter run
tool golangci-lint-kube-api-linter run --config .golangci-kal.yml ./api/...
git ls-files -z 'hack/*.sh' 'hack/*/entrypoint' hack/node-image/node-storage 'hack/*/runc*' .ci/run | xargs -0 shellcheck -x
tool actionlint
tool helm lint --strict --quiet charts/benchrun
