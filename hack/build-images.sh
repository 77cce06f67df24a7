#!/usr/bin/env bash
# build-images.sh — builds the operator's and the loader's image from bin/linux-ARCH, tags them by their content, writes the
# names to bin/images.env, and loads them into the cluster if there is one.
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
for target in manager loader; do
	tag=$(fingerprint "$REPO/Dockerfile" "$BIN/linux-$arch/$target")
	image=benchrun/$target:$tag
	if ! docker image inspect "$image" >/dev/null 2>&1; then
		log "building $image on $base"
		DOCKER_BUILDKIT=0 docker build -q --build-arg BASE_IMAGE="$base" --target "$target" -t "$image" \
			-f "$REPO/Dockerfile" "$BIN/linux-$arch" >/dev/null 2>"$BIN/docker-build.log" ||
			die "building $image: $(tail -3 "$BIN/docker-build.log")"
	fi
	printf '%s_TAG=%s\n' "${target^^}" "$tag" >>"$BIN/images.env.new"
done
mv "$BIN/images.env.new" "$BIN/images.env"
