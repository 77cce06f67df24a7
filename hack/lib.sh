# shellcheck shell=bash
# What the scripts of this folder share: where things are, the cache, locks and waiting.
# To be sourced. Messages go to stderr; stdout belongs to what a script is asked for.

HACK=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(dirname "$HACK")
# shellcheck disable=SC2034 # used by others
BIN=$REPO/bin
export KUBECONFIG=$BIN/kubeconfig # for kind, kubectl and helm; ~/.kube/config is not ours
CACHE=${BENCHRUN_CACHE:-$HOME/.cache/benchrun}
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac

# shellcheck source=hack/versions.env
. "$HACK/versions.env"

# A go.work around the checkout must not decide what is built here.
export GOWORK=off

log() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

die() {
	log "$*"
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# usage prints the comment at the head of the calling script and fails.
usage() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# fingerprint FILE… names what the files hold, in twelve characters.
# Git is asked because every machine with a clone has it; sha256sum is not on all.
fingerprint() {
	local file
	for file; do
		printf '%s %s\n' "$(basename "$file")" "$(git hash-object --no-filters "$file")"
	done | git hash-object --stdin | cut -c1-12
}

# locked NAME COMMAND… runs COMMAND while no other clone or job on this machine runs one under the
# same name. Without flock(1) (macOS) it only runs it: results are put in place by renaming, so the
# worst that happens is that the work is done twice.
# Never call it behind || or in an if: bash would ignore errors inside COMMAND.
locked() {
	local name=${1//\//-}
	shift
	mkdir -p "$CACHE/locks"
	if have flock; then
		(
			flock 9
			"$@"
		) 9>"$CACHE/locks/$name"
	else
		("$@")
	fi
}

# cached KEY COMMAND… makes sure that the folder $CACHE/KEY exists. If it does not, COMMAND is
# called with an empty folder to fill as its last argument; the folder becomes $CACHE/KEY only if
# COMMAND succeeds. KEY must therefore name everything the result depends on. For callers the same
# holds as for locked.
cached() {
	[ -d "$CACHE/$1" ] || locked "$1" fill_cache "$@"
}

fill_cache() {
	local dir=$CACHE/$1 new
	shift
	if [ -d "$dir" ]; then return; fi # somebody else was faster
	mkdir -p "$(dirname "$dir")"
	new=$(mktemp -d "$dir.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$new'" EXIT      # of the subshell that locked opened
	"$@" "$new" 9>&- >&2           # the lock is not for what COMMAND leaves running
	chmod 755 "$new"
	mv "$new" "$dir"
}

# wait_until SECONDS COMMAND… tries COMMAND, silently, until it succeeds or time is up.
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.3
	done
}

# debian_tar SUITE PACKAGE,… FILE [MMDEBSTRAP-OPTION…] makes a root file system of a Debian release
# with those packages, without manuals and translations, to be imported as an image.
debian_tar() {
	local suite=$1 packages=$2 file=$3 path
	shift 3
	if ! have mmdebstrap; then
		if ! have apt-get || [ "$(id -u)" -ne 0 ]; then
			die "no registry to pull images from; building them here needs Debian or Ubuntu, and root"
		fi
		log "installing mmdebstrap"
		apt-get -qq update
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends mmdebstrap >/dev/null
	fi
	local options=()
	for path in doc info lintian locale man; do
		options+=(--dpkgopt="path-exclude=/usr/share/$path/*")
	done
	mmdebstrap --quiet --variant=essential --include="$packages" "${options[@]}" "$@" "$suite" "$file"
}

# with_timeout SECONDS COMMAND… is timeout(1), or just COMMAND where that is missing (macOS).
with_timeout() {
	if have timeout; then timeout "$@"; else "${@:2}"; fi
}

# go_install FOLDER PACKAGE@VERSION [FLAG…] builds a program of a Go module.
go_install() {
	local dir=$1 package=$2
	shift 2
	have go || die "Go is needed to build $package: https://go.dev/doc/install"
	(cd / && GOBIN=$dir GOFLAGS=-buildvcs=false CGO_ENABLED=0 go install -trimpath "$@" "$package")
}
