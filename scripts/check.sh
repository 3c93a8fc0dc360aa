#!/usr/bin/env bash
# The gate: what has to hold before a change lands, on Linux, macOS and Windows. `--all` adds what needs other people's packages, a
# release build or many minutes. `--quick` is for the minute after a change: format, lints of the program, and the tests of what changed.
# Each step reports its seconds, and the CPU seconds, user and system, of all processes.
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
current='' spent=0 began=0
# Sets `spent` to the CPU seconds of all processes that have ended so far. `times` must not run in a subshell, which has
# times of its own.
read_cpu() {
    times >"$readings"
    spent=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%.1f", sum }' "$readings")
}
report() {
    local before=$spent
    read_cpu
    awk -v name="$current" -v now="$spent" -v before="$before" -v real=$((SECONDS - began)) \
        'BEGIN { printf "-- %s: %d seconds, %.1f CPU seconds\n", name, real, now - before }'
}
step() {
    [ -z "$current" ] || report
    current=$* began=$SECONDS
    printf '\n== %s\n' "$current"
}
finish() {
    local code=$?
    [ -z "$current" ] || report
    printf -- '-- total: %s seconds, %s CPU seconds\n' "$SECONDS" "$spent"
    rm -f "$readings"
    exit "$code"
}
trap finish EXIT

step "format"
cargo fmt --all --check

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
cargo clippy --locked --workspace --all-targets -- -D warnings

step "tests (README's test command)"
cargo test --locked

step "the scripts of the page"
scripts/page.sh

# The one that the tests were compiled with. `cargo run` would compile a part of the crates once more, without the features that only
# tests need.
step "README's main command, with the debug program"
"${CARGO_TARGET_DIR:-target}/debug/wikitrail" run

[ "$mode" = all ] || exit 0

# First what uses the debug build, then what needs the release build, which is made once. Examples bring the features of crates that
# tests need: with them the lints use what is compiled already.

step "lints without default features"
cargo clippy --locked --lib --bins --examples --no-default-features -- -D warnings

step "lints and tests with the feature parquet"
cargo clippy --locked --lib --bins --examples --features parquet -- -D warnings
cargo test --locked --features parquet --test it -- export_parquet corpus_parquet

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

step "examples"
results=$(mktemp -d)
cargo run --locked --quiet --example one_question
cargo run --locked --quiet --example two_prompts -- "$results/two"
rm -rf "$results"

# Packages of Python are compiled where they are imported, and most of their files never are.
export PIP_COMPILE=0

# With the profile whose parts are built already; releases are built with `dist`.
step "the Python package"
scripts/python.sh --profile dev

step "README's main command"
cargo run --locked --release -- run
export WIKITRAIL=$PWD/target/release/wikitrail

step "simulated coverage, type-I error, power and stopping, short"
scripts/simulate.sh --short

# These take one core each, or wait, so that two run at a time. Each ends with its exit code and what it printed.
step "what is held against other people's packages, and the rest"
xargs -P 2 -I {} bash -c '
    printed=$(scripts/{} 2>&1)
    code=$?
    printf "\n= scripts/%s: %d seconds, exit code %d\n%s\n" "{}" "$SECONDS" "$code" "$printed"
    exit "$code"' <<'TEXT'
endurance.sh --short
exports.sh
sdk.sh
fidelity.sh --short
real_model.sh --short
clients.sh
cluster.sh
agents.sh
book.sh
TEXT
