#!/usr/bin/env bash
# Every request and every answer of the providers' APIs, against the types of the official Python SDKs: bodies with extra fields
# forbidden, and answers of the SDKs' response classes with every reason for an end, whole and streamed. Prints what was counted;
# exits with 1 when a body is not valid, or something else is recorded than was answered. docs/models.md says what is recorded.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/sdk.sh [--with PACKAGES]

Options:
  --with PACKAGES  the SDKs to try, as for pip [default: openai==3.54.0 anthropic==2.12.0 google-genai==3.4.0]
  --help           this text

Environment:
  WIKITRAIL        the program [default: target/debug/wikitrail, which is built]
TEXT
}

packages='openai==3.54.0 anthropic==2.12.0 google-genai==3.4.0'
while [ $# -gt 0 ]; do
    case $1 in
    --with)
        packages=${2-}
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/sdk.sh --help\n' "$1" >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$packages" ]; then
    printf 'error: --with needs packages, such as openai==3.54.0\nhint: see scripts/sdk.sh --help\n' >&2
    exit 2
fi

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --quiet
    binary=$PWD/target/debug/wikitrail
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Several packages in one value.
# shellcheck disable=SC2086
if ! { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet --disable-pip-version-check $packages; } >"$work/log" 2>&1; then
    tail -n 3 "$work/log"
    echo "SDKs: not tried, as $packages cannot be installed here"
    exit 0
fi
"$work/venv/bin/pip" list --disable-pip-version-check 2>/dev/null |
    awk '/^(openai|anthropic|google-genai) / { printf "%s%s %s", sep, $1, $2; sep = ", " } END { print "" }'
mkdir "$work/runs"
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" scripts/sdk.py "$binary" "$work/runs"
