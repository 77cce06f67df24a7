#!/usr/bin/env bash
# lint.sh — lints what is no Go: the shell scripts and the chart.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

if ! have shellcheck; then
	if ! have apt-get || [ "$(id -u)" -ne 0 ]; then die "install shellcheck: https://www.shellcheck.net"; fi
	apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends shellcheck >/dev/null
fi
git -C "$REPO" ls-files -z 'hack/*.sh' 'hack/*/entrypoint' '.ci/run' | (cd "$REPO" && xargs -0 shellcheck -x)
"$HACK/tools.sh" helm
"$BIN/helm" lint --strict --quiet "$REPO/charts/benchrun"
