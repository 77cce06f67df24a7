#!/usr/bin/env bash
# build.sh FILE — makes a root file system with the programs that the loader is compared with: the mariadb client, sysbench,
# and Python with a driver.
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/../lib.sh"

debian_tar trixie bash,mariadb-client,sysbench,python3-mysqldb "$1" --skip=cleanup/run
