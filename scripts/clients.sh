#!/usr/bin/env bash
# Real clients against `wikitrail serve` and `wikitrail mcp`: the PyPI and npm packages that agents read Wikipedia with, and the official
# Python and TypeScript SDKs of the Model Context Protocol. Each has to find and read what the sample corpus has. Prints what was checked; exits with
# 1 when a client gets something else. Packages that cannot be installed here are named and left out.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/clients.sh

Options:
  --help     this text

Environment:
  WIKITRAIL  the program [default: target/debug/wikitrail, which is built]
TEXT
}

case ${1-} in
'') ;;
--help | -h)
    usage
    exit 0
    ;;
*)
    printf 'error: unknown argument `%s`\nhint: see scripts/clients.sh --help\n' "$1" >&2
    exit 2
    ;;
esac

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --quiet
    binary=$PWD/target/debug/wikitrail
fi

work=$(mktemp -d)
server=
finish() {
    local code=$?
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
    exit "$code"
}
trap finish EXIT

if ! python3 -m venv "$work/venv" >"$work/log" 2>&1; then
    tail -n 3 "$work/log"
    echo "clients: not tried, as Python has no venv here"
    exit 0
fi

mkfifo "$work/address"
"$binary" serve corpus:datasets/sample-wiki --bind 127.0.0.1:0 --quiet >"$work/address" 2>"$work/served" &
server=$!
if ! read -r url <"$work/address"; then
    cat "$work/served" >&2
    exit 1
fi

export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
# The clients ask this machine only, and through no other proxy.
unset HTTPS_PROXY https_proxy ALL_PROXY all_proxy
# A package that cannot be installed takes none of the others with it.
for client in wikipedia:wikipedia==1.4.0 wikipedia_api:Wikipedia-API==0.16.0 langchain:langchain-community==0.4.2 \
    llama_index:llama-index-tools-wikipedia==0.6.0 search_r1:requests==2.34.2 mcp:mcp==2.3.0 mwclient:mwclient==0.11.0 \
    pywikibot:pywikibot==11.9.0 dspy:dspy==3.4.1; do
    name=${client%%:*} package=${client#*:}
    # LangChain's and LlamaIndex's tools read through `wikipedia`.
    if ! "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$package" wikipedia==1.4.0 >"$work/log" 2>&1; then
        tail -n 2 "$work/log"
        echo "$package: not tried, as it cannot be installed here"
        continue
    fi
    printf '%s: ' "$package"
    case $name in
    wikipedia | langchain | llama_index)
        NO_PROXY='' no_proxy='' HTTP_PROXY=$url http_proxy=$url "$work/venv/bin/python" scripts/clients.py "$name" "$url" "$binary"
        ;;
    *) NO_PROXY='*' no_proxy='*' "$work/venv/bin/python" scripts/clients.py "$name" "$url" "$binary" ;;
    esac
done

if command -v npm >/dev/null && (cd "$work" && npm install --silent --no-audit --no-fund mwn@3.0.3 wikijs@6.4.1 nodemw@0.27.0 \
    @modelcontextprotocol/sdk@1.32.2 >"$work/log" 2>&1); then
    printf 'npm: '
    NO_PROXY='*' no_proxy='*' node scripts/clients.mjs "$work/node_modules" "$url" "$binary"
else
    echo "npm packages: not tried, as they cannot be installed here"
fi

kill -TERM "$server"
wait "$server"
server=
