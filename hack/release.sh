#!/usr/bin/env bash
# release.sh VERSION — makes what is published of a version (vX.Y.Z), in dist/ or $DIST: the plugin for Linux, macOS and Windows,
# images for Linux, both on amd64 and arm64, the chart, install.yaml, bills of materials, provenance and checksums. Needs neither
# Docker nor a registry. $REGISTRY: where the images are going to be; without, who installs fills it in. $KEY: a file with a key
# of minisign's, by which the checksums are signed; its password, if it has one, is $MINISIGN_PASSWORD. $PLATFORMS: those of the
# plugin, as linux-amd64, if not all.
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

# debian_root ARCHITECTURE PACKAGE writes what is in a package of Debian 12 and in those that it needs to a folder, and their list.
# They are unpacked and nothing of them is run, so that this machine need not be of that architecture. The licenses stay, and what
# the packages say of themselves, where scanners of images look for it.
debian_root() {
	have mmdebstrap || apt_install mmdebstrap || die "install mmdebstrap: the images have packages of Debian's"
	log "unpacking $2 for $1"
	local root=$build/$2-$1
	# shellcheck disable=SC2016 # for the hook, whose $1 is the folder that mmdebstrap works in
	PACKAGES=$root.packages mmdebstrap --quiet --variant=extract --architectures="$1" --include="$2" --skip=output/dev \
		--extract-hook='cd "$1" && mkdir -p var/lib/dpkg/status.d &&
			for deb in var/cache/apt/archives/*.deb; do
				name=$(dpkg-deb --field "$deb" Package) && dpkg-deb --field "$deb" >"var/lib/dpkg/status.d/$name" &&
					echo "$(dpkg-deb --show --showformat="\${Package} \${Version} \${Architecture}" "$deb") $(sha256sum <"$deb" | cut -c1-64)" ||
					exit
			done >"$PACKAGES"' bookworm "$root"
	find "$root/usr/share/doc" -type f ! -name copyright -delete
}

# layer ARCHITECTURE PACKAGE PATH… packs these parts of its folder.
layer() {
	tar -cf "$build/$2-$1.tar" -C "$build/$2-$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "${@:3}"
}

# sysbench ARCHITECTURE is a layer with all that sysbench needs.
sysbench() {
	debian_root "$1" sysbench
	(cd "$build/sysbench-$1" && rm -rf boot dev home media mnt opt proc root run srv sys etc/{apt,dpkg,fstab,hostname,resolv.conf} \
		usr/lib/*/gconv usr/share/{info,lintian,locale,man} var/{cache,log,lib/apt})
	layer "$1" sysbench .
}

# certificates ARCHITECTURE is a layer with whom the loader trusts if a server's certificate is verified and the run names nobody.
# The package itself joins them when it is installed, for which it needs much that the image does not.
certificates() {
	local root=$build/ca-certificates-$1
	debian_root "$1" ca-certificates
	mkdir -p "$root/etc/ssl/certs"
	cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
	sed -i '/^ca-certificates /!d' "$root.packages"
	layer "$1" ca-certificates etc/ssl/certs/ca-certificates.crt usr/share/doc/ca-certificates/copyright \
		var/lib/dpkg/status.d/ca-certificates
}

rm -rf "$dist"
mkdir -p "$build"
if [ -z "${PLATFORMS:-}" ]; then PLATFORMS=$(echo {linux,darwin,windows}-{amd64,arm64}); fi
for platform in $PLATFORMS; do
	compile "${platform%-*}" "${platform#*-}" "$build/plugin/$platform" ./cmd/kubectl-benchrun
done
for arch in amd64 arm64; do
	compile linux "$arch" "$build/linux-$arch" ./cmd/manager ./cmd/loader
	certificates "$arch"
	sysbench "$arch"
done
go run ./hack/release -version "$version" -revision "$revision" -created "$SOURCE_DATE_EPOCH" -registry "${REGISTRY:-}" \
	-key "${KEY:-}" "$dist"
rm -rf "$build"
log "this is in $dist:"
(cd "$dist" && cat SHA256SUMS)
