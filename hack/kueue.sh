#!/usr/bin/env bash
# kueue.sh up — installs Kueue into the kind cluster by its own chart, and waits until it takes queues. It manages only
#               namespaces with the label kueue-managed=true (kueue.yaml). Again: builds nothing and leaves everything as it is.
# kueue.sh down — removes it, with these namespaces and all queues.
# kueue.sh image — prints the name of its image.
# kueue.sh rootfs FILE — makes the root file system of the stand-in for that image: the manager as one static binary. What to
#                        run in it, images.sh says when it imports it.
#
# Source, CRDs and chart all come in one Go module: nothing is needed from a chart repository or an image registry.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=kueue-system
MODFILE=$HACK/tools/kueue/go.mod
MODULE=sigs.k8s.io/kueue
# Of a release: the chart in the module names a branch's image.
REPOSITORY=registry.k8s.io/kueue/kueue

version() { module "$MODFILE" "$MODULE" '{{.Version}}'; }

image() { echo "$REPOSITORY:$(version)"; }

rootfs() {
	log "building Kueue (some seven minutes on two cores)"
	program_root "$MODFILE" kueue manager "$1"
}

# takes_queues tells whether the webhooks answer, with a certificate that the API server knows.
takes_queues() {
	kubectl apply --dry-run=server --filename - <<-YAML
		{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: probe}, spec: {namespaceSelector: {}}}
	YAML
}

up() {
	local image
	image=$("$HACK/images.sh" kueue)
	"$HACK/cluster.sh" load "$image"
	log "installing Kueue"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cp -R "$(module "$MODFILE" "$MODULE" '{{.Dir}}/charts/kueue')" "$work"
	chmod -R u+w "$work"
	rm -r "$work/kueue/templates/visibility" # what kueue.yaml switches off
	helm_install "$NAMESPACE" kueue "$work/kueue" --values "$HACK/kueue.yaml" \
		--set-string "controllerManager.manager.image.repository=${image%:*},controllerManager.manager.image.tag=${image##*:}"
	wait_until_accepted takes_queues
	# kubectl remembers for hours which kinds a server has.
	kubectl api-resources --api-group=kueue.x-k8s.io >/dev/null
}

down() {
	if ! tool helm status kueue --namespace "$NAMESPACE" >/dev/null 2>&1; then return; fi
	log "removing Kueue"
	# While it runs: it has finalizers on all of this.
	kubectl delete namespaces --selector kueue-managed=true --timeout 3m >&2
	kubectl delete clusterqueues.kueue.x-k8s.io,resourceflavors.kueue.x-k8s.io --all --timeout 1m >&2
	tool helm uninstall kueue --namespace "$NAMESPACE" --wait --timeout 3m >&2
	kubectl delete namespace "$NAMESPACE" --timeout 3m >&2
}

case ${1:-} in
up) locked kueue up ;;
down) locked kueue down ;;
image) image ;;
rootfs) rootfs "${2:?which file?}" ;;
*) usage ;;
esac
