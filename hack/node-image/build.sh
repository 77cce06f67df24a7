#!/usr/bin/env bash
# build.sh FILE — makes the root file system of the stand-in for kindest/node, out of Debian packages
# and Go modules. What to run in it, images.sh says when it imports it.
#
# There is one root for everything: with Debian's tools and all the programs it is the only layer of
# the images that the cluster's own Pods run from, and with those images, containerd and the rest on
# top it is the node.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/../lib.sh"

file=$1
here=$HACK/node-image
work=$(mktemp -d "$file.XXXXXX")
trap 'rm -rf "$work"' EXIT

install_containerd() {
	log "building containerd $CONTAINERD"
	local module=github.com/containerd/containerd/v2 program
	for program in containerd ctr containerd-shim-runc-v2; do
		go_install "$1" "$module/cmd/$program@$CONTAINERD" -tags 'no_btrfs no_devmapper no_zfs no_aufs' \
			-ldflags "-s -w -X $module/version.Version=$CONTAINERD"
	done
}

install_addons() {
	log "building CoreDNS $COREDNS and local-path-provisioner $LOCAL_PATH_PROVISIONER"
	go_install "$1" "github.com/coredns/coredns@$COREDNS" -ldflags '-s -w'
	go_install "$1" "github.com/rancher/local-path-provisioner@$LOCAL_PATH_PROVISIONER" -ldflags '-s -w'
}

# tagged NAME — the image of that name which kubeadm asks for, with the tag it asks for.
tagged() { "$kubernetes/kubeadm" config images list --kubernetes-version "$KUBERNETES" | grep "/$1:"; }

# archive LAYER FILE — the system's images as docker save would write them: one layer, many names.
archive() {
	local layer=$1 file=$2 digest dir=$work/archive
	mkdir "$dir"
	mv "$layer" "$dir/layer.tar"
	digest=sha256:$(sha256sum "$dir/layer.tar" | cut -d ' ' -f 1)
	add() { # NAME ENTRYPOINT IMAGE…
		jq -n --arg entrypoint "$2" --arg digest "$digest" '{architecture: $ARGS.named.arch, os: "linux",
			config: {Entrypoint: (if $entrypoint == "" then null else [$entrypoint] end),
				Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
			rootfs: {type: "layers", diff_ids: [$digest]}}' --arg arch "$(go env GOARCH)" >"$dir/$1.json"
		jq -n --arg config "$1.json" '{Config: $config, RepoTags: $ARGS.positional, Layers: ["layer.tar"]}' \
			--args "${@:3}" >>"$work/manifests"
	}
	# kubeadm names the command of each of its components but these two.
	add coredns coredns "$(tagged coredns)"
	add pause pause "$(tagged pause)"
	add programs '' "$(tagged kube-apiserver)" "$(tagged kube-controller-manager)" "$(tagged kube-scheduler)" \
		"$(tagged kube-proxy)" "$(tagged etcd)" "docker.io/rancher/local-path-provisioner:$LOCAL_PATH_PROVISIONER"
	jq -s . "$work/manifests" >"$dir/manifest.json"
	tar -C "$dir" -cf "$file" manifest.json coredns.json pause.json programs.json layer.tar
	mv "$dir/layer.tar" "$layer"
}

kubernetes=$("$HACK/kubernetes.sh")
go=$(go env GOVERSION)
cached "containerd/$CONTAINERD-$go" install_containerd
cached "addons/$COREDNS-$LOCAL_PATH_PROVISIONER-$go" install_addons
programs=$work/programs
mkdir "$programs"
(cd "$here/pause" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$programs/pause" main.go)

log "making the root file system"
cp -a "$kubernetes"/. "$CACHE/addons/$COREDNS-$LOCAL_PATH_PROVISIONER-$go"/. "$programs"
# shellcheck disable=SC2016 # $1 is for the hook: the folder that mmdebstrap works in
debian_tar bookworm \
	iptables,iproute2,conntrack,mount,kmod,procps,runc,containernetworking-plugins,ca-certificates,jq,socat,ethtool \
	"$work/root.tar" --customize-hook="sync-in $programs /usr/bin" \
	--customize-hook='ln -s /usr/bin/kube-proxy "$1/usr/local/bin"' # where kubeadm says it is

root=$work/root
mkdir -p "$root"/{etc/{containerd,kubernetes/manifests},kind/{images,manifests},usr/{bin,local/{bin,sbin}},var/lib/kubelet}
archive "$work/root.tar" "$root/kind/images/system.tar"
cp "$CACHE/containerd/$CONTAINERD-$go"/* "$root/usr/bin"
cp "$here/entrypoint" "$root/usr/local/bin"
cp "$here/runc-without-sys-resource" "$root/usr/local/sbin/runc" # before Debian's in the PATH
printf '%s' "$KUBERNETES" >"$root/kind/version"
sed "s|PAUSE|$(tagged pause | cut -d : -f 2)|" "$here/containerd.toml" >"$root/etc/containerd/config.toml"
for manifest in default-cni default-storage; do
	sed "s|:KUBERNETES\$|:$KUBERNETES|; s|:LOCAL_PATH_PROVISIONER\$|:$LOCAL_PATH_PROVISIONER|" \
		"$here/$manifest.yaml" >"$root/kind/manifests/$manifest.yaml"
done
# Docker refuses an archive that has a path twice, hence no folders but the empty, new ones.
(cd "$root" && find . \( ! -type d -o -empty \) -print0) |
	tar --append --file="$work/root.tar" --owner=0 --group=0 --mode=u=rwX,go=rX -C "$root" --null --files-from=-
mv "$work/root.tar" "$file"
