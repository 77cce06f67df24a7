#!/usr/bin/env bash
# publications.sh [NAME…] — measures the small twin of each publication on the kind cluster, or of those whose file names begin
# so; puts its report into docs/publications: the page, the summary, the results, the plots; and writes docs/publications.md of
# all, and a page for each (publications/). Takes about 50 minutes. Fails if a publication does not end Complete, or if deleting it leaves anything.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

NAMESPACE=publications
REPORTS=docs/publications

# publications ARGUMENT… is the program in the folder of that name.
publications() { "$BIN/publications-page" "$@"; }

# keep FOLDER FROM — of all formats those that people look at, and the one that the page is made from.
keep() {
	rm -rf "$1"
	mkdir -p "$1"
	cp "$2"/{report.html,summary.md,results.csv,results.json} "$1"
	cp "$2"/plots/*.svg "$2"/tables/*.csv "$1"
	if [ -d "$2/output" ]; then cp -r "$2/output" "$1"; fi # of sysbench
}

# record FILE FOLDER — from which commit the file is measured, and what it asks for. What is measured makes nothing unclean.
record() {
	local commit changes digest clean=true
	commit=$(git rev-parse HEAD)
	changes=$(git status --porcelain -- . ":!$REPORTS" ":!$REPORTS.md")
	digest=$(publications digest "$1")
	if [ -n "$changes" ]; then clean=false; fi
	mkdir -p "$2"
	printf '{"commit": "%s", "clean": %s, "digest": "%s"}\n' "$commit" $clean "$digest" >"$2/measured.json"
}

# measure FILE
measure() {
	local base folder object name
	base=$(basename "$1" -small.yaml)
	rm -rf "${REPORTS:?}/$base"
	record "$1" "$REPORTS/$base"
	kubectl apply -n $NAMESPACE -f "$1" >&2
	kubectl get -n $NAMESPACE -f "$1" -o name | while read -r object; do
		kubectl wait -n $NAMESPACE --for=condition=Finished --timeout=30m "$object" >&2
		kubectl wait -n $NAMESPACE --for=condition=Complete --timeout=0 "$object" >&2
		name=${object#*/}
		folder=$BIN/publications/$name
		rm -rf "$folder"
		kubectl benchrun report -n $NAMESPACE "$name" --dir "$folder" \
			--plots "config/samples/publications/$name.plots" >&2
		keep "$REPORTS/$base/$name" "$folder"
	done
	kubectl delete -n $NAMESPACE -f "$1" --timeout=5m >&2
	wait_until 120 nothing_left || die "$1 has left $(left)"
}

# left are the objects of the namespace, and the volumes of its claims.
left() {
	local kinds=pods,jobs,statefulsets,services,persistentvolumeclaims,secrets,configmaps,poddisruptionbudgets,networkpolicies
	kubectl get -n $NAMESPACE -o name "$kinds,benchmarkruns" | sed '/^configmap\/kube-root-ca.crt$/d'
	kubectl get persistentvolumes -o jsonpath="{.items[?(@.spec.claimRef.namespace=='$NAMESPACE')].metadata.name}"
}

# nothing_left is false, too, if the cluster does not say.
nothing_left() {
	local found
	found=$(left) && [ -z "$found" ]
}

go_build -o "$BIN/publications-page" ./hack/publications
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
publications write
