#!/usr/bin/env bash
# The JavaScript of the page that `report` writes: its types (JSDoc, checked by tsc), a linter, and tests of what needs no browser.
# Packages are installed into a temporary folder. Exits with 1 when something is found.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/page.sh [--axe FILE]

Options:
  --axe FILE  copies axe-core, which the browser tests take from WIKITRAIL_AXE, to FILE and checks nothing
  --help      this text
TEXT
}

axe=
while [ $# -gt 0 ]; do
    case $1 in
    --axe)
        axe=${2-}
        if [ -z "$axe" ]; then
            printf 'error: --axe needs a file\nhint: see scripts/page.sh --help\n' >&2
            exit 2
        fi
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/page.sh --help\n' "$1" >&2
        exit 2
        ;;
    esac
    shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/analysis/report"
cp -r src/analysis/report/page "$work/src/analysis/report/"
cp -r scripts "$work/"
cp scripts/page/package.json "$work/"

if ! command -v npm >/dev/null || ! (cd "$work" && npm install --no-audit --no-fund --ignore-scripts) >"$work/log" 2>&1; then
    [ ! -s "$work/log" ] || tail -n 3 "$work/log"
    echo "page: not checked, as npm or its packages are not available here"
    exit 0
fi
if [ -n "$axe" ]; then
    cp "$work/node_modules/axe-core/axe.min.js" "$axe"
    exit 0
fi
cd "$work"
node_modules/.bin/tsc --version
node_modules/.bin/tsc -p scripts/page/tsconfig.json
node_modules/.bin/eslint --config scripts/page/eslint.config.js src/analysis/report/page scripts/page
node --test scripts/page/
echo "page: types, lints and tests are clean"
