#!/usr/bin/env bash
# cluster.sh up [NAME…] — makes sure that there is a healthy kind cluster with these images of images.sh in its
#                 nodes; its kubeconfig is <repo>/bin/kubeconfig. Does everything that takes.
# cluster.sh load IMAGE… — copies images from Docker into the nodes that do not have them yet.
# cluster.sh down — removes it.
#
# The cluster is called benchrun, or $BENCHRUN_CLUSTER.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAME=${BENCHRUN_CLUSTER:-benchrun}

kube() { kubectl --context "kind-$NAME" --request-timeout 5s "$@"; }

kind() { tool kind "$@" --name "$NAME"; }

nodes() { docker ps --all --filter "label=io.x-k8s.kind.cluster=$NAME" --format '{{.Names}}'; }

workers() { nodes | grep -v "^$NAME-control-plane\$"; } # the control plane takes no Pods of ours

# available NAMESPACE DEPLOYMENT
available() { kube -n "$1" wait --for=condition=Available --timeout=1s "deployment/$2"; }

healthy() {
	kube wait --for=condition=Ready --timeout=1s nodes --all && available kube-system coredns &&
		available local-path-storage local-path-provisioner
}

# In the nodes' /run, which is in memory: there from when the cluster was first healthy until a node is started again.
BOOT=/run/benchrun-boot

# same_boot tells whether the nodes run, and have since the cluster was made. After a restart their
# addresses may be each other's and what runs on them is anybody's guess; a new cluster takes less
# time than finding out.
same_boot() {
	local node
	for node in $(nodes); do
		docker exec "$node" test -e "$BOOT" 2>/dev/null || return
	done
}

mark_boot() {
	local node
	for node in $(nodes); do docker exec "$node" touch "$BOOT"; done
}

diagnose() {
	local node
	{
		kube get nodes -o wide || true
		kube get pods --all-namespaces -o wide | grep -v ' Running ' || true
		kube get events --all-namespaces --field-selector type=Warning --sort-by .lastTimestamp | tail -n 15 || true
		for node in $(nodes); do
			docker exec "$node" sh -c 'tail -n 5 /var/log/kubelet.log /var/log/containerd.log' || docker logs --tail 5 "$node" || true
		done
	} >&2
}

# kubectl_of NODE-IMAGE FOLDER — the node image has it.
kubectl_of() {
	local container
	container=$(docker create "$1")
	docker cp --follow-link "$container:/usr/bin/kubectl" "$2/kubectl"
	docker rm "$container" >/dev/null
}

# ensure_kubeconfig leads to this cluster: the folder bin may have been emptied since that was made, or have the kubeconfig of a
# cluster before it.
ensure_kubeconfig() { kind export kubeconfig --quiet; }

# offer_storage makes the StorageClasses besides standard, and the block I/O classes. A worker that cannot have them is no reason
# to have no cluster.
offer_storage() {
	local node
	for node in $(workers); do
		docker exec -i "$node" bash -s <"$HACK/node-image/node-storage" || {
			log "node $node has no file systems for fast-xfs and fast-ext4, see above: standard is the only StorageClass"
			return
		}
	done
	if kube get storageclass fast-xfs fast-ext4 >/dev/null 2>&1; then return; fi
	kube -n local-path-storage patch configmap local-path-config --patch-file "$HACK/storage-config.yaml" >/dev/null
	kube -n local-path-storage rollout restart deployment local-path-provisioner >/dev/null
	kube apply -f "$HACK/storage.yaml" >/dev/null
}

# create NODE-IMAGE the cluster, or say why not and leave nothing. It may be tried again: kind waits half a minute for a node to
# start, which is not enough on a machine that does other things.
create() {
	log "creating cluster $NAME"
	if kind create cluster --retain --config "$HACK/kind.yaml" --image "$1" >&2; then return; fi
	diagnose
	delete
	return 1
}

up() {
	local images node_image key
	images=$("$HACK/images.sh" node "$@")
	node_image=${images%%$'\n'*}
	key=kubectl/$(docker image inspect --format '{{.Id}}' "$node_image")
	cached "$key" kubectl_of "$node_image"
	mkdir -p "$BIN"
	ln -sfn "$CACHE/$key/kubectl" "$BIN/kubectl"
	if [ -n "$(nodes)" ]; then
		if same_boot && ensure_kubeconfig && healthy >/dev/null 2>&1; then
			log "cluster $NAME is healthy"
		else
			log "cluster $NAME is not healthy: making a new one"
			delete
		fi
	fi
	if [ -z "$(nodes)" ]; then
		create "$node_image" || create "$node_image" || create "$node_image" || die "kind could not create the cluster"
	fi
	offer_storage
	# shellcheck disable=SC2046 # one argument for each
	load $(tail -n +2 <<<"$images") # while the cluster gets ready
	if ! wait_until 180 healthy; then
		diagnose
		die "the cluster is not healthy after three minutes, see above"
	fi
	mark_boot
}

delete() {
	kind delete cluster --quiet 2>/dev/null || true
	# kind gives up where a container cannot be stopped; Docker can.
	local left
	left=$(nodes)
	# shellcheck disable=SC2086 # one argument for each
	[ -z "$left" ] || docker rm --force --volumes $left >/dev/null
}

# has NODE IMAGE ID — containerd knows both. An image that has been built anew has another ID.
has() {
	local names
	names=$(docker exec "$1" ctr --namespace k8s.io images list --quiet 2>/dev/null) &&
		grep -Eq "(^|/)$2\$" <<<"$names" && grep -qx "$3" <<<"$names"
}

load() {
	local image id node workers missing=()
	workers=$(workers)
	for image; do
		id=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) || die "Docker has no image $image"
		for node in $workers; do
			has "$node" "$image" "$id" || missing+=("$image")
		done
	done
	if [ ${#missing[@]} -eq 0 ]; then return; fi
	log "loading ${missing[*]} into the nodes"
	kind load docker-image --nodes "${workers//$'\n'/,}" "${missing[@]}" >&2
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
up) locked "cluster-$NAME" up "$@" ;;
load) locked "cluster-$NAME" load "$@" ;;
down) if have docker && docker info >/dev/null 2>&1; then locked "cluster-$NAME" delete; fi ;;
*) usage ;;
esac
