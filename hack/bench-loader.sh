#!/usr/bin/env bash
# bench-loader.sh [FLAG…] — the loader and the programs that it stands in for, in turns against one MariaDB with its default
# durability, or another IMAGE, such as postgres:17, everything on this machine. Flags are those of test/benchloader: -rounds N, -run REGEXP. With BEFORE=COMMIT in the
# environment, it is compared with the loader of that commit in place of other programs.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

SERVER=benchrun-bench-server ORIGINALS=benchrun-bench-originals PASSWORD=benchrun

image=${IMAGE:-mariadb:11.8}
dir=$(mktemp -d)
remove() { docker rm --force --volumes "$SERVER" "$ORIGINALS" >/dev/null 2>&1 || true; }
trap 'remove; rm -rf "$dir"' EXIT
remove
case $image in
*postgres*)
	image=$("$HACK/images.sh" "$image")
	docker run --detach --name "$SERVER" --shm-size 1g --env POSTGRES_PASSWORD="$PASSWORD" "$image" \
		postgres -c shared_buffers=1GB -c max_wal_size=4GB >/dev/null
	wait_until 60 docker exec --env PGPASSWORD="$PASSWORD" "$SERVER" psql --username=postgres --host=127.0.0.1 --command='SELECT 1' ||
		die "PostgreSQL does not answer"
	export BENCHRUN_TEST_ENGINE=PostgreSQL BENCHRUN_TEST_PORT=5432 BENCHRUN_TEST_USER=postgres
	docker run --detach --name "$ORIGINALS" --volume "$dir:/bench" --env PGUSER=postgres --env PGPASSWORD="$PASSWORD" \
		--env PGHOST="$(docker inspect --format '{{.NetworkSettings.IPAddress}}' "$SERVER")" \
		--env PGOPTIONS='-c search_path=benchloader' --entrypoint sleep "$image" infinity >/dev/null
	;;
*)
	images=$("$HACK/images.sh" "$image" originals)
	docker run --detach --name "$SERVER" --env MARIADB_ROOT_PASSWORD="$PASSWORD" "${images%%$'\n'*}" \
		--local-infile=1 --innodb-buffer-pool-size=1G --innodb-log-file-size=1G >/dev/null
	wait_until 60 docker exec "$SERVER" mariadb-admin --user=root --password="$PASSWORD" --host=127.0.0.1 ping ||
		die "MariaDB does not answer"
	export BENCHRUN_TEST_ENGINE=MariaDB BENCHRUN_TEST_PORT=3306 BENCHRUN_TEST_USER=root
	docker run --detach --name "$ORIGINALS" --volume "$dir:/bench" "${images##*$'\n'}" sleep infinity >/dev/null
	;;
esac

# Both programs reach the server as Pods do, from container to container: a published port would have a proxy in between.
BENCHRUN_TEST_HOST=$(docker inspect --format '{{.NetworkSettings.IPAddress}}' "$SERVER")
export BENCHRUN_TEST_HOST BENCHRUN_TEST_PASSWORD=$PASSWORD
if [ -n "${BEFORE:-}" ]; then
	log "building the loader of $BEFORE"
	mkdir "$dir/source"
	git archive "$BEFORE" | tar -x -C "$dir/source"
	(cd "$dir/source" && go_build -o "$dir/before" ./cmd/loader)
	set -- -before "$dir/before" "$@"
fi
go run ./test/benchloader -loader "$BIN/linux-$(go env GOARCH)/loader" -originals "$ORIGINALS" -dir "$dir" "$@"
