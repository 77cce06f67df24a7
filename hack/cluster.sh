#!/usr/bin/env bash
# cluster.sh up — makes sure that there is a healthy kind cluster with the database images in its
#                 nodes; its kubeconfig is <repo>/bin/kubeconfig. Does everything that takes.
# cluster.sh load IMAGE… — copies images from Docker into the nodes that do not have them yet.
# cluster.sh status — says how the cluster is, and fails if it is not well.
# cluster.sh down — removes it.
#
# The cluster is called benchrun, or $BENCHRUN_CLUSTER.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAME=${BENCHRUN_CLUSTER:-benchrun}
CONTROL_PLANE=$NAME-control-plane
export PATH=$BIN:$PATH

kube() { kubectl --context "kind-$NAME" --request-timeout 5s "$@"; }

nodes() { docker ps --all --filter "label=io.x-k8s.kind.cluster=$NAME" --format '{{.Names}}'; }

# --- Health -------------------------------------------------------------------------------------

nodes_ready() {
	local state
	state=$(kube get nodes -o jsonpath='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {end}')
	[ "$state" = 'True True True ' ]
}

# ready NAMESPACE DEPLOYMENT
ready() {
	local replicas
	replicas=$(kube -n "$1" get deployment "$2" -o jsonpath='{.status.readyReplicas}')
	[ "${replicas:-0}" -ge 1 ]
}

default_storage() {
	kube get storageclass -o jsonpath='{.items[*].metadata.annotations}' |
		grep -q '"storageclass.kubernetes.io/is-default-class":"true"'
}

healthy() {
	nodes_ready && ready kube-system coredns && ready local-path-storage local-path-provisioner && default_storage
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
			echo "--- $node"
			docker logs --tail 5 "$node" || true
			docker exec "$node" sh -c 'tail -n 5 /var/log/kubelet.log /var/log/containerd.log' || true
		done
	} >&2 2>&1
}

# --- Commands -----------------------------------------------------------------------------------

# kubeconfig exists for this cluster: the folder bin may have been emptied since it was made.
ensure_kubeconfig() {
	kubectl config get-contexts "kind-$NAME" >/dev/null 2>&1 || kind export kubeconfig --quiet --name "$NAME"
}

create() {
	log "creating cluster $NAME"
	local config=$HACK/kind.yaml
	if ! kind create cluster --quiet --name "$NAME" --config "$config" --image "$1" >&2; then
		diagnose
		die "kind could not create the cluster"
	fi
}

up() {
	"$HACK/docker.sh"
	local images node_image
	images=$("$HACK/images.sh")
	node_image=$(grep node <<<"$images")
	"$HACK/tools.sh" kind kubectl
	if [ -n "$(nodes)" ]; then
		if same_boot && ensure_kubeconfig && healthy 2>/dev/null; then
			log "cluster $NAME is healthy"
		else
			log "cluster $NAME is not healthy: making a new one"
			delete
		fi
	fi
	if [ -z "$(nodes)" ]; then create "$node_image"; fi
	# shellcheck disable=SC2046 # one argument for each
	load $(grep -v node <<<"$images") # while the cluster gets ready
	if ! wait_until 180 healthy; then
		diagnose
		die "the cluster is not healthy after three minutes, see above"
	fi
	mark_boot
}

delete() {
	kind delete cluster --quiet --name "$NAME" 2>/dev/null || true
	# kind gives up where a container cannot be stopped; Docker can.
	local left
	left=$(nodes)
	# shellcheck disable=SC2086 # one argument for each
	[ -z "$left" ] || docker rm --force --volumes $left >/dev/null
}

# has NODE IMAGE ID — containerd knows the image by its name and by its ID as the same.
has() {
	docker exec "$1" ctr --namespace k8s.io images list 2>/dev/null |
		awk -v name="$2" -v id="$3" '$1 == name { a = $3 } $1 == id { b = $3 } END { exit !(a != "" && (a == b || a == id)) }'
}

# full_name IMAGE — as containerd calls what Docker calls mariadb:11.8 or me/thing.
full_name() {
	local name=$1
	case ${name##*/} in *:* | *@*) ;; *) name=$name:latest ;; esac
	case $name in
	*.*/* | *:*/* | localhost/*) ;;
	*/*) name=docker.io/$name ;;
	*) name=docker.io/library/$name ;;
	esac
	echo "$name"
}

load() {
	local image id node output missing=()
	# The control plane takes no Pods of ours.
	local workers
	workers=$(nodes | grep -v "^$CONTROL_PLANE\$")
	for image; do
		id=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) || die "Docker has no image $image"
		for node in $workers; do
			if ! has "$node" "$(full_name "$image")" "$id"; then
				missing+=("$image")
				break
			fi
		done
	done
	if [ ${#missing[@]} -eq 0 ]; then return; fi
	log "loading ${missing[*]} into the nodes"
	output=$(kind load docker-image --quiet --name "$NAME" --nodes "${workers//$'\n'/,}" "${missing[@]}" 2>&1) ||
		die "kind could not load the images: $output"
}

status() {
	if [ -z "$(nodes)" ]; then die "there is no cluster $NAME"; fi
	kube get nodes -o wide || true
	healthy || {
		diagnose
		die "cluster $NAME is not healthy"
	}
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
up) locked "cluster-$NAME" up ;;
down) if have docker && docker info >/dev/null 2>&1; then "$HACK/tools.sh" kind && locked "cluster-$NAME" delete; fi ;;
load) "$HACK/tools.sh" kind && locked "cluster-$NAME" load "$@" ;;
status) status ;;
*) usage ;;
esac
