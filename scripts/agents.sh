#!/usr/bin/env bash
# Agents of common packages through `run --agent`: each small program of scripts/agents answers 20 questions with a scripted model
# server (scripts/agents/scripted_model.py), is scored and compared with our own `react`, replayed, killed and resumed. Prints what was
# checked and a table; exits with 1 when a call is not recorded, a replay differs or asks the server, or an episode is lost or doubled.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/agents.sh [all | AGENT...]

Arguments:
  AGENT      what to try [default: plain.py plain.sh, which need no package]: plain.py, plain.sh, dspy_react.py, langgraph_mcp.py,
             smolagents_tools.py, openai_agents.py, inspect_react.py, anthropic_sdk.py, gemini_sdk.py; `all` for all of them, which are
             some 1.3 GB

Options:
  --help     this text

Environment:
  WIKITRAIL  the program [default: target/debug/wikitrail, which is built]
TEXT
}

# The packages of an agent, as for pip; each agent has an environment of its own, as some ask for other versions of the same packages.
packages_of() {
    case $1 in
    plain.py | plain.sh) ;;
    dspy_react.py) echo dspy==3.4.1 ;;
    langgraph_mcp.py) echo langgraph==1.2.24 langchain==1.5.2 langchain-mcp-adapters==0.3.2 langchain-openai==1.7.4 ;;
    smolagents_tools.py) echo 'smolagents[openai]==1.26.0' ;;
    openai_agents.py) echo openai-agents==0.24.0 ;;
    inspect_react.py) echo inspect_ai==0.3.285 openai==3.57.0 ;;
    anthropic_sdk.py) echo anthropic==2.14.0 ;;
    gemini_sdk.py) echo google-genai==3.6.1 ;;
    *) return 1 ;;
    esac
}

agents=()
while [ $# -gt 0 ]; do
    case $1 in
    all)
        agents=(plain.py plain.sh dspy_react.py langgraph_mcp.py smolagents_tools.py openai_agents.py inspect_react.py anthropic_sdk.py
            gemini_sdk.py)
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        if ! packages_of "$1" >/dev/null; then
            printf 'error: unknown argument `%s`\nhint: see scripts/agents.sh --help\n' "$1" >&2
            exit 2
        fi
        agents+=("$1")
        ;;
    esac
    shift
done
[ ${#agents[@]} -gt 0 ] || agents=(plain.py plain.sh)

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --quiet
    binary=$PWD/target/debug/wikitrail
fi

work=$(mktemp -d)
finish() {
    local code=$?
    if [ "$code" -eq 0 ]; then
        rm -rf "$work"
    else
        printf 'what was written is in %s\n' "$work" >&2
    fi
    exit "$code"
}
trap finish EXIT

failed=
for agent in "${agents[@]}"; do
    if [ "$agent" = plain.sh ] && ! command -v curl >/dev/null; then
        echo "$agent: not tried, as curl is not installed here"
        continue
    fi
    folder=$work/${agent%.*}-${agent##*.}
    mkdir "$folder"
    packages=$(packages_of "$agent")
    python=python3
    if [ -n "$packages" ]; then
        python=$folder/venv/bin/python
        # Several packages in one value.
        # shellcheck disable=SC2086
        if ! { python3 -m venv "$folder/venv" &&
            "$python" -m pip install --quiet --disable-pip-version-check $packages; } >"$work/log" 2>&1; then
            tail -n 3 "$work/log"
            echo "$agent: not tried, as $packages cannot be installed here"
            rm -rf "$folder"
            continue
        fi
    fi
    case $agent in
    *.sh) command=("sh" "$PWD/scripts/agents/$agent") ;;
    *) command=("$python" "$PWD/scripts/agents/$agent") ;;
    esac
    case $agent in
    anthropic_sdk.py) api=anthropic ;;
    gemini_sdk.py) api=gemini ;;
    *) api=openai ;;
    esac
    echo "$agent${packages:+, with $packages}"
    PYTHONDONTWRITEBYTECODE=1 python3 scripts/agents.py "$binary" "$folder" "$api" "$(printf '%q ' "${command[@]}")" "$agent" \
        "$work/table" || failed=1
    rm -rf "$folder/venv"
done

if [ -s "$work/table" ]; then
    echo
    { printf 'agent\tEM %%\tcalls\ttokens\tseconds\n' && cat "$work/table"; } |
        awk -F '\t' '{ printf "%-20s %6s %7s %8s %8s\n", $1, $2, $3, $4, $5 }'
fi
[ -z "$failed" ]
