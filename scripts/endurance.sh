#!/usr/bin/env bash
# Does to the program what folders, pages, servers and machines can do: kills, caps on memory and disk, hostile replies, pages and
# servers. Prints what it counted; exits with 1 when an episode is lost or doubled, a recorded answer is paid for again,
# something panics, or a failure counts as an answer. It needs Python, and nothing but this machine.
#
#   replies, pages and files  texts, damaged at random from a seed, for the parser of each protocol, the readers of each provider's
#                             answers and streams, of pages, datasets, prompts, experiments and recorded episodes: each is read
#                             or refused, within its limits; only a page is ever read as a page
#   kills                     kill -9, SIGTERM, SIGHUP, SIGINT and SIGINT twice, while some answers fail: each episode is there once,
#                             as the model answered; only the request in flight is paid for again, and none after SIGTERM, SIGHUP and
#                             one SIGINT; calls, tokens and EM are what the model counted
#   ulimit -v                 starts with too little memory: an error with a hint, or the end; what was recorded stays, and the run
#                             can be resumed
#   ulimit -f, full disk      files that may not grow, a full file system where one can be mounted: an error with a hint; every
#                             answer is in the folder or in the file that the error names
#   hostile model and wiki    a behaviour for each question (hangs, drips, endless headers and bodies, gzip bombs, redirects in
#                             circles and to files, portals, broken encodings, early ends): not_measured with a cause, bounded memory
#   large pages               64 pages of 15 MiB at once: bounded memory, and the same answers
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/endurance.sh [--short] [--seed N]

Options:
  --short   a minute instead of a quarter of an hour; CI runs it
  --seed N  other moments, faults and replies [default: 233]
  --help    this text

Environment:
  WIKITRAIL          the program [default: target/release/wikitrail, which is built]
  WIKITRAIL_REPLIES  texts for each reader of replies, pages and files [default: 50000; with --short 200]
TEXT
}

short='' seed=233
while [ $# -gt 0 ]; do
    case $1 in
    --short) short=--short ;;
    --seed)
        seed=${2-}
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/endurance.sh --help\n' "$1" >&2
        exit 2
        ;;
    esac
    shift
done
case $seed in
'' | *[!0-9]*)
    printf 'error: --seed needs a number\nhint: see scripts/endurance.sh --help\n' >&2
    exit 2
    ;;
esac

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --release
    binary=$PWD/target/release/wikitrail
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In process. `cargo test` does the same with a seed of its own.
export WIKITRAIL_SEED=$seed WIKITRAIL_REPLIES=${WIKITRAIL_REPLIES:-$([ -n "$short" ] && echo 200 || echo 50000)}
readers="every_dialogue_ends direct_answers_end any_answer_is any_page_is any_dataset_is any_prompt_or any_recorded_episode"
# shellcheck disable=SC2086
if ! cargo test --locked --quiet --lib -- --nocapture $readers >"$work/readers" 2>&1; then
    tail -n 40 "$work/readers"
    printf 'FAILED: a reader\n'
    exit 1
fi
awk '/: [0-9]+ (texts|outputs)/ { sub(/^\.+/, ""); for (i = 2; i <= NF; i++) if ($i ~ /^(texts|outputs)$/) sum += $(i - 1); readers++ }
    END { printf "replies, pages and files: readers %d, texts %d, panics 0\n", readers, sum; exit readers < 23 }' "$work/readers" ||
    { printf 'FAILED: not all readers were tried\n'; exit 1; }

python3 scripts/endurance.py "$binary" "$work" $short --seed "$seed"
