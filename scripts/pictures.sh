#!/usr/bin/env bash
# The pictures of README.md, from the real program: a terminal (SVG) and the page of `report` (PNG), over the sample and the
# baseline. Needs Chromium, and a package from PyPI that draws terminals, which is installed into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/pictures.sh [FOLDER]

Arguments:
  FOLDER     where the pictures are written [default: docs/pictures]

Environment:
  WIKITRAIL           the program [default: target/release/wikitrail, which is built]
  WIKITRAIL_CHROMIUM  the browser [default: chromium]
TEXT
}

case ${1-} in
--help | -h)
    usage
    exit 0
    ;;
-*)
    printf 'error: unknown argument `%s`\nhint: see scripts/pictures.sh --help\n' "$1" >&2
    exit 2
    ;;
esac

mkdir -p "${1:-docs/pictures}"
folder=$(cd "${1:-docs/pictures}" && pwd)
binary=${WIKITRAIL:-$PWD/target/release/wikitrail}
[ -x "$binary" ] || cargo build --locked --release
binary=$(realpath "$binary")
draw=$PWD/scripts/pictures.py

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check rich==15.0.0
cd "$work"
PATH=$(dirname "$binary"):$PATH "$work/venv/bin/python" "$draw" "$folder/terminal.svg" \
    'wikitrail run --method react,cot --quiet --out results/two' \
    'wikitrail show results/two@react:sample-003'
"$binary" report results/two --out page.html
"${WIKITRAIL_CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,840 \
    --virtual-time-budget=5000 --screenshot="$folder/report.png" "file://$work/page.html" 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }
ls -l "$folder"
