#!/usr/bin/env bash
# build-images.sh TARGET… — builds these images of the Dockerfile (manager, loader, loader-sysbench) from bin/linux-ARCH, and
# prints their names: tagged by their content, so that a node never runs an old one under the same name, and of a registry that
# nobody else has, so that a node that lost one does not pull somebody else's.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

binaries=$BIN/linux-$(go env GOARCH)
base=${BASE_IMAGE:-gcr.io/distroless/static:nonroot}
if ! docker image inspect "$base" >/dev/null 2>&1 && ! with_timeout 20 docker pull -q "$base" >/dev/null 2>&1; then
	base=scratch # no registry: the binaries are static and need no more
fi

for target; do
	binary=$binaries/${target%-sysbench} on=$base
	if [ "$target" = loader-sysbench ]; then on=$("$HACK/images.sh" sysbench); fi
	image=localhost/benchrun/$target:$( (fingerprint Dockerfile "$binary" && echo "$on") | git hash-object --stdin | cut -c1-12)
	if ! docker image inspect "$image" >/dev/null 2>&1; then
		log "building $image on $on"
		DOCKER_BUILDKIT=0 docker build --build-arg BASE_IMAGE="$base" --build-arg SYSBENCH_BASE_IMAGE="$on" \
			--target "$target" -t "$image" -f Dockerfile "$binaries" >&2
	fi
	echo "$image"
done
