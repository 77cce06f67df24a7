#!/usr/bin/env bash
# release.sh VERSION — makes the files of a version (vX.Y.Z), in dist/ or $DIST: the plugin for Linux, macOS and Windows, images for
# Linux, both for amd64 and arm64, the chart, install.yaml, bills of materials, provenance and checksums. The same commit gives the
# same bytes. Needs neither Docker nor a registry. $REGISTRY: where the images are going to be; if empty, the user who installs them
# fills it in. $KEY: a file with a minisign key that signs the checksums; $MINISIGN_PASSWORD is its password, if it has one.
# $PLATFORMS: those of the plugin, as linux-amd64, if not all.
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

# debian_root ARCHITECTURE PACKAGE writes what is in a package of Debian 12 and in those that it needs to a folder, and their
# checksums and package URLs to a list. They are unpacked and nothing of them is run, so that this machine need not be of that
# architecture. The licenses stay, and the packages' descriptions, where scanners of images look for them.
debian_root() {
	have mmdebstrap || apt_install mmdebstrap || die "install mmdebstrap: the images have packages of Debian's"
	log "unpacking $2 for $1"
	local root=$build/$2-$1
	# shellcheck disable=SC2016 # for the hook, whose $1 is the folder that mmdebstrap works in
	PACKAGES=$root.packages mmdebstrap --quiet --variant=extract --architectures="$1" --include="$2" --skip=output/dev \
		--extract-hook='cd "$1" && mkdir -p var/lib/dpkg/status.d &&
			for deb in var/cache/apt/archives/*.deb; do
				name=$(dpkg-deb --field "$deb" Package) && dpkg-deb --field "$deb" >"var/lib/dpkg/status.d/$name" &&
					url=$(dpkg-deb --show --showformat="pkg:deb/debian/\${Package}@\${Version}?arch=\${Architecture}" "$deb") &&
					sha256sum <"$deb" | sed "s#-\$#$(echo "$url" | sed "s/+/%2B/g")#" || exit
			done >"$PACKAGES"' bookworm "$root"
	find "$root/usr/share/doc" -type f ! -name copyright -delete
}

# pack FOLDER PATH… writes an archive of these paths in a folder to stdout, without anything that differs from time to time.
pack() { tar -cf - -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "${@:2}"; }

# plugin PLATFORM makes its archive.
plugin() {
	local folder=$build/plugin/$1
	compile "${1%-*}" "${1#*-}" "$folder" ./cmd/kubectl-benchrun
	cp LICENSE "$folder"
	(cd "$folder" && pack . -- *) | gzip -9n >"$dist/kubectl-benchrun_${1/-/_}.tar.gz"
}

# program ARCHITECTURE NAME is a layer with that program.
program() {
	local folder=$build/$2-$1
	compile linux "$1" "$folder" "./cmd/$2"
	cp LICENSE "$folder"
	pack "$folder" "$2" LICENSE >"$folder.tar"
}

# sysbench ARCHITECTURE is a layer with all that sysbench needs.
sysbench() {
	debian_root "$1" sysbench
	(cd "$build/sysbench-$1" && rm -rf boot dev home media mnt opt proc root run srv sys etc/{apt,dpkg,fstab,hostname,resolv.conf} \
		usr/lib/*/gconv usr/share/{info,lintian,locale,man} var/{cache,log,lib/apt})
	pack "$build/sysbench-$1" . >"$build/sysbench-$1.tar"
}

# certificates ARCHITECTURE is a layer with whom the loader trusts if a server's certificate is verified and the run names nobody.
# The package itself joins them when it is installed, for which it needs much that the image does not.
certificates() {
	local root=$build/ca-certificates-$1
	debian_root "$1" ca-certificates
	mkdir -p "$root/etc/ssl/certs"
	cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
	sed -i '/ pkg:deb\/debian\/ca-certificates@/!d' "$root.packages"
	pack "$root" etc/ssl/certs/ca-certificates.crt usr/share/doc/ca-certificates/copyright var/lib/dpkg/status.d/ca-certificates \
		>"$root.tar"
}

# bill NAME ARCHIVE… lists what is in these archives. The name of the distribution is for the package URLs.
bill() {
	local archive root=$build/bill/$1
	mkdir -p "$root/etc"
	printf 'ID=debian\nVERSION_ID=12\n' >"$root/etc/os-release"
	for archive in "${@:2}"; do
		mkdir "$root/$(basename "$archive")"
		tar -xf "$archive" -C "$root/$(basename "$archive")"
	done
	tool syft scan --quiet "dir:$root" --source-name "$1" --source-version "$version" --output cyclonedx-json |
		jq 'del(.serialNumber, .metadata.timestamp) | .components |= map(select(.type == "library")) |
			.metadata.component |= {type: "application", "bom-ref": .name, name, version}' >"$dist/$1.cdx.json"
}

# chart makes the package of the chart, which knows its images by their digests. If the registry is known, Artifact Hub learns of them
# from the last annotation in Chart.yaml.
chart() {
	cp -R charts/benchrun "$build/chart"
	cp "$build/release.yaml" "$build/chart/files/"
	if [ -n "${REGISTRY:-}" ]; then
		echo "  artifacthub.io/images: |"
		sed -En "s#^  ([a-z-]+): (sha256:[0-9a-f]{64})\$#    - {name: \1, image: \"$REGISTRY/\1@\2\", platforms: [linux/amd64, linux/arm64]}#p" \
			"$build/release.yaml"
	fi >>"$build/chart/Chart.yaml"
	tool helm package --version "${version#v}" --app-version "$version" --destination "$dist" "$build/chart" >&2
}

# sign the checksums.
sign() {
	if [ -z "${KEY:-}" ]; then
		log "NOT SIGNED: set KEY to a file with a minisign key"
		return
	fi
	have minisign || apt_install minisign || die "install minisign: it signs the checksums"
	minisign -S -s "$KEY" -m "$dist/SHA256SUMS" -t "benchrun $version" <<<"${MINISIGN_PASSWORD:-}" >&2
}

umask 022 # of files in images, too
export LC_ALL=C # the order of files
have jq || apt_install jq || die "install jq: it writes bills of materials and the provenance"
rm -rf "$dist"
mkdir -p "$build"
cp config/samples/commit-size.yaml config/kustomize/name-references.yaml config/argocd/health.lua "$dist"
if [ -z "${PLATFORMS:-}" ]; then PLATFORMS=$(echo {linux,darwin,windows}-{amd64,arm64}); fi
for platform in $PLATFORMS; do plugin "$platform"; done
for arch in amd64 arm64; do
	program "$arch" manager
	program "$arch" loader
	certificates "$arch"
	sysbench "$arch"
done
go run ./hack/release -version "$version" -revision "$revision" -created "$SOURCE_DATE_EPOCH" -registry "${REGISTRY:-}" "$dist"
for archive in images images_linux_{amd64,arm64}; do (cd "$build/$archive" && pack . -- *) >"$dist/benchrun-$archive.tar"; done
chart
bill kubectl-benchrun "$dist"/kubectl-benchrun_*
bill manager "$build"/manager-*.tar
bill loader "$build"/{loader,ca-certificates}-*.tar
bill loader-sysbench "$build"/{loader,ca-certificates,sysbench}-*.tar
sort -u "$build"/*.packages >"$build/packages"
VERSION=$version REVISION=$revision REGISTRY=${REGISTRY:-} "$HACK/release/describe.sh" "$dist"
sign
rm -rf "$build"
log "this is in $dist:"
(cd "$dist" && cat SHA256SUMS)
