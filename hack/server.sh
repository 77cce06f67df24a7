#!/usr/bin/env bash
# server.sh up|new IMAGE [digests] — runs a database server for tests in Docker, benchrun-mariadb-11-8 for mariadb:11.8 (after
# BENCHRUN_CLUSTER, so that a checkout with its own cluster has its own servers), and prints how to reach it, as
# BENCHRUN_TEST_HOST=… lines for eval, env or make. Again: the same one, with what tests have left that were ended; new: without. With
# digests, another one, which counts statements.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

PASSWORD=benchrun # of a database on the loopback interface, without data

# port prints where the container's server is published.
port() { docker port "$1" | sed -n '1s/.*://p'; }

# answers tells whether the server speaks with whoever comes by the published port: it does not listen while it is initialised, and
# the way there is open a moment after the server is. MySQL's greets, with version 10 of the protocol. PostgreSQL's is asked for
# encryption, which it has not.
answers() {
	case $2 in
	PostgreSQL) with_timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$(port "$1"); printf '\0\0\0\10\4\322\26\57' >&3; [ \$(head -c 1 <&3) = N ]" ;;
	*) with_timeout 5 bash -c "[ \$(head -c 5 </dev/tcp/127.0.0.1/$(port "$1") | od -An -tu1 -j4) -eq 10 ]" ;;
	esac
}

# same NAME IMAGE OPTION… — the container runs with these options, and its image has not been built anew since.
same() {
	[ "$(docker container inspect --format '{{.State.Status}} {{.Image}} {{join .Config.Cmd " "}}' "$1" 2>/dev/null)" = \
		"running $(docker image inspect --format '{{.Id}}' "$2") ${*:3}" ]
}

up() {
	local anew=$1 image engine
	shift
	local name=${BENCHRUN_CLUSTER:-benchrun}-${1//[:.]/-} user=root password port=3306
	local options=(--local-infile=1 --innodb-flush-log-at-trx-commit=0 --skip-log-bin)
	# An option that no server knows, and one that is no variable: a test reads what is said of them.
	options+=(--loose-nonsense=1 --symbolic-links=0)
	local digests=(--performance-schema=ON) # which slows the server down
	case $1 in
	mariadb:*) engine=MariaDB password=MARIADB_ROOT_PASSWORD ;;
	mysql:*) engine=MySQL password=MYSQL_ROOT_PASSWORD ;;
	postgres:*)
		engine=PostgreSQL password=POSTGRES_PASSWORD user=postgres port=5432
		options=(postgres -c fsync=off) digests=(-c shared_preload_libraries=pg_stat_statements)
		;;
	*) die "$1 is no image of an engine that Benchrun knows: mariadb:VERSION, mysql:VERSION, postgres:VERSION" ;;
	esac
	if [ "${2:-}" = digests ]; then name+=-digests options+=("${digests[@]}"); fi
	image=$("$HACK/images.sh" "$1")
	if [ "$anew" = new ] || ! same "$name" "$image" "${options[@]}"; then
		docker rm --force --volumes "$name" >/dev/null 2>&1 || true
		# The data are on the container's own disk, as gone as the container afterwards, and not in
		# memory, so that the tests cannot eat it up. The port is one that the system finds free.
		docker run --detach --name "$name" --publish "127.0.0.1::$port" --env "$password=$PASSWORD" "$image" "${options[@]}" >/dev/null
	fi
	if ! wait_until 60 answers "$name" "$engine"; then
		docker logs --tail 20 "$name" >&2
		die "$1 does not answer; its last lines are above"
	fi
	cat <<-ENV
		BENCHRUN_TEST_ENGINE=$engine
		BENCHRUN_TEST_HOST=127.0.0.1
		BENCHRUN_TEST_PORT=$(port "$name")
		BENCHRUN_TEST_USER=$user
		BENCHRUN_TEST_PASSWORD=$PASSWORD
	ENV
}

case "${1:-} $# ${3:-digests}" in
"up 2 digests" | "up 3 digests" | "new 2 digests" | "new 3 digests") locked server up "$@" ;;
*) usage ;;
esac
