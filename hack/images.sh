#!/usr/bin/env bash
# images.sh NAME… — makes sure that Docker has these images, and prints their full names: node, ENGINE:VERSION of a server (each has
# a folder ENGINE-image), mariadb-operator, kueue, sysbench (what the loader is put on where it needs that), originals (what the
# loader is compared with); node-sources is the part of node that can be done while something compiles. The official ones are pulled
# where there is a registry. Where there is none, stand-ins are built from Debian packages and Go modules and kept in the cache, so
# that neither a second run nor an emptied Docker builds anything again.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

RECIPE_LABEL=dev.benchrun.recipe # on stand-ins only: what they were built of

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pull IMAGE — fails soon where there is no registry: a daemon that has found one says so within
# seconds, however long the download takes afterwards.
pull() {
	docker pull "$1" >"$work/pull" 2>&1 &
	local pull=$!
	wait_until 20 pull_progresses "$pull" || kill "$pull" 2>/dev/null || true
	if wait "$pull"; then return; fi
	log "cannot pull $1 ($(tail -n 1 "$work/pull" | cut -c1-120))"
	return 1
}

pull_progresses() { grep -q 'Pulling from' "$work/pull" || ! kill -0 "$1"; }

# present IMAGE [RECIPE] — Docker has it, and if it is a stand-in, one of this recipe.
present() {
	local label
	label=$(docker image inspect --format "{{index .Config.Labels \"$RECIPE_LABEL\"}}" "$1" 2>/dev/null) || return
	[ -z "$label" ] || [ "$label" = "${2:-}" ]
}

# key IMAGE RECIPE — of the stand-in in the cache.
key() { echo "images/$(basename "${1/:/-}")-$2"; }

# at_hand IMAGE RECIPE — it need not be built; pulls it, if that is why.
at_hand() { present "$@" || [ -d "$CACHE/$(key "$@")" ] || pull "$1"; }

# provide IMAGE RECIPE CHANGE… -- COMMAND… — Docker has IMAGE afterwards: it had, or it is pulled, or is imported, with these
# changes, from the root file system that COMMAND once wrote to the file in its last argument.
provide() {
	local image=$1 recipe=$2 changes=(--change "LABEL $RECIPE_LABEL=$2")
	shift 2
	until [ "$1" = -- ]; do
		changes+=(--change "$1")
		shift
	done
	if ! at_hand "$image" "$recipe"; then cached "$(key "$image" "$recipe")" build "$image" "${@:2}"; fi
	if ! present "$image" "$recipe"; then
		log "importing $image"
		docker import "${changes[@]}" "$CACHE/$(key "$image" "$recipe")/root.tar" "$image" >/dev/null
	fi
	echo "$image"
}

# build IMAGE COMMAND… FOLDER
build() {
	local image=$1 dir=${*: -1}
	log "building a stand-in for $image"
	"${@:2:$#-2}" "$dir/root.tar"
	# A stand-in of an older recipe is of no use to this clone, but maybe to another.
	find "$(dirname "$dir")" -mindepth 1 -maxdepth 1 -name "$(basename "${image/:/-}")-*" -mtime +7 -exec rm -rf {} +
}

# server NAME — a database server, by its folder: build writes the root file system, changes has the rest.
server() {
	local folder=$HACK/${1%%:*}-image changes
	mapfile -t changes <"$folder/changes"
	provide "$1" "$(fingerprint "$folder"/* "$HACK/debian-server.sh")" 'ENV LANG=C.UTF-8' 'ENTRYPOINT ["entrypoint"]' "${changes[@]}" \
		-- "$folder/build" "${1#*:}"
}

"$HACK/docker.sh"
node=kindest/node:$KUBERNETES
node_recipe=$(fingerprint "$HACK"/programs.sh "$HACK"/node-image/{build.sh,entrypoint,node-storage,runc-without-sys-resource} \
	"$HACK"/node-image/*.{toml,yaml,mod,sum} "$HACK"/node-image/*/main.go)
recipe=$(fingerprint "$0" "$HACK/lib.sh")
for name; do
	case $name in
	node)
		provide "$node" "$node_recipe" 'ENV container=docker' 'ENTRYPOINT ["/usr/local/bin/entrypoint"]' -- "$HACK/node-image/build.sh"
		;;
	node-sources) at_hand "$node" "$node_recipe" || "$HACK/programs.sh" download ;;
	mariadb-operator)
		image=$("$HACK/mariadb-operator.sh" image)
		provide "$image" "$(fingerprint "$0" "$HACK"/mariadb-operator.sh "$HACK"/tools/mariadb-operator/go.mod)" \
			'ENTRYPOINT ["/bin/mariadb-operator"]' 'USER 65532:65532' -- "$HACK/mariadb-operator.sh" rootfs
		;;
	kueue)
		image=$("$HACK/kueue.sh" image)
		provide "$image" "$(fingerprint "$0" "$HACK"/kueue.sh "$HACK"/tools/kueue/go.mod)" \
			'ENTRYPOINT ["/manager"]' 'USER 65532:65532' -- "$HACK/kueue.sh" rootfs
		;;
	sysbench)
		# What the Dockerfile installs it on, or a stand-in that has it.
		image=localhost/sysbench:$recipe debian=debian:bookworm-slim
		if ! present "$image" "$recipe" && [ ! -d "$CACHE/$(key "$image" "$recipe")" ] && at_hand "$debian" none; then
			echo "$debian"
		else
			provide "$image" "$recipe" 'ENV LANG=C.UTF-8' -- debian_tar bookworm sysbench
		fi
		;;
	originals)
		provide "localhost/originals:$recipe" "$recipe" 'ENV LANG=C.UTF-8' -- \
			debian_tar trixie bash,mariadb-client,sysbench,python3-mysqldb
		;;
	*:*)
		[ -x "$HACK/${name%%:*}-image/build" ] || die "no such image: $name"
		server "$name"
		;;
	*) die "no such image: $name" ;;
	esac
done
