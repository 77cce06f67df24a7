#!/usr/bin/env bash
# mariadb-operator.sh up — installs MariaDB's own operator into the kind cluster by its own charts, and waits until it takes
#                          MariaDB objects. Again: builds nothing and leaves everything as it is.
# mariadb-operator.sh down — removes it, its CRDs and all objects of their kinds.
# mariadb-operator.sh image — prints the name of its image, as its chart has it.
# mariadb-operator.sh rootfs FILE — makes the root file system of the stand-in for that image: the operator as one static
#                          binary. What to run in it, images.sh says when it imports it.
#
# Source, CRDs and charts all come in one Go module: nothing is needed from a chart repository or an image registry.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=mariadb-operator
MODULE=github.com/mariadb-operator/mariadb-operator/${MARIADB_OPERATOR%%.*}
SOURCE=mariadb-operator/$MARIADB_OPERATOR-$(fingerprint "$0") # in the cache
CHARTS=$CACHE/$SOURCE/charts

kubectl() { "$BIN/kubectl" "$@"; }

# --- Source and image ---------------------------------------------------------------------------

# fetch FOLDER — fills it with a module that has the operator among its tools, and with its charts. `go install` is no
# way to it: that wants a list of the versions, and not every module proxy hands one out.
fetch() {
	local dir=$1 source
	have go || die "Go is needed to fetch the MariaDB operator: https://go.dev/doc/install"
	log "fetching the MariaDB operator $MARIADB_OPERATOR"
	cd "$dir"
	go mod init benchrun.dev/mariadb-operator 2>/dev/null
	go get -tool "$MODULE/cmd/controller@$MARIADB_OPERATOR" 2>go.log || die "go get: $(tail -n 3 go.log)"
	source=$(go list -m -f '{{.Dir}}' "$MODULE")
	mkdir charts
	cp -R "$source"/deploy/charts/mariadb-operator{,-crds} charts
	chmod -R u+w charts
	# The one chart depends on the other. That is switched off by default, but helm insists on finding it.
	mkdir charts/mariadb-operator/charts
	cp -R charts/mariadb-operator-crds charts/mariadb-operator/charts
}

image() {
	cached "$SOURCE" fetch
	local repository
	repository=$(sed -n 's/^  repository: //p' "$CHARTS/mariadb-operator/values.yaml") # of the top level: there are deeper ones
	echo "$repository:${MARIADB_OPERATOR#v}"
}

rootfs() {
	local file=$1
	cached "$SOURCE" fetch
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	log "building the MariaDB operator $MARIADB_OPERATOR (some three minutes on two cores)"
	mkdir -m 755 "$work/bin"
	(cd "$CACHE/$SOURCE" && CGO_ENABLED=0 GOOS=linux GOFLAGS=-buildvcs=false go build -trimpath -ldflags '-s -w' \
		-o "$work/bin/mariadb-operator" "$MODULE/cmd/controller")
	tar -cf "$file" -C "$work" bin
}

# --- Commands -----------------------------------------------------------------------------------

# takes_objects tells whether the webhook answers, with a certificate that the API server knows.
takes_objects() {
	kubectl apply --dry-run=server --namespace "$NAMESPACE" --filename - <<-YAML
		{apiVersion: k8s.mariadb.com/v1alpha1, kind: MariaDB, metadata: {name: probe}, spec: {storage: {ephemeral: true}}}
	YAML
}

# install CHART [FLAG…]
install() {
	"$BIN/helm" upgrade "$1" "$CHARTS/$1" --install --namespace "$NAMESPACE" --create-namespace --wait --timeout 3m "${@:2}" >/dev/null
}

up() {
	local image
	image=$("$HACK/images.sh" mariadb-operator)
	"$HACK/tools.sh" helm kubectl
	"$HACK/cluster.sh" load "$image"
	log "installing the MariaDB operator $MARIADB_OPERATOR"
	# Where an installation was killed, helm believes for ever that it goes on: make it forget that one.
	kubectl --namespace "$NAMESPACE" delete secret --selector 'owner=helm,status in (pending-install,pending-upgrade)' \
		>/dev/null 2>&1 || true
	install mariadb-operator-crds
	if ! install mariadb-operator; then
		kubectl --namespace "$NAMESPACE" get pods >&2
		die "the MariaDB operator did not get ready"
	fi
	wait_until 60 takes_objects || {
		takes_objects >&2 || true
		die "the MariaDB operator takes no objects, see above"
	}
	# kubectl remembers for hours which kinds a server has.
	kubectl api-resources --api-group=k8s.mariadb.com >/dev/null
}

down() {
	local kinds
	"$HACK/tools.sh" helm kubectl
	kinds=$(kubectl api-resources --api-group=k8s.mariadb.com --output=name | paste -sd, -)
	# The objects go first: some have a finalizer, and only the operator takes it off.
	[ -z "$kinds" ] || kubectl delete "$kinds" --all --all-namespaces --timeout 2m >/dev/null
	"$BIN/helm" uninstall mariadb-operator mariadb-operator-crds --namespace "$NAMESPACE" --ignore-not-found --wait >/dev/null
	kubectl delete namespace "$NAMESPACE" --ignore-not-found --timeout 2m >/dev/null
}

case ${1:-} in
up) locked mariadb-operator up ;;
down) locked mariadb-operator down ;;
image) image ;;
rootfs) rootfs "${2:?which file?}" ;;
*) usage ;;
esac
