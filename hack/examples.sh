#!/usr/bin/env bash
# examples.sh [NAME…] — measures the small twin of each publication on the kind cluster, or of those whose file names begin so, and
# puts its report into docs/examples: the page, the summary, the results, the plots. Takes about half an hour.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=examples
EXAMPLES=docs/examples

# keep FOLDER FROM — of all formats those that people look at.
keep() {
	rm -rf "$1"
	mkdir -p "$1"
	cp "$2"/{report.html,summary.md,results.csv} "$1"
	cp "$2"/plots/*.svg "$1"
}

# measure FILE
measure() {
	local base folder object kind name
	base=$(basename "$1" -small.yaml)
	kubectl delete -n $NAMESPACE -f "$1" --ignore-not-found --timeout=5m >&2
	kubectl apply -n $NAMESPACE -f "$1" >&2
	kubectl get -n $NAMESPACE -f "$1" -o name | while read -r object; do
		kubectl wait -n $NAMESPACE --for=condition=Finished --timeout=30m "$object" >&2
		kind=${object%%.*} name=${object#*/}
		folder=$BIN/examples/$name
		rm -rf "$folder"
		kubectl benchrun report -n $NAMESPACE "${kind#benchmark}/$name" --dir "$folder" >&2
		keep "$EXAMPLES/$base/$name" "$folder"
	done
	kubectl delete -n $NAMESPACE -f "$1" --timeout=5m >&2
}

# shown FOLDER — the plot that the index shows: of a suite the ratios, of a run the first.
shown() {
	local plot
	for plot in "$1"/ratios.svg "$1"/*.svg; do
		if [ -f "$plot" ]; then echo "${plot#"$EXAMPLES"/}" && return; fi
	done
	die "$1 has no plot"
}

# index of all examples, with what each was made from.
index() {
	cat <<-END
		# Examples

		The small twins of the publications, measured on the kind cluster of \`make cluster\`, on two shared vCPUs. They show what
		reports look like, and not how fast a server is. \`make examples\` makes this folder.
	END
	local folder base at
	for folder in "$EXAMPLES"/*/*/; do
		folder=${folder%/}
		base=$(basename "$(dirname "$folder")") at=${folder#"$EXAMPLES"/}
		printf '\n## %s\n\n' "$(sed -n '1s/^# //p' "$folder/summary.md")"
		printf 'From [%s-small.yaml](../../config/samples/publications/%s-small.yaml): [the page](%s/report.html), ' "$base" "$base" "$at"
		printf 'one file for the browser; [the summary](%s/summary.md); [a row for each trial](%s/results.csv).\n\n' "$at" "$at"
		printf '![%s](%s)\n' "$(basename "$(shown "$folder")" .svg)" "$(shown "$folder")"
	done
}

kubectl create namespace $NAMESPACE --dry-run=client -o yaml | kubectl apply -f - >&2
mkdir -p "$EXAMPLES"
for file in config/samples/publications/*-small.yaml; do
	for prefix in "${@:-}"; do
		case $(basename "$file") in "$prefix"*) measure "$file" ;; esac
	done
done
index >"$EXAMPLES/README.md"
