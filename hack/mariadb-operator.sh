#!/usr/bin/env bash
# mariadb-operator.sh up — installs MariaDB's own operator into the kind cluster by its own charts, and waits until it takes
#                          MariaDB objects. Again: builds nothing and leaves everything as it is.
# mariadb-operator.sh image — prints the name of its image, as its chart has it.
# mariadb-operator.sh rootfs FILE — makes the root file system of the stand-in for that image: the operator as one static
#                          binary. What to run in it, images.sh says when it imports it.
#
# Source, CRDs and charts all come in one Go module: nothing is needed from a chart repository or an image registry.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=mariadb-operator
MODFILE=$HACK/tools/mariadb-operator/go.mod
MODULE=github.com/mariadb-operator/mariadb-operator/v25

charts() { module "$MODFILE" "$MODULE" '{{.Dir}}/deploy/charts'; }

image() {
	local version repository
	version=$(module "$MODFILE" "$MODULE" '{{.Version}}')
	repository=$(sed -n 's/^  repository: //p' "$(charts)/mariadb-operator/values.yaml") # of the top level: there are deeper ones
	echo "$repository:${version#v}"
}

rootfs() {
	log "building the MariaDB operator (some three minutes on two cores)"
	program_root "$MODFILE" controller bin/mariadb-operator "$1"
}

# takes_objects tells whether the webhook answers, with a certificate that the API server knows.
takes_objects() {
	kubectl apply --dry-run=server --namespace "$NAMESPACE" --filename - <<-YAML
		{apiVersion: k8s.mariadb.com/v1alpha1, kind: MariaDB, metadata: {name: probe}, spec: {storage: {ephemeral: true}}}
	YAML
}

up() {
	local image chart
	image=$("$HACK/images.sh" mariadb-operator)
	"$HACK/cluster.sh" load "$image"
	log "installing the MariaDB operator"
	# The one chart depends on the other. That is switched off by default, but helm insists on finding it.
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cp -R "$(charts)"/. "$work"
	chmod -R u+w "$work"
	mkdir "$work/mariadb-operator/charts"
	cp -R "$work/mariadb-operator-crds" "$work/mariadb-operator/charts"
	for chart in mariadb-operator-crds mariadb-operator; do
		helm_install "$NAMESPACE" "$chart" "$work/$chart"
	done
	wait_until_accepted takes_objects
	# kubectl remembers for hours which kinds a server has.
	kubectl api-resources --api-group=k8s.mariadb.com >/dev/null
}

case ${1:-} in
up) locked mariadb-operator up ;;
image) image ;;
rootfs) rootfs "${2:?which file?}" ;;
*) usage ;;
esac
