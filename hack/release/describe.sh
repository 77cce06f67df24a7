#!/usr/bin/env bash
# describe.sh FOLDER — writes the files of a release that have the digests of others, each of which lists those that were written
# before it: benchrun.krew.yaml, provenance.intoto.json and SHA256SUMS. VERSION and REGISTRY are as for release.sh, REVISION is the
# commit; FOLDER/build/packages lists Debian's packages in the images, as checksums and package URLs.
set -euo pipefail
cd "$1"

source=https://github.com/benchrun-dev/benchrun
rm -f benchrun.krew.yaml provenance.intoto.json SHA256SUMS
export LC_ALL=C # the order of files

# sums of all files so far.
sums() { find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort | xargs sha256sum --; }

# krew is the manifest of the plugin, with each platform that has an archive.
krew() {
	local archive program os arch
	cat <<-END
		apiVersion: krew.googlecontainertools.github.com/v1alpha2
		kind: Plugin
		metadata: {name: benchrun}
		spec:
		  version: $VERSION
		  homepage: $source
		  shortDescription: Run, watch and compare database benchmarks
		  description: |
		    Creates BenchmarkRuns, shows their progress, prints and compares their results,
		    and packs them so that others can measure the same. Needs the Benchrun operator in the cluster.
		  platforms:
	END
	for archive in kubectl-benchrun_*.tar.gz; do
		IFS=_ read -r program os arch <<<"${archive%.tar.gz}"
		if [ "$os" = windows ]; then program+=.exe; fi
		cat <<-END
			  - selector: {matchLabels: {os: $os, arch: $arch}}
			    uri: $source/releases/download/$VERSION/$archive
			    sha256: $(sha256sum <"$archive" | cut -d ' ' -f 1)
			    bin: $program
		END
	done
}

# provenance is an in-toto statement (v1) with a SLSA provenance (v1). It is as good as the signature of SHA256SUMS, which lists
# it: only the maker of the release vouches for it.
provenance() {
	jq -nS --arg source "$source" --arg revision "$REVISION" --arg version "$VERSION" --arg registry "${REGISTRY:-}" \
		--arg sums "$(sums)" --rawfile packages build/packages '
		def listed(key): split("\n") | map(select(. != "") | split("  ") | {(key): .[1], digest: {sha256: .[0]}}) | sort_by(.[key]);
		"\($source)/blob/main/hack/release.sh" as $script |
		{
			_type: "https://in-toto.io/Statement/v1", predicateType: "https://slsa.dev/provenance/v1",
			subject: ($sums | listed("name")),
			predicate: {
				buildDefinition: {
					buildType: $script, externalParameters: {VERSION: $version, REGISTRY: $registry},
					resolvedDependencies:
						([{uri: "git+\($source)", digest: {gitCommit: $revision}}] + ($packages | listed("uri")))
				},
				runDetails: {builder: {id: $script}}
			}
		}'
}

compgen -G 'kubectl-benchrun_*.tar.gz' >/dev/null || { echo "describe.sh: $1 has no archive of the plugin" >&2 && exit 1; }
manifest=$(krew)
echo "$manifest" >benchrun.krew.yaml
statement=$(provenance)
echo "$statement" >provenance.intoto.json
list=$(sums)
echo "$list" >SHA256SUMS
