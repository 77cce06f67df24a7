# shellcheck shell=bash
# What the images of database servers share that are built from Debian's packages. To be sourced, after lib.sh.

# mysql_server FOLDER SUITE PACKAGES [MMDEBSTRAP-OPTION…] FILE — a root file system with a server of Debian's and the entrypoint and
# my.cnf of the folder. /etc/mysql goes because packages bring settings. $1 is for the hooks: the folder that mmdebstrap works in.
mysql_server() {
	# shellcheck disable=SC2016
	debian_tar "$2" "$3" --skip=cleanup/run \
		--customize-hook='rm -rf "$1"/etc/mysql && mkdir -p "$1"/etc/mysql/conf.d "$1"/docker-entrypoint-initdb.d' \
		--customize-hook="copy-in $1/my.cnf /etc/mysql" \
		--customize-hook="copy-in $1/entrypoint /usr/local/bin" \
		--customize-hook='echo mysql:x:999: >>"$1"/etc/group' \
		--customize-hook='echo mysql:x:999:999::/var/lib/mysql:/usr/sbin/nologin >>"$1"/etc/passwd' \
		--customize-hook='install -d -o 999 -g 999 "$1"/var/lib/mysql' \
		--customize-hook='install -d -o 999 -g 999 -m 1777 "$1"/run/mysqld' "${@:4}"
}
