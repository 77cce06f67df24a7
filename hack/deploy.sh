#!/usr/bin/env bash
# deploy.sh — installs the operator into the kind cluster by its chart, with the images that build-images.sh has built, and
# waits until it is up.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=/dev/null
. "$BIN/images.env"

"$HACK/cluster.sh" load "benchrun/manager:$MANAGER_TAG" "benchrun/loader:$LOADER_TAG" \
	"benchrun/loader-sysbench:$LOADER_SYSBENCH_TAG"
log "installing the chart"
"$BIN/helm" upgrade benchrun "$REPO/charts/benchrun" --install --namespace "${NAMESPACE:-benchrun-system}" --create-namespace \
	--set image.repository=benchrun/manager --set image.tag="$MANAGER_TAG" \
	--set loader.image.repository=benchrun/loader --set loader.image.tag="$LOADER_TAG" \
	--set loader.sysbenchImage.repository=benchrun/loader-sysbench --set loader.sysbenchImage.tag="$LOADER_SYSBENCH_TAG" \
	--wait --timeout 3m >/dev/null

# kubectl remembers for hours which kinds a server has; this makes it ask again, so that it knows ours from the first
# command on.
"$BIN/kubectl" api-resources --api-group=benchrun.dev >/dev/null
