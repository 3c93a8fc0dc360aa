#!/usr/bin/env bash
# What action.yml does, for any shell of GitHub's runners (macOS has bash 3.2). Whatever the workflow gives arrives in environment
# variables and is only ever an argument of the program: no value becomes a part of a command.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: scripts/action.sh key|install|run

Commands:
  key      write `key` (a digest of what the program is built from) and `root` (where it is installed) to $GITHUB_OUTPUT
  install  build the program into $ACTION_ROOT, unless it is there
  run      run, compare, write the page and the summary; exit 5 if a condition holds, 4 if an episode was not measured, 2 before
           the run if a condition names what the run will not have

Environment of `run`; lists have one item a line:
  ACTION_ROOT   folder with bin/wikitrail
  ACTION_RUN       arguments of `wikitrail run`
  ACTION_REPLAY    recording to run from; without it, the model is asked
  ACTION_AGAINST   other runs to compare with
  ACTION_COMPARE   arguments of `wikitrail compare`
  ACTION_FAIL_IF   conditions
  GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, RUNNER_TEMP
TEXT
}

# Sets `items` to the lines of a text that are not empty.
items=()
lines() {
    local line
    items=()
    while IFS= read -r line || [ -n "$line" ]; do
        [ -z "$line" ] || items+=("$line")
    done <<<"$1"
}

random() {
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n'
}

# One output of the step; the random delimiter keeps a value with line ends from adding others.
output() {
    local end
    end=end-$(random)
    printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
}

key() {
    local sum=sha256sum digest
    command -v sha256sum >/dev/null || sum='shasum -a 256'
    # `$sum` may be several words.
    digest=$(cd "$(dirname "$0")/.." && find Cargo.toml Cargo.lock rust-toolchain.toml build.rs src prompts datasets experiments docs \
        -type f -print0 | LC_ALL=C sort -z | xargs -0 $sum | $sum)
    output key "${digest%% *}"
    output root "$RUNNER_TEMP/wikitrail-program"
}

install() {
    [ ! -x "$ACTION_ROOT/bin/wikitrail" ] || return 0
    local name value kept=()
    # Build scripts of dependencies are not shown the keys of models.
    for name in PATH HOME USERPROFILE TEMP TMP SystemRoot ProgramData ProgramFiles 'ProgramFiles(x86)' CARGO_HOME RUSTUP_HOME LANG \
        http_proxy https_proxy no_proxy; do
        value=$(printenv -- "$name" || true)
        [ -z "$value" ] || kept+=("$name=$value")
    done
    # The folder is the one whose rust-toolchain.toml chooses the compiler.
    cd "$(dirname "$0")/.."
    env -i "${kept[@]}" cargo install --locked --path . --root "$ACTION_ROOT"
}

# Appends an error of the program to the summary. Indented text is shown as it is, whatever it holds.
explain() {
    printf '### wikitrail: %s\n\n' "$1" >>"$GITHUB_STEP_SUMMARY"
    tail -n 40 "$2" | cut -c 1-2000 | tr -d '\000-\010\013-\037\177' | sed 's/^/    /' >>"$GITHUB_STEP_SUMMARY"
    printf '\n' >>"$GITHUB_STEP_SUMMARY"
}

# GitHub shows at most 1 MiB of a summary and drops what is larger.
summarize() {
    local size
    size=$(wc -c <"$1")
    if [ "$size" -le 900000 ]; then
        cat "$1" >>"$GITHUB_STEP_SUMMARY"
    else
        printf 'The comparison has %d bytes, more than a summary can show; it is in the artefact.\n' "$size" >>"$GITHUB_STEP_SUMMARY"
    fi
    printf '\n' >>"$GITHUB_STEP_SUMMARY"
}

# Whether the plan has one variant and nothing to compare it with: a comparison of which nothing is asked is refused.
is_alone() {
    local code=0
    [ "${#asked[@]}" = 0 ] && [ "${#others[@]}" = 0 ] || return 1
    "$program" compare --plan="$work/plan" </dev/null 2>/dev/null || code=$?
    [ "$code" = 2 ]
}

# Makes the plan of the run and checks the comparison against it, before anything is paid. Sets `alone`.
check() {
    local code=0 planned=()
    for item in "${arguments[@]}"; do
        case $item in --dry-run | --json | --quiet | -q) ;; *) planned+=("$item") ;; esac
    done
    "$program" run --dry-run --json "${planned[@]}" </dev/null >"$work/plan" 2>"$work/errors" || code=$?
    if [ "$code" != 0 ]; then
        cat "$work/errors" >&2
        explain "\`run\` ended with exit code $code" "$work/errors"
        return "$code"
    fi
    alone=
    if is_alone; then
        alone=1
        return 0
    fi
    "$program" compare --plan="$work/plan" "${flags[@]}" -- ${others[@]+"${others[@]}"} </dev/null 2>"$work/errors" || code=$?
    if [ "$code" != 0 ]; then
        cat "$work/errors" >&2
        explain "\`compare\` would end with exit code $code, so nothing was run" "$work/errors"
    fi
    return "$code"
}

# Writes the scores of a single variant as text, which a summary shows as it is.
scores() {
    printf '### Scores\n\n' >"$work/show/scores.md"
    "$program" score -- "$work/run" </dev/null 2>"$work/errors" | sed '/^next:/,$d; s/^/    /' >>"$work/show/scores.md"
}

run() {
    local program=$ACTION_ROOT/bin/wikitrail work code=0 compared=0 reported=0 alone item
    local arguments=() flags=() runs=() conditions=() asked=() others=()
    work=$(mktemp -d "$RUNNER_TEMP/wikitrail.XXXXXX")
    mkdir "$work/show"
    # Lines such as `::error::` in what models and files say are not commands to the runner.
    stopped=$(random)
    printf '::stop-commands::%s\n' "$stopped"
    trap 'printf "::%s::\n" "$stopped"' EXIT

    [ -z "${ACTION_REPLAY-}" ] || arguments+=("--replay=$ACTION_REPLAY")
    lines "${ACTION_RUN-}"
    arguments+=("--out=$work/run" ${items[@]+"${items[@]}"})
    lines "${ACTION_AGAINST-}"
    others=(${items[@]+"${items[@]}"})
    runs=("$work/run" ${others[@]+"${others[@]}"})
    lines "${ACTION_FAIL_IF-}"
    for item in ${items[@]+"${items[@]}"}; do
        conditions+=("--fail-if=$item")
    done
    lines "${ACTION_COMPARE-}"
    asked=(${conditions[@]+"${conditions[@]}"} ${items[@]+"${items[@]}"})
    flags=("--format=markdown" "--out=$work/show/comparison.md" ${asked[@]+"${asked[@]}"})
    check || return "$?"

    "$program" run "${arguments[@]}" </dev/null 2>"$work/errors" || code=$?
    cat "$work/errors" >&2
    # 4: finished, but some episodes were not measured; whatever was measured is compared.
    if [ "$code" != 0 ]; then
        # Why episodes were not measured is among the scores, which a quiet run does not print.
        [ "$code" != 4 ] || "$program" score -- "$work/run" </dev/null 2>/dev/null | grep 'not measured' >>"$work/errors" || true
        explain "\`run\` ended with exit code $code" "$work/errors"
        [ "$code" = 4 ] || return "$code"
    fi
    output run "$work/run"
    output folder "$work/show"

    if [ -n "$alone" ]; then
        scores || compared=$?
    else
        "$program" compare "${flags[@]}" -- "${runs[@]}" </dev/null 2>"$work/errors" || compared=$?
    fi
    cat "$work/errors" >&2
    [ "$compared" = 0 ] || explain "\`compare\` ended with exit code $compared" "$work/errors"
    for item in "$work"/show/*.md; do
        [ ! -f "$item" ] || summarize "$item"
    done

    "$program" report --out="$work/show/report.html" -- "${runs[@]}" </dev/null 2>"$work/errors" || reported=$?
    cat "$work/errors" >&2
    [ "$reported" = 0 ] || explain "\`report\` ended with exit code $reported" "$work/errors"

    # What the gate says goes first.
    for item in "$compared" "$code" "$reported"; do
        [ "$item" = 0 ] || return "$item"
    done
}

case ${1-} in
key | install | run) "$1" ;;
--help | -h) usage ;;
*)
    printf 'error: unknown command `%s`\nhint: see scripts/action.sh --help\n' "${1-}" >&2
    exit 2
    ;;
esac
