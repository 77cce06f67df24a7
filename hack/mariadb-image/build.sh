#!/usr/bin/env bash
# build.sh VERSION FILE — makes the root file system of the stand-in for mariadb:VERSION.
# What to run in it, images.sh says when it imports it.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/../lib.sh"

version=$1 file=$2
here=$HACK/mariadb-image

# The Debian release with this version.
case $version in
11.8) suite=trixie ;;
10.11) suite=bookworm ;;
*) die "no Debian release has MariaDB $version: it can only be pulled" ;;
esac

# Not the -server package: it is a system service with a configuration of its own. The -client
# package has mariadb-admin and mariadb-dump; /etc/mysql goes because both bring settings.
#
# $1 is for the shell that mmdebstrap gives the hooks to: the folder it works in.
# shellcheck disable=SC2016
debian_tar "$suite" mariadb-server-core,mariadb-client "$file" \
	--skip=cleanup/run \
	--customize-hook='rm -rf "$1"/etc/mysql && mkdir -p "$1"/etc/mysql/conf.d "$1"/docker-entrypoint-initdb.d' \
	--customize-hook="copy-in $here/my.cnf /etc/mysql" \
	--customize-hook="copy-in $here/entrypoint $here/healthcheck.sh /usr/local/bin" \
	--customize-hook='echo mysql:x:999: >>"$1"/etc/group' \
	--customize-hook='echo mysql:x:999:999::/var/lib/mysql:/usr/sbin/nologin >>"$1"/etc/passwd' \
	--customize-hook='install -d -o 999 -g 999 "$1"/var/lib/mysql' \
	--customize-hook='install -d -o 999 -g 999 -m 1777 "$1"/run/mysqld'
