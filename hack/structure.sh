#!/usr/bin/env bash
# structure.sh [COMMIT] — prints what the structure of the code costs, at a commit or as committed last: lines of each room without
# tests and generated code, arrows between packages, who imports the state machine, rules of a run's specification, bytes of CRDs.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=${1:-HEAD}
git rev-parse --verify --quiet "$commit^{commit}" >/dev/null || { echo "structure.sh: no commit $commit" >&2; exit 2; }

# sources are the Go files that people write, without tests.
sources() {
	git ls-tree -r --name-only "$commit" -- api cmd controllers hack internal | grep '\.go$' | grep -vE '_test\.go$|zz_generated'
}

room() {
	sed -E 's#^(internal/[^/]+|api|cmd|controllers|hack)/.*#\1#' <<<"$1"
}

echo "| room | lines of code |"
echo "|---|--:|"
sources | while read -r file; do
	echo "$(room "$file") $(git show "$commit:$file" | grep -c '')"
done | awk '{lines[$1] += $2; all += $2} END {for (r in lines) print "| `" r "` | " lines[r] " |"; print "| all | " all " |"}' | sort

echo
module=$(git show "$commit:go.mod" | awk '/^module/ {print $2}')
arrows=$(git grep -E "^\s+(\w+ )?\"$module/" "$commit" -- 'api/*.go' 'cmd/*.go' 'controllers/*.go' 'hack/*.go' 'internal/*.go' |
	grep -v '_test\.go:' | sed -E "s#^[^:]*:([^:]*)/[^/]*:.*\"$module/([^\"]*)\".*#\1 \2#" | sort -u | wc -l)
machine=$({ git grep -l "\"$module/internal/lifecycle\"" "$commit" -- '*.go' || [ $? -eq 1 ]; } |
	awk '!/_test[.]go$|:(controllers|internal\/lifecycle)\// {files++} END {print files + 0}')
echo "- arrows between packages: $arrows"
echo "- files outside the controllers that import the state machine: $machine"
for crd in $(git ls-tree --name-only "$commit" config/crd/bases/); do
	echo "- $(basename "$crd" .yaml): $(git show "$commit:$crd" | wc -c) bytes of YAML"
done
git show "$commit:api/v1alpha1/benchmarkrun_types.go" | sed '/^type BenchmarkRunSpec struct/q' | grep 'XValidation:rule' |
	grep -v 'self.metadata' | sed -E 's/.*XValidation:rule="(([^"\\]|\\.)*)".*/\1/' |
	awk '{rules++; if (length($0) > longest) longest = length($0)} END {print "- rules on a run'"'"'s specification: " rules ", the longest with " longest " characters"}'
