#!/usr/bin/env bash
# deploy.sh chart|kustomize — installs the operator that `make build` has compiled into the kind cluster, and waits until it is
# up, with all that its workloads need: by its chart, or by kustomize, which needs no Helm.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=benchrun-system

# only_by MANAGER — the two ways name objects alike and select Pods differently: what the other one has installed goes first.
only_by() {
	local by
	by=$(kubectl get deployment benchrun-manager -n $NAMESPACE -o jsonpath='{.metadata.labels.app\.kubernetes\.io/managed-by}' 2>/dev/null || true)
	if [ -n "$by" ] && [ "$by" != "$1" ]; then kubectl delete namespace $NAMESPACE --timeout=2m >&2; fi
}

by_chart() {
	only_by Helm
	tool helm upgrade benchrun charts/benchrun --install --take-ownership --force-conflicts --namespace $NAMESPACE --create-namespace \
		--set-string image.repository="${1%:*}" --set-string image.tag="${1#*:}" \
		--set-string loader.image.repository="${2%:*}" --set-string loader.image.tag="${2#*:}" \
		--set-string loader.sysbenchImage.repository="${3%:*}" --set-string loader.sysbenchImage.tag="${3#*:}" \
		--set lanes=null --set-string maxTurn= \
		--wait --timeout 3m >&2 # nobody shares this cluster: any lane, for as long as it takes
}

by_kustomize() {
	only_by kustomize
	mkdir -p "$BIN/kustomize"
	cat >"$BIN/kustomize/kustomization.yaml" <<-YAML
		resources: [../../config/default]
		images:
		- {name: unset.invalid/manager, newName: ${1%:*}, newTag: ${1#*:}}
		labels:
		- {pairs: {app.kubernetes.io/version: "${1#*:}"}, includeTemplates: true}
		patches:
		- target: {kind: Deployment, name: benchrun-manager}
		  patch: |
		    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--loader-image=$2"}
		    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--sysbench-image=$3"}
	YAML
	kubectl apply -k "$BIN/kustomize" >&2
	kubectl rollout status deployment/benchrun-manager -n $NAMESPACE --timeout=3m >&2
}

case ${1:-} in
chart | kustomize) ;;
*) usage ;;
esac
images=$("$HACK/build-images.sh" manager loader loader-sysbench)
# shellcheck disable=SC2086 # one argument for each
"$HACK/cluster.sh" load $images
# shellcheck disable=SC2086
"by_$1" $images
# kubectl remembers for hours which kinds a server has; this makes it ask again, so that it knows ours from the first
# command on.
kubectl api-resources --api-group=benchrun.dev >/dev/null
