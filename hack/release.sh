#!/usr/bin/env bash
# release.sh VERSION — makes what is published of a version (vX.Y.Z), in dist/: the plugin for Linux, macOS and Windows on amd64
# and arm64, its manifest for krew, the chart, the images for this machine's architecture, a bill of materials and checksums.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

[[ ${1:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || usage
version=$1
dist=$REPO/dist
rm -rf "$dist"
mkdir -p "$dist"

for platform in {linux,darwin,windows}-{amd64,arm64}; do
	log "compiling the plugin for $platform"
	suffix=
	if [ "${platform%-*}" = windows ]; then suffix=.exe; fi
	GOOS=${platform%-*} GOARCH=${platform#*-} go_build -ldflags "-s -w -X github.com/benchrun-dev/benchrun/internal/version.version=$version" \
		-o "$dist/plugin/$platform/kubectl-benchrun$suffix" ./cmd/kubectl-benchrun
done
tool helm package charts/benchrun --version "${version#v}" --app-version "${version#v}" --destination "$dist" >&2
make --no-print-directory build VERSION="$version"
mapfile -t images < <("$HACK/build-images.sh" manager loader loader-sysbench)
names=()
for image in "${images[@]}"; do
	name=${image%:*}:$version
	docker tag "$image" "$name"
	names+=("$name")
done
log "saving ${names[*]}"
docker save "${names[@]}" | gzip -9n >"$dist/benchrun-images_linux_$(go env GOARCH).tar.gz"
go run ./hack/release "$version" "$dist"
log "this is in $dist:"
(cd "$dist" && cat SHA256SUMS)
