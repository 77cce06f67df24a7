#!/usr/bin/env bash
# in-image.sh IMAGE PROGRAM ARGUMENT… — runs a program of this machine in an image, under the restrictions of a loader's Pod but
# with this machine's network. `go test -exec` takes it.
set -euo pipefail

image=$1 program=$2
shift 2
variables=()
while IFS= read -r name; do variables+=(--env "$name"); done < <(compgen -e BENCHRUN_TEST_)
exec docker run --rm --network host --read-only --user 65532:65532 --cap-drop ALL --security-opt no-new-privileges \
	--tmpfs /tmp:exec --tmpfs /run/benchrun:mode=1777,size=16m --volume "$program:$program:ro" --volume "$PWD:$PWD:ro" \
	--workdir "$PWD" "${variables[@]}" --entrypoint "$program" "$image" "$@"
