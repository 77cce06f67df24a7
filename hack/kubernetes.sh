#!/usr/bin/env bash
# kubernetes.sh — builds the Kubernetes programs from their Go modules, as one binary with many
# links, and prints the folder with them. It is what the node image is made of, what envtest gets
# where its own binaries cannot be downloaded, and needs no Docker.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE=$HACK/node-image/kubernetes
PROGRAMS=(etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubeadm kubectl kubelet)

build() {
	local dir=$1 minor=${KUBERNETES#v1.}
	have go || die "Go is needed to build Kubernetes: https://go.dev/doc/install"
	log "building Kubernetes $KUBERNETES (some five minutes on two cores)"
	# Without its version the binary says v0.0.0, and kubeadm refuses to work with that.
	local version=k8s.io/component-base/version
	(cd "$SOURCE" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -mod=readonly -trimpath \
		-o "$dir/kubernetes" -ldflags "-s -w \
-X $version.gitVersion=$KUBERNETES -X $version.gitMajor=1 -X $version.gitMinor=${minor%.*} \
-X k8s.io/client-go/pkg/version.gitVersion=$KUBERNETES" .)
	local program
	for program in "${PROGRAMS[@]}"; do ln -s kubernetes "$dir/$program"; done
}

key=kubernetes/$KUBERNETES-$(fingerprint "$SOURCE"/{go.mod,go.sum,main.go} "$0")
cached "$key" build
echo "$CACHE/$key"
