#!/usr/bin/env bash
# The Python package as people get it: built as a wheel, installed into an empty environment, tested outside of this folder, its types
# checked, and its notebook executed. Says so and passes where the packages for it cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/python.sh [--profile NAME]

Options:
  --profile NAME  how the program is compiled: dev, release or dist [default: release]
  --help          this text
TEXT
}

profile=release
case ${1-} in
'') ;;
--profile) profile=${2:?a name, see scripts/python.sh --help} ;;
--help | -h)
    usage
    exit 0
    ;;
*)
    printf 'error: unknown argument `%s`\nhint: see scripts/python.sh --help\n' "$1" >&2
    exit 2
    ;;
esac

python3 scripts/python_types.py --check

work=$(mktemp -d)
trap 'rm -rf "$work" THIRD-PARTY.txt' EXIT
pip=(-m pip --quiet --disable-pip-version-check)
if ! { python3 -m venv "$work/empty" && "$work/empty/bin/python" "${pip[@]}" download --no-deps --dest "$work" 'maturin>=1.9,<2'; } >"$work/log" 2>&1; then
    tail -n 3 "$work/log"
    echo "Python package: not tried, as maturin cannot be installed here"
    exit 0
fi

# The wheel, and nothing but the wheel.
python3 scripts/third_party.py "$(rustc -vV | sed -n 's/^host: //p')" >THIRD-PARTY.txt
"$work/empty/bin/python" "${pip[@]}" wheel --no-deps --wheel-dir "$work/wheel" --config-settings "build-args=--profile $profile" .
"$work/empty/bin/python" "${pip[@]}" install --no-index "$work"/wheel/wikitrail-*.whl
licences=$(echo "$work"/empty/lib/python*/site-packages/wikitrail-*.dist-info/licenses/THIRD-PARTY.txt)
if ! grep -q '^    source: https://crates.io/crates/cssparser/' "$licences"; then
    echo "error: the wheel lacks the licences of its crates, or where the sources of those under the MPL are" >&2
    exit 1
fi
(cd "$work" && "$work/empty/bin/wikitrail" --version && "$work/empty/bin/python" -m wikitrail run --limit 3 --quiet --out "$work/first")
cp -r python/tests "$work/tests"
(cd "$work" && "$work/empty/bin/python" -m unittest discover --start-directory tests)

if "$work/empty/bin/python" "${pip[@]}" install mypy pandas polars nbclient ipykernel >"$work/log" 2>&1; then
    (cd "$work" && "$work/empty/bin/python" -m unittest discover --start-directory tests)
    "$work/empty/bin/mypy" python/wikitrail
    "$work/empty/bin/python" scripts/notebook.py docs/python.ipynb "$work"
else
    tail -n 3 "$work/log"
    echo "Python package: its types are not checked and its notebook is not executed, as mypy or nbclient cannot be installed here"
fi
