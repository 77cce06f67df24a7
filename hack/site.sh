#!/usr/bin/env bash
# site.sh — makes the documentation's web site in bin/site, with mkdocs in the versions of site/requirements.txt, and prints the
# folder. Fails if a link leads nowhere. To look at it: python3 -m http.server --directory bin/site
set -euo pipefail
# shellcheck source=hack/lib.sh
. "$(dirname "$0")/lib.sh"

REQUIREMENTS=$HACK/site/requirements.txt

# install_mkdocs FOLDER puts mkdocs and all that it needs there: nothing that is not in the file, with the hash that is there.
install_mkdocs() {
	log "installing mkdocs"
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --require-hashes \
		--only-binary :all: --target "$1" -r "$REQUIREMENTS"
}

python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip ||
	die "install Python 3.11 or later, with pip: it makes the site"
key=site/$(python3 -c 'import platform; print(platform.machine() + "-" + platform.python_version())')-$(fingerprint "$REQUIREMENTS")
cached "$key" install_mkdocs
rm -rf "$BIN/site-source"
mkdir -p "$BIN/site-source"
go run ./hack/site "$BIN/site-source"
# It says at each start for how long the theme is maintained.
NO_MKDOCS_2_WARNING=1 PYTHONPATH=$CACHE/$key python3 -m mkdocs build --strict --clean --config-file "$BIN/site-source/mkdocs.yml" \
	--site-dir "$BIN/site" >&2
echo "$BIN/site"
