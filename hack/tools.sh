#!/usr/bin/env bash
# tools.sh NAME… — puts pinned tools into <repo>/bin: controller-gen, ginkgo, golangci-lint, gotestsum, helm,
# kind, kubectl, setup-envtest. They are built from their Go modules once for all clones and linked.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

# link NAME FILE — makes bin/NAME a link to FILE, in one step: another make may be running it.
link() {
	mkdir -p "$BIN"
	if [ "$(readlink "$BIN/$1")" = "$2" ]; then return; fi
	ln -s "$2" "$BIN/.$1.$$"
	mv -f "$BIN/.$1.$$" "$BIN/$1"
}

build() {
	local package=$1 ldflags=$2 dir=$3
	log "building $package"
	go_install "$dir" "$package" -ldflags "-s -w $ldflags"
}

# go_tool NAME VERSION PACKAGE [LDFLAGS]
go_tool() {
	local name=$1 version=$2 package=$3 ldflags=${4:-}
	# The Go version is part of the key: golangci-lint refuses code newer than the Go it was built with.
	local key
	key=tools/$name-$version-$(go env GOVERSION)
	cached "$key" build "$package@$version" "$ldflags"
	link "$name" "$CACHE/$key/$name"
}

# kubectl is in the node image: taken from there if there is one, or else from what it is built of.
kubectl_from_image() {
	local dir=$1 container
	container=$(docker create "kindest/node:$KUBERNETES")
	docker cp --follow-link "$container:/usr/bin/kubectl" "$dir/kubectl"
	docker rm "$container" >/dev/null
}

kubectl() {
	if docker image inspect "kindest/node:$KUBERNETES" >/dev/null 2>&1; then
		cached "tools/kubectl-$KUBERNETES" kubectl_from_image
		link kubectl "$CACHE/tools/kubectl-$KUBERNETES/kubectl"
	else
		local dir
		dir=$("$HACK/kubernetes.sh")
		link kubectl "$dir/kubectl"
	fi
}

[ $# -gt 0 ] || usage
for name; do
	case $name in
	controller-gen) go_tool "$name" "$CONTROLLER_TOOLS" sigs.k8s.io/controller-tools/cmd/controller-gen ;;
	ginkgo) go_tool "$name" "$GINKGO" github.com/onsi/ginkgo/v2/ginkgo ;;
	golangci-lint) go_tool "$name" "$GOLANGCI_LINT" github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
	gotestsum) go_tool "$name" "$GOTESTSUM" gotest.tools/gotestsum ;;
	helm) go_tool "$name" "$HELM" helm.sh/helm/v4/cmd/helm "-X helm.sh/helm/v4/internal/version.version=$HELM" ;;
	kind) go_tool "$name" "$KIND" sigs.k8s.io/kind ;;
	kubectl) kubectl ;;
	setup-envtest) go_tool "$name" "$SETUP_ENVTEST" sigs.k8s.io/controller-runtime/tools/setup-envtest ;;
	*) die "no such tool: $name" ;;
	esac
done
