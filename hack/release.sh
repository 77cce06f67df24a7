#!/usr/bin/env bash
# release.sh VERSION — makes what is published of a version (vX.Y.Z), in dist/ or $DIST: the plugin for Linux, macOS and Windows,
# images for Linux, both on amd64 and arm64, the chart, install.yaml, bills of materials, provenance and checksums. Needs neither
# Docker nor a registry. $REGISTRY: where the images are going to be; without, who installs fills it in. $KEY: a file with a key
# of minisign's, by which the checksums are signed; its password, if it has one, is $MINISIGN_PASSWORD.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

[[ ${1:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || usage
version=$1
[[ ${REGISTRY:-} =~ ^([a-z0-9.:/_-]*[a-z0-9])?$ ]] || die "REGISTRY is a registry and a folder, as registry.example.com/benchrun: ${REGISTRY:-}"
dist=${DIST:-$REPO/dist}
build=$dist/build
ldflags="-s -w -X github.com/benchrun-dev/benchrun/internal/version.version=$version"
revision=$(git rev-parse HEAD)
git diff --quiet HEAD -- . || {
	log "the tree has changes that are in no commit: nobody can make this release again"
	revision+=-dirty
}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# compile SYSTEM ARCHITECTURE FOLDER PACKAGE…
compile() {
	log "compiling ${*:4} for $1 on $2"
	mkdir -p "$3"
	GOOS=$1 GOARCH=$2 go_build -ldflags "$ldflags" -o "$3/" "${@:4}"
}

# sysbench_root ARCHITECTURE writes what sysbench needs of Debian, and the list of its packages. They are unpacked and nothing of
# them is run, so that this machine need not be of that architecture. The licenses stay, and what the packages say of
# themselves, where scanners of images look for it.
sysbench_root() {
	have mmdebstrap || apt_install mmdebstrap || die "install mmdebstrap: sysbench is taken from Debian's packages"
	log "unpacking sysbench for $1"
	local root=$build/sysbench-$1
	# shellcheck disable=SC2016 # for the hook, whose $1 is the folder that mmdebstrap works in
	PACKAGES=$root.packages mmdebstrap --quiet --variant=extract --architectures="$1" --include=sysbench --skip=output/dev \
		--extract-hook='cd "$1" && mkdir -p var/lib/dpkg/status.d &&
			for deb in var/cache/apt/archives/*.deb; do
				name=$(dpkg-deb --field "$deb" Package) && dpkg-deb --field "$deb" >"var/lib/dpkg/status.d/$name" &&
					echo "$(dpkg-deb --show --showformat="\${Package} \${Version} \${Architecture}" "$deb") $(sha256sum <"$deb" | cut -c1-64)" ||
					exit
			done >"$PACKAGES"' bookworm "$root"
	find "$root/usr/share/doc" -type f ! -name copyright -delete
	rm -rf "$root"/{boot,dev,home,media,mnt,opt,proc,root,run,srv,sys} "$root"/etc/{apt,dpkg,fstab,hostname,resolv.conf} \
		"$root"/usr/lib/*/gconv "$root"/usr/share/{info,lintian,locale,man} "$root"/var/{cache,log,lib/apt}
	tar -cf "$root.tar" -C "$root" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner .
}

rm -rf "$dist"
mkdir -p "$build"
if [ -z "${PLATFORMS:-}" ]; then PLATFORMS=$(echo {linux,darwin,windows}-{amd64,arm64}); fi # of the plugin
for platform in $PLATFORMS; do
	compile "${platform%-*}" "${platform#*-}" "$build/plugin/$platform" ./cmd/kubectl-benchrun
done
for arch in amd64 arm64; do
	compile linux "$arch" "$build/linux-$arch" ./cmd/manager ./cmd/loader
	sysbench_root "$arch"
done
go run ./hack/release -version "$version" -revision "$revision" -created "$SOURCE_DATE_EPOCH" -registry "${REGISTRY:-}" \
	-key "${KEY:-}" "$dist"
rm -rf "$build"
log "this is in $dist:"
(cd "$dist" && cat SHA256SUMS)
