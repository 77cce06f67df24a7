#!/usr/bin/env bash
# structure.sh [COMMIT|--freeze]: prints what the structure of the code costs, at a commit or as committed last, beside its ceilings
# (hack/structure.csv), and fails if one is exceeded. Whoever needs more of a room takes it from another one, in the same change.
# --freeze lowers each ceiling to the next ten above what there is; none is ever raised so.
set -euo pipefail
cd "$(dirname "$0")/.."
ceilings=hack/structure.csv
commit=HEAD
[ "${1:---freeze}" = --freeze ] || commit=$1
git rev-parse --verify --quiet "$commit^{commit}" >/dev/null || { echo "structure.sh: no commit $commit" >&2; exit 2; }
files=$(git ls-tree -r --name-only "$commit" -- '*.go' api cmd controllers hack internal test | grep '\.go$' | grep -v zz_generated | sort -u)

# helpers are what only tests import.
helpers='^internal/(.*/)?(testutil|workloadtest|pagetest)/|^test/'
code=$(grep -vE "_test\.go\$|$helpers" <<<"$files")
tests=$(grep -E "_test\.go\$|$helpers" <<<"$files")

lines() { xargs -I{} git show "$commit:{}" | wc -l; }

# measured prints NAME,NUMBER of everything that has a ceiling.
measured() {
	local room
	sed -E 's#^(internal/[^/]+|api|cmd|controllers|hack)/.*#\1#' <<<"$code" | sort -u | while read -r room; do
		echo "$room,$(grep "^$room/" <<<"$code" | lines)"
	done
	echo "all code,$(lines <<<"$code")"
	echo "all tests,$(lines <<<"$tests")"
	echo "Go files,$(wc -l <<<"$files")"
	echo "bytes of CRDs,$(for crd in $(git ls-tree --name-only "$commit" config/crd/bases/); do git show "$commit:$crd"; done | wc -c)"
}

now=$(measured)
if [ "${1:-}" = --freeze ]; then
	awk -F, 'FILENAME != "-" {ceiling[$1] = $2; next} {next10 = int(($2 + 9) / 10) * 10; print $1 "," ($1 in ceiling && ceiling[$1] < next10 ? ceiling[$1] : next10)}' \
		"$ceilings" - <<<"$now" >"$ceilings.new"
	mv "$ceilings.new" "$ceilings"
fi
awk -F, 'BEGIN {print "| room | lines | ceiling |"; print "|---|--:|--:|"}
	FILENAME != "-" {ceiling[$1] = $2; next}
	{print "| " $1 " | " $2 " | " ceiling[$1] " |"; if ($2 > ceiling[$1] + 0) over = over "\n" $1 ": " $2 " of at most " ceiling[$1] + 0}
	END {if (over) {print "structure.sh: above the ceiling:" over > "/dev/stderr"; exit 1}}' "$ceilings" - <<<"$now"
