#!/usr/bin/env bash
# images.sh [node] [mariadb] [mariadb:VERSION] [mariadb-operator] [sysbench] [originals] — makes sure that Docker has the
# images a cluster is made of (node and mariadb by default) and prints their names; originals is the image
# with the programs that the loader is compared with. The official ones are
# pulled where there is a registry; where there is none, stand-ins are built from Debian packages and
# Go modules and kept in the cache, so that neither a second run nor an emptied Docker builds anything
# again.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

RECIPE_LABEL=dev.benchrun.recipe # on stand-ins only: what they were built of

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- Pulling ------------------------------------------------------------------------------------

registry=unknown

# pull IMAGE — fails soon where there is no registry: a daemon that has found one says so within
# seconds, however long the download takes afterwards. The answer is asked for once in a run.
pull() {
	if [ "$registry" = absent ]; then return 1; fi
	docker pull "$1" >"$work/pull" 2>&1 &
	local pull=$!
	wait_until 20 pull_progresses "$pull" || kill "$pull" 2>/dev/null || true
	if wait "$pull"; then return; fi
	if ! grep -q 'Pulling from' "$work/pull"; then
		registry=absent
		log "no registry to pull $1 from ($(tail -n 1 "$work/pull" | cut -c1-120))"
	fi
	return 1
}

pull_progresses() { grep -q 'Pulling from' "$work/pull" || ! kill -0 "$1"; }

# --- Building -----------------------------------------------------------------------------------

# present IMAGE [RECIPE] — Docker has it, and if it is a stand-in, one of this recipe.
present() {
	local label
	label=$(docker image inspect --format "{{index .Config.Labels \"$RECIPE_LABEL\"}}" "$1" 2>/dev/null) || return
	[ -z "$label" ] || [ "$label" = "${2:-}" ]
}

# provide IMAGE RECIPE COMMAND… — Docker has IMAGE afterwards: it had, or it is pulled, or comes from
# the cache, or is built by COMMAND, which leaves it in Docker under the name.
provide() {
	local image=$1 recipe=$2 key
	shift 2
	key=images/$(basename "${image/:/-}")-$recipe
	if present "$image" "$recipe"; then return; fi
	if [ ! -d "$CACHE/$key" ] && pull "$image"; then return; fi
	cached "$key" build_and_save "$image" "$@"
	if present "$image" "$recipe"; then return; fi
	log "loading $image from the cache"
	docker load --quiet --input "$CACHE/$key/image.tar" >&2
}

build_and_save() {
	local image=$1 dir=${*: -1}
	log "building a stand-in for $image"
	"${@:2:$#-2}" # the command, without the folder at its end
	docker save --output "$dir/image.tar" "$image"
	# A stand-in of an older recipe is of no use to this clone, but maybe to another.
	find "$(dirname "$dir")" -mindepth 1 -maxdepth 1 -name "$(basename "${image/:/-}")-*" -mtime +7 -exec rm -rf {} +
}

# import FILE IMAGE RECIPE CHANGE… makes an image of a root file system.
import() {
	local file=$1 image=$2 recipe=$3 change changes=()
	shift 3
	for change in "LABEL $RECIPE_LABEL=$recipe" "$@"; do changes+=(--change "$change"); done
	docker import "${changes[@]}" "$file" "$image" >/dev/null
	rm "$file"
}

# --- The images ---------------------------------------------------------------------------------

build_mariadb() {
	local version=$1 recipe=$2
	"$HACK/mariadb-image/build.sh" "$version" "$work/mariadb.tar"
	import "$work/mariadb.tar" "mariadb:$version" "$recipe" \
		'ENV LANG=C.UTF-8' 'ENTRYPOINT ["entrypoint"]' 'CMD ["mariadbd"]' 'EXPOSE 3306' 'VOLUME /var/lib/mysql'
}

mariadb() {
	local recipe
	recipe=$(fingerprint "$HACK"/mariadb-image/{build.sh,entrypoint,healthcheck.sh,my.cnf})
	provide "mariadb:$1" "$recipe" build_mariadb "$1" "$recipe"
	echo "mariadb:$1"
}

build_node() {
	local recipe=$1
	"$HACK/node-image/build.sh" "$work/node.tar"
	import "$work/node.tar" "kindest/node:$KUBERNETES" "$recipe" \
		'ENV container=docker' 'ENTRYPOINT ["/usr/local/bin/entrypoint"]'
}

node() {
	local recipe
	recipe=$(fingerprint "$HACK"/{versions.env,kubernetes.sh} "$HACK"/node-image/{build.sh,entrypoint} \
		"$HACK"/node-image/runc-without-sys-resource "$HACK"/node-image/*.{toml,yaml} \
		"$HACK"/node-image/kubernetes/{go.mod,go.sum,main.go} "$HACK"/node-image/pause/main.go)
	provide "kindest/node:$KUBERNETES" "$recipe" build_node "$recipe"
	echo "kindest/node:$KUBERNETES"
}

build_originals() {
	local recipe=$1
	"$HACK/originals-image/build.sh" "$work/originals.tar"
	import "$work/originals.tar" "benchrun/originals:$recipe" "$recipe" 'ENV LANG=C.UTF-8'
}

originals() {
	local recipe
	recipe=$(fingerprint "$HACK/originals-image/build.sh")
	provide "benchrun/originals:$recipe" "$recipe" build_originals "$recipe"
	echo "benchrun/originals:$recipe"
}

build_sysbench() {
	local image=$1 recipe=$2
	debian_tar "$SYSBENCH_SUITE" sysbench "$work/sysbench.tar"
	import "$work/sysbench.tar" "$image" "$recipe" 'ENV LANG=C.UTF-8'
}

# sysbench is what the loader is put on where it needs sysbench: Debian, which the Dockerfile installs it in, or a stand-in
# that has it.
sysbench() {
	local debian=debian:$SYSBENCH_SUITE-slim recipe image
	recipe=$(fingerprint "$HACK"/{versions.env,lib.sh})
	image=localhost/sysbench-base:$recipe
	if present "$debian"; then
		image=$debian
	elif ! present "$image" "$recipe"; then
		if [ ! -d "$CACHE/images/sysbench-base-$recipe-$recipe" ] && pull "$debian"; then
			image=$debian
		else
			provide "$image" "$recipe" build_sysbench "$image" "$recipe"
		fi
	fi
	echo "$image"
}

build_mariadb_operator() {
	local image=$1 recipe=$2
	"$HACK/mariadb-operator.sh" rootfs "$work/mariadb-operator.tar"
	import "$work/mariadb-operator.tar" "$image" "$recipe" 'ENTRYPOINT ["/bin/mariadb-operator"]' 'USER 65532:65532'
}

mariadb_operator() {
	local image recipe
	image=$("$HACK/mariadb-operator.sh" image)
	recipe=$(fingerprint "$HACK/mariadb-operator.sh")
	provide "$image" "$recipe" build_mariadb_operator "$image" "$recipe"
	echo "$image"
}

"$HACK/docker.sh"
[ $# -gt 0 ] || set -- node mariadb
for image; do
	case $image in
	node) node ;;
	originals) originals ;;
	sysbench) sysbench ;;
	mariadb) for version in ${MARIADB//,/ }; do mariadb "$version"; done ;;
	mariadb:*) mariadb "${image#*:}" ;;
	mariadb-operator) mariadb_operator ;;
	*) die "no such image: $image" ;;
	esac
done
