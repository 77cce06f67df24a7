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

module() { go -C "$(dirname "$MODFILE")" list -m -f "$1" "github.com/mariadb-operator/mariadb-operator/v25"; }

charts() {
	go -C "$(dirname "$MODFILE")" mod download "github.com/mariadb-operator/mariadb-operator/v25"
	module '{{.Dir}}/deploy/charts'
}

image() {
	local version repository
	version=$(module '{{.Version}}')
	repository=$(sed -n 's/^  repository: //p' "$(charts)/mariadb-operator/values.yaml") # of the top level: there are deeper ones
	echo "$repository:${version#v}"
}

rootfs() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	log "building the MariaDB operator (some three minutes on two cores)"
	mkdir -m 755 "$work/bin"
	build_tool controller "$MODFILE" "$work/bin"
	tar -cf "$1" -C "$work" --transform s/controller/mariadb-operator/ bin
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
	# Where an installation was killed, helm believes for ever that it goes on: make it forget that one.
	kubectl --namespace "$NAMESPACE" delete secret --selector 'owner=helm,status in (pending-install,pending-upgrade)' \
		>/dev/null 2>&1 || true
	# The one chart depends on the other. That is switched off by default, but helm insists on finding it.
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cp -R "$(charts)"/. "$work"
	chmod -R u+w "$work"
	mkdir "$work/mariadb-operator/charts"
	cp -R "$work/mariadb-operator-crds" "$work/mariadb-operator/charts"
	for chart in mariadb-operator-crds mariadb-operator; do
		tool helm upgrade "$chart" "$work/$chart" --install --namespace "$NAMESPACE" --create-namespace --wait --timeout 3m >/dev/null || {
			kubectl --namespace "$NAMESPACE" get pods >&2
			die "the MariaDB operator did not get ready"
		}
	done
	wait_until 60 takes_objects || {
		takes_objects >&2 || true
		die "the MariaDB operator takes no objects, see above"
	}
	# kubectl remembers for hours which kinds a server has.
	kubectl api-resources --api-group=k8s.mariadb.com >/dev/null
}

case ${1:-} in
up) locked mariadb-operator up ;;
image) image ;;
rootfs) rootfs "${2:?which file?}" ;;
*) usage ;;
esac
