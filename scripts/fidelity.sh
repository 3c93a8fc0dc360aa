#!/usr/bin/env bash
# Parsers, metrics and statistics against the originals from PyPI, on seeded random cases. Prints the table of docs/fidelity.md;
# exits with 1 when something differs for no reason that scripts/fidelity.py names. The originals are installed into a folder of
# their own, some 900 MB, which is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/fidelity.sh [--short] [--seed SEED]
       scripts/fidelity.sh --vectors

Options:
  --short      a tenth of the cases, and no failure where the originals cannot be installed
  --seed SEED  other cases [default: 2026]
  --vectors    write the answer pairs of the tests, tests/golden/scoring/answer_pairs.jsonl, and compare nothing
  --help       this text

Environment:
  WIKITRAIL    the program [default: target/release/wikitrail, which is built]
TEXT
}

# Replies a parser, answers a metric, tables of figures.
counts=(20000 20000 200) short='' vectors='' seed=2026
while [ $# -gt 0 ]; do
    case $1 in
    --short)
        short=yes
        counts=(2000 2000 20)
        ;;
    --vectors) vectors=yes ;;
    --seed)
        seed=${2-}
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/fidelity.sh --help\n' "$1" >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$seed" ]; then
    printf 'error: --seed needs a value, such as 7\nhint: see scripts/fidelity.sh --help\n' >&2
    exit 2
fi

binary=${WIKITRAIL-}
if [ -z "$binary" ] && [ -z "$vectors" ]; then
    cargo build --locked --release --quiet
    binary=$PWD/target/release/wikitrail
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check install)

install_originals() {
    python3 -m venv "$work/venv" || return
    # One file of each of these is read, without the packages that the whole would need.
    for package in lagent-0.2.4 lagent-0.1.1 transformers-4.57.6; do
        "${pip[@]}" --no-deps --target "$work/$package" "${package%-*}==${package##*-}" || return
    done
    [ -z "$vectors" ] || return 0
    "${pip[@]}" llama-index-core==0.14.25 qwen-agent==0.0.34 soundfile python-dateutil scipy statsmodels six setuptools wheel || return
    # Its setup.py gives Python's own object `license` as its licence, and setuptools wants a text.
    mkdir "$work/licence"
    echo 'import builtins; builtins.license = "Apache-2.0"' >"$work/licence/sitecustomize.py"
    PYTHONPATH=$work/licence "${pip[@]}" --no-deps --no-build-isolation fever-scorer==2.0.39
}

if ! install_originals >"$work/log" 2>&1; then
    tail -n 3 "$work/log"
    echo "fidelity: not compared, as the originals cannot be installed here"
    [ -n "$short" ]
    exit
fi
export PYTHONDONTWRITEBYTECODE=1
if [ -n "$vectors" ]; then
    "$work/venv/bin/python" scripts/fidelity.py --vectors "$work" tests/golden/scoring/answer_pairs.jsonl
else
    echo "seed $seed${short:+, short: a tenth of the cases}"
    "$work/venv/bin/python" scripts/fidelity.py "$binary" "$work" "${counts[@]}" "$seed"
fi
