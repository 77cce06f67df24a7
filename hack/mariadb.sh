#!/usr/bin/env bash
# mariadb.sh up VERSION [digests] — runs a MariaDB for tests in Docker, benchrun-mariadb-VERSION, and prints how to reach it, as
# BENCHRUN_TEST_HOST=… lines for eval, env or make. Again: the same one. With digests, another one, which counts statements.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

PASSWORD=benchrun # of a database on the loopback interface, without data

# port prints where the container's server is published.
port() { docker port "$1" 3306/tcp | sed -n '1s/.*://p'; }

# answers tells whether the server is up, and whether it greets whoever comes by the published port: the way there is
# open a moment after the server is.
answers() {
	docker exec "$1" mariadb-admin --user=root --password="$PASSWORD" --host=127.0.0.1 ping &&
		with_timeout 5 bash -c "head -c 40 </dev/tcp/127.0.0.1/$(port "$1") | grep -aqi mariadb"
}

# same NAME IMAGE — the container runs, and its image has not been built anew since.
same() {
	[ "$(docker container inspect --format '{{.State.Status}} {{.Image}}' "$1" 2>/dev/null)" = \
		"running $(docker image inspect --format '{{.Id}}' "$2")" ]
}

up() {
	local image name=benchrun-mariadb-${1//./-} options=(--local-infile=1 --innodb-flush-log-at-trx-commit=0)
	if [ "${2:-}" = digests ]; then
		name+=-digests options+=(--performance-schema=ON) # which slows the server down
	fi
	image=$("$HACK/images.sh" "mariadb:$1")
	if ! same "$name" "$image"; then
		docker rm --force --volumes "$name" >/dev/null 2>&1 || true
		# The data are on the container's own disk, as gone as the container afterwards, and not in
		# memory, so that the tests cannot eat it up. The port is one that the system finds free.
		docker run --detach --name "$name" --publish 127.0.0.1::3306 \
			--env MARIADB_ROOT_PASSWORD="$PASSWORD" "$image" "${options[@]}" >/dev/null
	fi
	if ! wait_until 60 answers "$name"; then
		docker logs --tail 20 "$name" >&2
		die "MariaDB $1 does not answer; its last lines are above"
	fi
	cat <<-ENV
		BENCHRUN_TEST_HOST=127.0.0.1
		BENCHRUN_TEST_PORT=$(port "$name")
		BENCHRUN_TEST_USER=root
		BENCHRUN_TEST_PASSWORD=$PASSWORD
	ENV
}

case "${1:-} $# ${3:-digests}" in
"up 2 digests" | "up 3 digests") locked mariadb up "${@:2}" ;;
*) usage ;;
esac
