#!/usr/bin/env bash
# envtest.sh — prints the folder with kube-apiserver, etcd and kubectl that envtest wants to find in
# KUBEBUILDER_ASSETS: setup-envtest's download, or our own build where there is nothing to download.
#
#   export KUBEBUILDER_ASSETS=$(hack/envtest.sh)
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

MINOR=${KUBERNETES%.*}
# Which way was taken is remembered: asking a network that is not there costs time on every run.
ANSWER=$CACHE/envtest/$KUBERNETES

setup_envtest() {
	"$BIN/setup-envtest" --bin-dir "$CACHE/envtest/downloads" "$@"
}

find_assets() {
	local dir=$1 assets
	"$HACK/tools.sh" setup-envtest
	# The index is small: if it does not come soon, neither will the programs.
	if with_timeout 15 "$BIN/setup-envtest" list --bin-dir "$CACHE/envtest/downloads" \
		"${MINOR#v}.x" >/dev/null 2>&1; then
		assets=$(setup_envtest use --print path "${MINOR#v}.x")
	else
		log "setup-envtest can download nothing here"
		assets=$("$HACK/kubernetes.sh")
	fi
	printf '%s\n' "$assets" >"$dir/assets"
}

if [ -f "$ANSWER/assets" ] && [ ! -x "$(cat "$ANSWER/assets")/kube-apiserver" ]; then
	rm -rf "$ANSWER" # what it points to was cleaned away
fi
cached "envtest/$KUBERNETES" find_assets
cat "$ANSWER/assets"
