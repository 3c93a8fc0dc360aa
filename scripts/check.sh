#!/usr/bin/env bash
# Everything that has to hold before a change lands. CI runs exactly this.
set -euo pipefail
cd "$(dirname "$0")/.."
step() { printf '\n== %s\n' "$*"; }

step "format"
cargo fmt --check

step "lints, with and without default features"
cargo clippy --locked --all-targets -- -D warnings
cargo clippy --locked --all-targets --no-default-features -- -D warnings

step "tests (README's test command)"
cargo test --locked

step "lints and export tests with the feature parquet"
cargo clippy --locked --lib --bins --test it --features parquet -- -D warnings
cargo test --locked --features parquet --test it export_parquet

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items

step "slim build"
cargo build --locked --no-default-features
target/debug/wikitrail --version

step "README's main command"
cargo run --locked --release -- run

step "README's other commands"
scripts/readme.sh
