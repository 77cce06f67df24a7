#!/bin/bash
# The checks of the official image's healthcheck.sh that people use: --connect (the server answers
# on its port, which it does only when initialised) and --innodb_initialized.
set -euo pipefail

query() {
	mariadb --defaults-file=/var/lib/mysql/.my-healthcheck.cnf --host=127.0.0.1 \
		--skip-column-names --batch --execute="$1"
}

[ $# -gt 0 ] || set -- --connect
for check; do
	case $check in
	--connect) [ "$(query 'SELECT 1')" = 1 ] ;;
	--innodb_initialized)
		[ "$(query "SELECT 1 FROM information_schema.ENGINES
			WHERE engine = 'InnoDB' AND support IN ('YES', 'DEFAULT')")" = 1 ]
		;;
	*)
		echo "$0: unknown check $check" >&2
		exit 2
		;;
	esac
done
