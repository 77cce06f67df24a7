#!/usr/bin/env bash
# envtest.sh — prints the folder with kube-apiserver, etcd and kubectl that envtest wants to find in
# KUBEBUILDER_ASSETS: our own build, or setup-envtest's download where that exists or can be had.
#
#   export KUBEBUILDER_ASSETS=$(hack/envtest.sh)
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

if ! "$HACK/programs.sh" built; then
	setup_envtest=$(tool_path setup-envtest)
	minor=${KUBERNETES%.*}
	use() { "$setup_envtest" use --print path --bin-dir "$CACHE/envtest" "$@" "${minor#v}.x"; }
	if use --installed-only 2>/dev/null; then exit; fi
	# The index is small: if it does not come soon, neither will the programs.
	if with_timeout 15 "$setup_envtest" list --bin-dir "$CACHE/envtest" "${minor#v}.x" >/dev/null 2>&1; then
		use
		exit
	fi
	log "setup-envtest can download nothing here"
fi
exec "$HACK/programs.sh"
