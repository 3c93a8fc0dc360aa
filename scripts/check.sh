#!/usr/bin/env bash
# The gate: what has to hold before a change lands, on Linux, macOS and Windows. `--all` adds what needs other people's packages, a
# release build or many minutes. `--quick` is for the minute after a change: format, lints of the program, and the tests of what changed.
# Each step reports its CPU seconds, user and system, of all processes.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/check.sh [--all | --quick]

Without an option: format, lints, README's test command and main command, and the scripts of the page.

Options:
  --all    the gate, then the other features, the documentation, the examples, a release build, and everything that is held
           against other people's packages; each of these says so and passes where its packages cannot be installed
  --quick  format, lints of the library and the program, and the tests of what changed since main
  --help   this text

Environment:
  BASE     what --quick compares with [default: origin/main, or main without a remote]
TEXT
}

mode=gate
case ${1-} in
'') ;;
--all) mode=all ;;
--quick) mode=quick ;;
--help | -h)
    usage
    exit 0
    ;;
*)
    printf 'error: unknown argument `%s`\nhint: see scripts/check.sh --help\n' "$1" >&2
    exit 2
    ;;
esac

readings=$(mktemp)
current='' spent=0
# Sets `spent` to the CPU seconds of all processes that have ended so far. `times` must not run in a subshell, which has
# times of its own.
read_cpu() {
    times >"$readings"
    spent=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%.1f", sum }' "$readings")
}
report() {
    local before=$spent
    read_cpu
    awk -v name="$current" -v now="$spent" -v before="$before" 'BEGIN { printf "-- %s: %.1f CPU seconds\n", name, now - before }'
}
step() {
    [ -z "$current" ] || report
    current=$*
    printf '\n== %s\n' "$current"
}
finish() {
    local code=$?
    [ -z "$current" ] || report
    printf -- '-- total: %s CPU seconds\n' "$spent"
    rm -f "$readings"
    exit "$code"
}
trap finish EXIT

step "format"
cargo fmt --check

if [ "$mode" = quick ]; then
    step "lints of the library and the program"
    cargo clippy --locked --lib --bins -- -D warnings

    base=${BASE-}
    [ -n "$base" ] || base=$(git rev-parse --verify --quiet --symbolic origin/main || echo main)
    base=$(git merge-base HEAD "$base")
    changed=$({ git diff --name-only "$base" && git ls-files --others --exclude-standard; } | sort -u)
    # `src/net/retry.rs` is tested by `net::`, `tests/it/replay.rs` and `tests/it/replay/mod.rs` by `replay::`.
    layers=$(sed -nE 's|^src/([a-z_]+)/.*|\1::|p' <<<"$changed" | sort -u)
    modules=$(
        {
            sed -nE 's#^tests/it/([a-z_]+)(/.*|\.rs)$#\1::#p'
            ! grep -qE '^(README|docs/.*)\.md$' <<<"$changed" || echo repository::
        } <<<"$changed" | sort -u
    )
    # Names of modules are words of their own; macOS has a Bash without `mapfile`.
    # shellcheck disable=SC2086
    if [ -n "$layers" ]; then
        step "unit tests of" $layers
        cargo test --locked --lib -- $layers
    fi
    # shellcheck disable=SC2086
    if [ -n "$modules" ]; then
        step "integration tests of" $modules
        cargo test --locked --test it -- $modules
    fi
    exit 0
fi

step "lints"
cargo clippy --locked --all-targets -- -D warnings

step "tests (README's test command)"
cargo test --locked

step "the scripts of the page"
scripts/page.sh

step "README's main command, with the debug program"
cargo run --locked -- run

[ "$mode" = all ] || exit 0

# First what uses the debug build, then what needs the release build, which is made once.

step "lints without default features"
cargo clippy --locked --lib --bins --no-default-features -- -D warnings

step "lints and tests with the feature parquet"
cargo clippy --locked --lib --bins --features parquet -- -D warnings
cargo test --locked --features parquet --test it -- export_parquet corpus_parquet

# With the profile whose parts are built already; releases are built with `dist`.
step "the Python package"
scripts/python.sh --profile dev

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

step "the book of the pages"
scripts/book.sh

step "examples"
results=$(mktemp -d)
cargo run --locked --quiet --example one_question
cargo run --locked --quiet --example two_prompts -- "$results/two"
rm -rf "$results"

step "the examples for clusters"
scripts/cluster.sh

step "README's main command"
cargo run --locked --release -- run
export WIKITRAIL=$PWD/target/release/wikitrail

step "simulated coverage, type-I error, power and stopping, short"
scripts/simulate.sh --short

step "endurance, short"
scripts/endurance.sh --short

step "requests and answers against the types of the official SDKs"
scripts/sdk.sh

step "parsers, metrics and statistics against the originals, short"
scripts/fidelity.sh --short

step "exports, opened by the packages they are for"
scripts/exports.sh

step "other programs as agents"
scripts/agents.sh

step "real clients of Wikipedia and of the Model Context Protocol against serve"
scripts/clients.sh

step "a real model, short"
scripts/real_model.sh --short
