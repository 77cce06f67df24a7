#!/usr/bin/env bash
# publications.sh [NAME…] — measures the small twin of each publication on the kind cluster, or of those whose file names begin
# so; puts its report into docs/publications: the page, the summary, the results, the plots; and writes docs/publications.md of
# all. Takes about 50 minutes. Fails if a publication does not end Complete, or if deleting it leaves anything.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=publications
REPORTS=docs/publications

# keep FOLDER FROM — of all formats those that people look at.
keep() {
	rm -rf "$1"
	mkdir -p "$1"
	cp "$2"/{report.html,summary.md,results.csv} "$1"
	cp "$2"/plots/*.svg "$2"/tables/*.csv "$1"
	if [ -d "$2/output" ]; then cp -r "$2/output" "$1"; fi # of sysbench
}

# measure FILE
measure() {
	local base folder object kind name
	base=$(basename "$1" -small.yaml)
	rm -rf "${REPORTS:?}/$base"
	kubectl apply -n $NAMESPACE -f "$1" >&2
	kubectl get -n $NAMESPACE -f "$1" -o name | while read -r object; do
		kubectl wait -n $NAMESPACE --for=condition=Finished --timeout=30m "$object" >&2
		kubectl wait -n $NAMESPACE --for=condition=Complete --timeout=0 "$object" >&2
		kind=${object%%.*} name=${object#*/}
		folder=$BIN/publications/$name
		rm -rf "$folder"
		kubectl benchrun report -n $NAMESPACE "${kind#benchmark}/$name" --dir "$folder" >&2
		keep "$REPORTS/$base/$name" "$folder"
	done
	kubectl delete -n $NAMESPACE -f "$1" --timeout=5m >&2
	wait_until 120 nothing_left || die "$1 has left $(left)"
}

# left are the objects of the namespace, and the volumes of its claims.
left() {
	local kinds=pods,jobs,statefulsets,services,persistentvolumeclaims,secrets,configmaps,poddisruptionbudgets,networkpolicies
	kubectl get -n $NAMESPACE -o name "$kinds,benchmarkruns,benchmarkcomparisons" | sed '/^configmap\/kube-root-ca.crt$/d'
	kubectl get persistentvolumes -o jsonpath="{.items[?(@.spec.claimRef.namespace=='$NAMESPACE')].metadata.name}"
}

# nothing_left is false, too, if the cluster does not say.
nothing_left() {
	local found
	found=$(left) && [ -z "$found" ]
}

# header of a sample as text: its comment, in which figures are indented.
header() { sed -n '/^#/!q; s/^# \{0,1\}//p' "$1"; }

# answer of a summary: all that comes before the costs, the differences, the warnings and the environment.
answer() { sed -n '1d; /^\(Cost of a unit of work\|How the variants differ\|Warnings\|Pilots\|Environment\):/q; p' "$1"; }


# plot of a folder: of a comparison the ratios, of a run the first.
plot() {
	local file
	for file in "$1"/ratios.svg "$1"/*.svg; do
		if [ -f "$file" ]; then echo "${file#docs/}" && return; fi
	done
	die "$1 has no plot"
}

# document of all publications, with what each was made from.
document() {
	cat <<-END
		# Publications

		What was published, and what the small twin of each publication measured on the kind cluster of \`make cluster\`: on two shared
		vCPUs, which show directions rather than sizes. The full files were not measured here. Each sentence of a publication that
		can be tested is a claim, judged by what was measured and by the publication's own figures; a claim of ours says "from the
		figures". What is not tested is listed with the reason. \`make publications\` measures again, and writes this page.
	END
	local file base folder at
	for file in config/samples/publications/*-small.yaml; do
		base=$(basename "$file" -small.yaml)
		printf '\n## %s\n\n' "$base"
		printf 'From [%s-small.yaml](../%s); [in full](../%s).\n\n' "$base" "$file" "${file/-small/}"
		header "${file/-small/}" | sed 's/^  /    /'
		printf '\n'
		header "$file" | sed '/^$/,$d' # its first paragraph
		for folder in "$REPORTS/$base"/*/; do
			folder=${folder%/}
			[ -d "$folder" ] || die "$base is not measured: make publications NAMES=${base%%-*}"
			at=${folder#docs/}
			printf '\n### %s\n\n' "$(sed -n '1s/^# //p' "$folder/summary.md")"
			printf '[The page](%s/report.html), [the summary](%s/summary.md), [a row for each trial](%s/results.csv).\n' "$at" "$at" "$at"
			answer "$folder/summary.md"
			printf '![%s](%s)\n' "$(basename "$(plot "$folder")" .svg)" "$(plot "$folder")"
		done
	done
}

kubectl create namespace $NAMESPACE --dry-run=client -o yaml | kubectl apply -f - >&2
mkdir -p "$REPORTS"
for file in config/samples/publications/*-small.yaml; do
	for prefix in "${@:-}"; do
		case $(basename "$file") in "$prefix"*)
			kubectl delete -n $NAMESPACE -f "$file" --ignore-not-found --timeout=5m >&2
			measure "$file"
			;;
		esac
	done
done
document >docs/publications.md
