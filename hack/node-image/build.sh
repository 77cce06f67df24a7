#!/usr/bin/env bash
# build.sh FILE — makes the root file system of the stand-in for kindest/node, out of Debian packages
# and Go modules. What to run in it, images.sh says when it imports it.
#
# There is one root for everything: with Debian's tools and all the programs it is the only layer of
# the images that the cluster's own Pods run from, and with those images and the node's own files on
# top it is the node.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/../lib.sh"

file=$1
here=$HACK/node-image
work=$(mktemp -d "$file.XXXXXX")
trap 'rm -rf "$work"' EXIT

# archive LAYER FILE — the system's images as docker save would write them: one image under the names that kubeadm asks for, and
# one for whatever has no name of its own.
archive() {
	local layer=$1 file=$2 digest names
	digest=$(sha256sum "$layer" | cut -d ' ' -f 1)
	names=$("$programs/kubeadm" config images list --kubernetes-version "$KUBERNETES" | sed 's/.*/"&",/')
	cat >"$work/config.json" <<-JSON
		{"architecture": "$(go env GOARCH)", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]},
		 "config": {"Entrypoint": ["pause"], "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}}
	JSON
	cat >"$work/manifest.json" <<-JSON
		[{"Config": "config.json", "RepoTags": [$names "localhost/node:programs"], "Layers": ["$(basename "$layer")"]}]
	JSON
	tar -C "$work" -cf "$file" manifest.json config.json "$(basename "$layer")"
}

programs=$("$HACK/programs.sh")
log "making the root file system"
# shellcheck disable=SC2016 # $1 is for the hook: the folder that mmdebstrap works in
debian_tar trixie \
	containerd,iptables,iproute2,conntrack,mount,kmod,procps,containernetworking-plugins,ca-certificates,jq,socat,ethtool,xfsprogs,e2fsprogs \
	--customize-hook="copy-in $here/containerd.toml /tmp" --customize-hook='mv "$1/tmp/containerd.toml" "$1/etc/containerd/config.toml"' \
	--customize-hook="sync-in $programs /usr/bin" \
	--customize-hook='ln -s /usr/bin/kube-proxy "$1/usr/local/bin"' "$work/root.tar" # where kubeadm says it is

root=$work/root
mkdir -p "$root"/{etc/kubernetes/manifests,kind/{images,manifests},usr/local/{bin,sbin},var/lib/kubelet}
archive "$work/root.tar" "$root/kind/images/system.tar"
cp "$here"/{entrypoint,node-storage} "$root/usr/local/bin"
cp "$here/runc-without-sys-resource" "$root/usr/local/sbin/runc" # before Debian's in the PATH
cp "$here"/default-{cni,storage}.yaml "$root/kind/manifests"
printf '%s' "$KUBERNETES" >"$root/kind/version"
# Docker refuses an archive that has a path twice, hence no folders but the empty, new ones.
(cd "$root" && find . \( ! -type d -o -empty \) -print0) |
	tar --append --file="$work/root.tar" --owner=0 --group=0 --mode=u=rwX,go=rX -C "$root" --null --files-from=-
mv "$work/root.tar" "$file"
