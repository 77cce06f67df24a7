#!/usr/bin/env bash
# docker.sh — makes sure that a Docker daemon answers. Where none does, it is installed and started
# if that can be done without asking anybody: on Debian and its relatives, as root. Anywhere else
# the message says what to do.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

LOG=${BENCHRUN_DOCKER_LOG:-/var/log/benchrun-dockerd.log}
RUNC=/usr/local/lib/benchrun/runc-without-sys-resource # outlives the clone, as the daemon does

answers() { with_timeout 10 docker info >/dev/null 2>&1; }

# alive tells whether there is a daemon that may yet answer: a fresh one takes a moment. One that was
# killed can stay in the list of processes as a zombie.
# shellcheck disable=SC2009 # not every pgrep can tell zombies apart
alive() { ps -C dockerd -o stat= | grep -qv '^Z'; }

# lacks_sys_resource tells whether the machine withholds CAP_SYS_RESOURCE (bit 24) from everyone.
lacks_sys_resource() {
	local set
	set=$(awk '/^CapBnd:/ {print $2}' /proc/self/status)
	(((16#$set >> 24 & 1) == 0))
}

# remove_leftovers clears what a killed daemon leaves behind: a pid file whose number another
# process may have been given since keeps dockerd and its containerd from starting.
remove_leftovers() {
	local pidfile=/var/run/docker/containerd/containerd.pid
	# Without its daemon it serves nobody, and the new daemon starts its own.
	if [ -f "$pidfile" ] && [ "$(cat "/proc/$(cat "$pidfile")/comm" 2>/dev/null)" = containerd ]; then
		kill -9 "$(cat "$pidfile")" 2>/dev/null || true
	fi
	rm -f "$pidfile" /var/run/docker.pid /var/run/docker.sock
	remove_unused_networks
}

# remove_unused_networks ends network namespaces of containers that are gone. One that stays keeps its
# interface on the bridge, and answers to an address that the next daemon gives to somebody else.
remove_unused_networks() {
	local namespace used
	used=$(stat -L --format %i /proc/[0-9]*/ns/net 2>/dev/null | sort -u || true)
	for namespace in /run/docker/netns/*; do
		if [ -e "$namespace" ] && ! grep -qx "$(stat -L --format %i "$namespace")" <<<"$used"; then
			umount "$namespace" 2>/dev/null || true
			rm -f "$namespace"
		fi
	done
}

start_detached() {
	local args=()
	if lacks_sys_resource; then
		install -D -m 755 "$HACK/node-image/runc-without-sys-resource" "$RUNC"
		args+=(--add-runtime "benchrun=$RUNC" --default-runtime benchrun)
	fi
	log "starting dockerd (log: $LOG)"
	# Its own session and no descriptor of ours: it must survive this script, the terminal and the CI
	# step, and must keep neither a lock nor a pipe that somebody reads to its end.
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			if [ "$fd" -gt 2 ]; then eval "exec $fd>&-"; fi
		done
		exec setsid dockerd "${args[@]}" </dev/null >>"$LOG" 2>&1
	) &
}

start() {
	if answers; then return; fi
	if [ -d /run/systemd/system ]; then
		log "starting docker.service"
		systemctl start docker
	elif ! alive; then
		remove_leftovers
		start_detached
	fi
	wait_until 60 answers || {
		tail -n 30 "$LOG" >&2 2>/dev/null || true
		die "dockerd does not answer after 60 s; its last lines are above"
	}
}

if answers; then exit; fi
# iptables is only recommended by docker.io; jq is for the wrapper of runc.
if [ "$(uname -s)" != Linux ] || [ "$(id -u)" -ne 0 ] ||
	! { { have dockerd && have iptables && have jq && have ps; } || apt_install docker.io iptables jq procps; }; then
	die "no Docker daemon answers: start it, or install it (https://docs.docker.com/get-docker/)," \
		"and make sure that 'docker info' works for $(id -un)"
fi
locked docker start
log "$(docker version --format 'Docker {{.Server.Version}} answers')"
