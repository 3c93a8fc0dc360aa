#!/usr/bin/env bash
# The simulated tables of docs/statistics-tables.md, from the code that `compare` decides with, seeded. It fails if a figure leaves its band.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
--help | -h)
    cat <<'TEXT'
Usage: scripts/simulate.sh [--short] [TABLE]...

Options:
  --short  200 simulations of each case rather than 2,000, and 1,000 resamples rather than 10,000
  --help   this text

Tables: error, coverage, words, means, attempts, power, stopping, agreement, branches, within, spread [default: all]
TEXT
    exit 0
    ;;
esac
exec cargo run --locked --quiet --release --package simulate -- "$@"
