#!/usr/bin/env bash
# mariadb.sh up VERSION — runs a MariaDB for tests in Docker and prints how to reach it, as
#                         BENCHRUN_TEST_HOST=… lines for eval, env or make. Again: the same one.
# mariadb.sh down [VERSION] — removes it, or all of them.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

LABEL=dev.benchrun.test-database
PASSWORD=benchrun # of a database on the loopback interface, without data

# answers tells whether the server is up, and whether it greets whoever comes by the published port: the way there is
# open a moment after the server is.
answers() {
	docker exec "$1" healthcheck.sh --connect --innodb_initialized && greets "$(port "$1")"
}

# port prints where the container's server is published.
port() { docker port "$1" 3306/tcp | sed -n '1s/.*://p'; }

greets() { with_timeout 5 bash -c "head -c 40 </dev/tcp/127.0.0.1/$1 | grep -aqi mariadb"; }

# state prints running, exited, … or nothing if there is no such container.
state() { docker container inspect --format '{{.State.Status}}' "$1" 2>/dev/null || true; }

# A container that is neither running nor known to have ended is asked again.
answers_or_ended() {
	case $(state "$1") in
	exited | dead) return 0 ;;
	*) answers "$1" ;;
	esac
}

run() {
	local name=$1 image=$2
	# The data are on the container's own disk, as gone as the container afterwards, and not in
	# memory, so that the tests cannot eat it up. The port is one that the system finds free.
	docker run --detach --name "$name" --label "$LABEL" --publish 127.0.0.1::3306 \
		--env MARIADB_ROOT_PASSWORD="$PASSWORD" "$image" \
		--local-infile=1 --innodb-flush-log-at-trx-commit=0 >/dev/null
}

up() {
	local version=$1 image=mariadb:$1 name=benchrun-mariadb-${1//./-}
	"$HACK/images.sh" "$image" >/dev/null
	# Stopped, or of an image that has been built anew since: start over.
	if [ "$(state "$name")" != running ] || [ "$(docker container inspect --format '{{.Image}}' "$name")" != \
		"$(docker image inspect --format '{{.Id}}' "$image")" ]; then
		docker rm --force --volumes "$name" >/dev/null 2>&1 || true
		run "$name" "$image"
	fi
	if ! wait_until 60 answers_or_ended "$name" || [ "$(state "$name")" != running ]; then
		docker logs --tail 20 "$name" >&2
		die "MariaDB $version does not answer; its last lines are above"
	fi

	cat <<-ENV
		BENCHRUN_TEST_HOST=127.0.0.1
		BENCHRUN_TEST_PORT=$(port "$name")
		BENCHRUN_TEST_USER=root
		BENCHRUN_TEST_PASSWORD=$PASSWORD
	ENV
}

down() {
	local containers
	containers=$(docker ps --all --quiet --filter "label=$LABEL" ${1:+--filter "name=benchrun-mariadb-${1//./-}"})
	# shellcheck disable=SC2086 # one argument for each
	[ -z "$containers" ] || docker rm --force --volumes $containers >/dev/null
}

case ${1:-} in
up) locked mariadb up "${2:?which version?}" ;;
down) locked mariadb down "${2:-}" ;;
*) usage ;;
esac
