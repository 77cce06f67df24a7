#!/usr/bin/env bash
# programs.sh — builds the Go programs of the node image, the Kubernetes ones as one binary with many links, and prints the
# folder with them. The node image is made of it, envtest and kubectl come from it; needs no Docker.
# programs.sh download — only fetches the sources, for the time that something else compiles.
# programs.sh built — tells whether they are there.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE=$HACK/node-image
LOCAL_PATH=github.com/rancher/local-path-provisioner
PACKAGES=(./kubernetes ./coredns ./pause)

key=programs/$KUBERNETES-$(fingerprint "$SOURCE"/{go.mod,go.sum,kubernetes/main.go,coredns/main.go,pause/main.go} "$0")

sources() {
	cd "$SOURCE"
	go list -deps "${PACKAGES[@]}" >/dev/null && go list -deps "$LOCAL_PATH" >/dev/null
}

build() {
	local dir=$1 minor=${KUBERNETES#v1.} version=k8s.io/component-base/version program
	log "building Kubernetes $KUBERNETES, CoreDNS and local-path-provisioner"
	cd "$SOURCE"
	# Without its version Kubernetes says v0.0.0, and kubeadm refuses to work with that.
	go_build -v -o "$dir/" -ldflags "-s -w -X $version.gitVersion=$KUBERNETES -X $version.gitMajor=1 \
		-X $version.gitMinor=${minor%.*} -X k8s.io/client-go/pkg/version.gitVersion=$KUBERNETES" "${PACKAGES[@]}"
	# By itself: it imports logrus by a name that differs from everybody else's in a capital letter.
	go_build -v -o "$dir/" -ldflags "-s -w" "$LOCAL_PATH"
	for program in etcd kube-{apiserver,controller-manager,proxy,scheduler} kubeadm kubectl kubelet; do
		ln -s kubernetes "$dir/$program"
	done
}

case ${1:-} in
'')
	cached "$key" build
	echo "$CACHE/$key"
	;;
download) "$0" built || sources ;;
built) [ -d "$CACHE/$key" ] ;;
*) usage ;;
esac
