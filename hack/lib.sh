# shellcheck shell=bash
# What the scripts of this folder share: where things are, the cache, locks and waiting.
# To be sourced. Messages go to stderr; stdout belongs to what a script is asked for.

# Else set -e ends at every $(…). An old bash does not know it.
shopt -s inherit_errexit 2>/dev/null || true

HACK=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(dirname "$HACK")
BIN=$REPO/bin
export PATH=$BIN:$PATH            # kubectl
export KUBECONFIG=$BIN/kubeconfig # for kind, kubectl and helm; ~/.kube/config is not ours
CACHE=${BENCHRUN_CACHE:-$HOME/.cache/benchrun}
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
cd "$REPO" || exit

# What no go.mod pins. kind has an image of this version of Kubernetes; what is built here is in node-image/go.mod.
export KUBERNETES=v1.37.0

# A go.work around the checkout must not decide what is built here.
export GOWORK=off
# One set of flags for programs, tests and linters, so that a package that many of them import compiles once, and once for all
# clones: without the paths of this checkout, without C, and without debugging information, which is stripped anyway.
export CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false -gcflags=all=-dwarf=false'

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

# apt_install PACKAGE… where that can be done without asking anybody: on Debian and its relatives, as root.
apt_install() {
	if ! have apt-get || [ "$(id -u)" -ne 0 ]; then return 1; fi
	locked apt apt_get_install "$@" # layers of tests run beside each other, and apt-get does not wait
}

apt_get_install() {
	log "installing $*"
	# A package index older than the mirror names files that are gone: always refresh it.
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >&2
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
	mkdir -p "$CACHE/locks"
	(
		if have flock; then flock 9; fi
		"${@:2}"
	) 9>"$CACHE/locks/$name"
}

# cached KEY COMMAND… makes sure that the folder $CACHE/KEY exists. If it does not, COMMAND is
# called with an empty folder to fill as its last argument; the folder becomes $CACHE/KEY only if
# COMMAND succeeds. KEY must therefore name everything the result depends on. For callers the same
# holds as for locked.
cached() {
	[ -d "$CACHE/$1" ] || locked "$1" fill_cache "$@"
}

fill_cache() {
	local dir=$CACHE/$1 new status
	if [ -d "$dir" ]; then return; fi # somebody else was faster
	mkdir -p "$(dirname "$dir")"
	new=$(mktemp -d "$dir.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$new'" EXIT # of the subshell that locked opened
	"${@:2}" "$new" 9>&- >&2 # the lock is not for what COMMAND leaves running
	status=$?                # in a || list there is no set -e
	[ "$status" -eq 0 ] || exit "$status"
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

# debian_tar SUITE PACKAGE,… [MMDEBSTRAP-OPTION…] FILE makes a root file system of a Debian release
# with those packages, without manuals and translations, to be imported as an image.
debian_tar() {
	have mmdebstrap || apt_install mmdebstrap ||
		die "no registry to pull images from; building them here needs Debian or Ubuntu, and root"
	# Removed at the end and not excluded from the start: that would filter each package on its own.
	# shellcheck disable=SC2016 # $1 is for the hook: the folder that mmdebstrap works in
	mmdebstrap --quiet --variant=essential --include="$2" \
		--customize-hook='rm -rf "$1"/usr/share/doc "$1"/usr/share/info "$1"/usr/share/lintian "$1"/usr/share/locale "$1"/usr/share/man' \
		"${@:3:$#-3}" "$1" "${@: -1}"
}

# with_timeout SECONDS COMMAND… is timeout(1), or just COMMAND where that is missing (macOS).
with_timeout() {
	if have timeout; then timeout "$@"; else "${@:2}"; fi
}

# go_build [FLAG…] PACKAGE… builds static programs. A compiler that collects garbage less often takes less time.
go_build() {
	have go || die "Go is needed to build ${*: -1}: https://go.dev/doc/install"
	GOGC=400 go build "$@"
}

# tool NAME ARGUMENT… runs a program that a go.mod in the folder tools pins. `go tool` would do the same, some seconds later.
tool() { "$(tool_path "$1")" "${@:2}"; }

tool_path() {
	local module key
	module=$(grep -lE "/$1\$" "$HACK"/tools/{,*/}go.mod | head -n 1) # helm is Helm 4; v3/cmd/helm is Helm 3, which is further down
	# The Go version is part of the key: golangci-lint refuses code newer than the Go it was built with.
	key=tools/$1-$(go env GOVERSION)-$(fingerprint "$module" "${module%.mod}.sum")
	cached "$key" build_tool "$1" "$module"
	echo "$CACHE/$key/$1"
}

build_tool() {
	log "building $1"
	go_build -modfile "$2" -ldflags '-s -w' -o "$3/$1" "$(sed -En "s#^(tool |\t)(.*/$1)\$#\2#p" "$2")"
}

# module MODFILE MODULE FORMAT prints what `go list` knows of a module that a go.mod pins, unpacked: {{.Dir}} or {{.Version}}.
module() {
	go -C "$(dirname "$1")" mod download "$2"
	go -C "$(dirname "$1")" list -m -f "$3" "$2"
}

# program_root MODFILE PROGRAM PATH FILE makes a root file system with nothing in it but a static program of that go.mod.
program_root() {
	local work top=${3%%/*}
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$work'" EXIT
	build_tool "$2" "$1" "$work"
	(umask 022 && mkdir -p "$work/root/$(dirname "$3")")
	mv "$work/$2" "$work/root/$3"
	tar -cf "$4" -C "$work/root" "$top"
}

# helm_install NAMESPACE RELEASE CHART [ARGUMENT…] installs a chart into the cluster, or changes what there is of it, and waits
# until it is ready.
helm_install() {
	# Where an installation was killed, helm believes for ever that it goes on: make it forget that one.
	kubectl --namespace "$1" delete secret --selector "owner=helm,name=$2,status in (pending-install,pending-upgrade)" \
		>/dev/null 2>&1 || true
	tool helm upgrade "$2" "$3" --install --namespace "$1" --create-namespace --wait --timeout 5m "${@:4}" >/dev/null || {
		kubectl --namespace "$1" get pods >&2
		die "$2 did not get ready"
	}
}

# wait_until_accepted COMMAND… waits until it does what the cluster refuses while a webhook does not answer, and shows its last
# words else.
wait_until_accepted() {
	wait_until 120 "$@" || {
		"$@" >&2 || true
		die "the cluster does not take it, see above: $*"
	}
}
