#!/usr/bin/env bash
# build-images.sh — builds the images of the operator, of the loader, and of the loader with sysbench from bin/linux-ARCH, tags
# them by their content, and writes the tags to bin/images.env.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

arch=$(go env GOARCH)
base=${BASE_IMAGE:-}
if [ -z "$base" ]; then
	base=gcr.io/distroless/static:nonroot
	if ! docker image inspect "$base" >/dev/null 2>&1 && ! with_timeout 20 docker pull -q "$base" >/dev/null 2>&1; then
		base=scratch # no registry: the binaries are static and need no more
	fi
fi

: >"$BIN/images.env.new"
sysbench_base=$("$HACK/images.sh" sysbench)

# build TARGET BINARY OF… — the tag names all that the image is made of.
build() {
	local target=$1 binary=$2 tag image name
	tag=$( (fingerprint "$REPO/Dockerfile" "$BIN/linux-$arch/$binary" && echo "${@:3}") | git hash-object --stdin | cut -c1-12)
	image=benchrun/$target:$tag
	if ! docker image inspect "$image" >/dev/null 2>&1; then
		log "building $image on ${*:3}"
		DOCKER_BUILDKIT=0 docker build -q --build-arg BASE_IMAGE="$base" --build-arg SYSBENCH_BASE_IMAGE="$sysbench_base" \
			--target "$target" -t "$image" -f "$REPO/Dockerfile" "$BIN/linux-$arch" >/dev/null 2>"$BIN/docker-build.log" ||
			die "building $image: $(tail -3 "$BIN/docker-build.log")"
	fi
	name=${target//-/_}
	printf '%s_TAG=%s\n' "${name^^}" "$tag" >>"$BIN/images.env.new"
}

build manager manager "$base"
build loader loader "$base"
build loader-sysbench loader "$sysbench_base"
mv "$BIN/images.env.new" "$BIN/images.env"
