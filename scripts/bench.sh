#!/usr/bin/env bash
# Measures the runner against the benchmark kit in ../shared/tools/bench: a mock of a model and one of Wikipedia on this
# machine. Prints one row a scenario. docs/performance.md has the figures.
#
# Each episode has the paper's prompt over a HotpotQA question: four model calls (two searches, a lookup, the answer) and two pages
# of 150 KB in `fixed` mode. The kit's mock answers every search with one of eight pages, which the program reads once. The
# processors are shared with the mocks, so the rows say how much work an episode is. The dist profile is that of shipped binaries.
#
#   scenario     what bounds it
#   fast         the processors: 256 slots of 50 ms could serve 1,280 episodes a second
#   scrape       the processors, which read every page
#   slow         the model: 32 episodes a second at most; the usual case with a real one
#   cached       the processors; each of the 100 pages is fetched and read once
#   large        as fast
#   faults       waiting between attempts
#   resume       reading and checking 320 MB of records
#   readers      the bytes of the records; needs neither the mocks nor the kit
#   corpus       five minutes and 4 GB of disk for a million articles, half an hour and 15 GB for five; needs no kit either.
#                Beside SQLite's FTS5, bm25s and tantivy-py from PyPI: recall, build, size and latency, with the datasets of ../shared
#
#   column       what it means
#   episodes/s   over the whole time of the program, start and final table included
#   in flight    model calls, averaged from the first call to the last, as the mock counts them
#   slots used   the same as a share of --concurrency
#   CPU ms/ep.   user and system time of the program
#   peak MB      largest resident memory of the program
#   EM, F1       must be 0.3245 and 0.4488 over the first 2,000 questions, 0.3380 and 0.4568 over the first 500, faults or not
#   measured     the fewest episodes that any of the runs measured; must be all, faults or not
#
# Memory is bounded, apart from the plan: 256 read pages or 64 MB, 512 findings or 32 MB, for pages on their way --wiki-concurrency
# and 16 more of up to 1 MiB each and 64 MiB for all longer ones, a tree of ten to twenty times its page for each processor, up to
# 400 KB of buffers for each of --wiki-concurrency, 256 records that wait for the disk.
#
# What keeps an episode cheap, and is lost first when a row gets worse:
#   prompt       its long prefix is escaped, digested and counted once a run; requests go on from there
#   open page    the text that its source holds; a copy only where the paper's `clean_str` changes it
#   lookup       only paragraphs that may hold the keyword are cut into sentences
#   search       its answer is kept by the words of the query; one that is on its way is waited for
#   pages        read on threads of their own, at most as many as processors; short ones wait behind long ones
#   waiting      one thread for two processors waits for models; the baseline and replays have all processors
#   records      written at most every 10 ms, all that have ended by then, each batch synced before it is counted
# And of the readers:
#   records      every line is parsed before it is believed, in as many parts of the file as processors, but its texts are not kept
#   scores       trajectories are read in the order of the dataset, one at a time; two variants of one run together
#   show         lines that begin with the id of another question are not parsed
#   resume       records are read again under the lock only if they have changed since
set -euo pipefail
cd "$(dirname "$0")/.."

all="fast scrape slow cached large faults resume readers corpus"
usage() {
    cat <<EOF
Usage: scripts/bench.sh [--n N] [--repeat N] [SCENARIO]...

Scenarios (all of them without a name):
  fast    2,000 episodes, 256 slots, a model of 50 ms, pages of 150 KB after 20 ms, which are eight different ones
  scrape  fast, with no two pages alike, so that each is read
  slow    500 episodes, 64 slots, a model of 500 ms
  cached  scrape, with 100 different pages
  large   20,000 episodes, as fast: memory must not follow
  faults  fast, with an eleventh of the model's answers broken in seven ways
  resume  20,000 finished episodes of 16 KB each, and one to do: time to its first call
  readers what resume, score, compare, export and show take of 100,000 episodes over as many questions of 1.6 kB
  corpus  building, opening, searching and serving a corpus of 1,000,000 made-up leads, beside its targets; then its recall,
          build, size and latency beside those of SQLite's FTS5, bm25s and tantivy-py

Options:
  --n N       episodes of every scenario, or articles of \`corpus\`, instead of its own number
  --repeat N  runs of each scenario but \`corpus\`, of which the median is shown [default: 3]
  --help      this text

Environment:
  WIKITRAIL   the binary [default: target/dist/wikitrail, built as needed]
  BENCH_WORK  where the mocks are built and the runs are written; kept [default: a new folder, removed at the end]
  BENCH_RUNS  where the runs of \`readers\` are, 1.2 GB, which take some minutes; kept [default: in BENCH_WORK]
EOF
}

fail() {
    printf 'error: %s\nhint: %s\n' "$2" "$3" >&2
    exit "$1"
}

number() {
    case $2 in
    '' | *[!0-9]* | 0*) fail 2 "$1 takes a number from 1 on, not \`$2\`" "see scripts/bench.sh --help" ;;
    esac
}

n=
repeat=3
scenarios=
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --n)
        n=${2-}
        number --n "$n"
        shift
        ;;
    --repeat)
        repeat=${2-}
        number --repeat "$repeat"
        shift
        ;;
    fast | scrape | slow | cached | large | faults | resume | readers | corpus) scenarios="$scenarios $1" ;;
    *) fail 2 "unknown argument \`$1\`" "scenarios are $all; see scripts/bench.sh --help" ;;
    esac
    shift
done
[ -n "$scenarios" ] || scenarios=$all

shared=../shared
kit=$shared/tools/bench
questions=$shared/data/datasets/hotpot_dev_v1_simplified.json
mocks=
for scenario in $scenarios; do
    case $scenario in readers | corpus) ;; *) mocks=yes ;; esac
done
[ -z "$mocks" ] || { [ -f "$kit/bench.py" ] && [ -f "$questions" ]; } ||
    fail 3 "the benchmark kit is not at $kit" "put the folder \`shared\` beside this one; it has the mocks and the questions"
for tool in python3 curl /usr/bin/time; do
    command -v "$tool" >/dev/null || fail 3 "$tool is needed and was not found" "install it and start again"
done

if [ -n "${BENCH_WORK-}" ]; then
    mkdir -p "$BENCH_WORK"
    work=$(cd "$BENCH_WORK" && pwd)
    kept=yes
else
    work=$(mktemp -d)
    kept=
fi
export BENCH_WORK=$work
started=
finish() {
    [ -z "$started" ] || sh "$kit/stop_mocks.sh" 2>/dev/null || true
    rm -rf "$work/run" "$work/rows.jsonl"
    [ -n "$kept" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Built from a copy, so that nothing is left behind in ../shared. The kit's mock answers every search with one of eight
# pages, which the program reads once each; the copy can also end each page with its title, which makes it another one.
# Where it is not asked to, it answers as the kit's does.
pages=$work/mockd/src/wiki.rs
if [ -n "$mocks" ] && ! { [ -x "$work/target/release/mockd" ] && grep -qs '"unique"' "$pages"; }; then
    rm -rf "$work/mockd"
    cp -r "$shared/tools/mockd" "$work/mockd"
    chmod -R u+w "$work/mockd"
    sed -i -e 's|^\( *\)"gzip" => .*|&\n\1"unique" => c.seed = if v == "1" { u64::MAX } else { 7 },|' \
        -e 's|^\( *\)return if gz .*|\1if st.cfg.borrow().seed == u64::MAX { return html(Bytes::from([\&a[..], b"<!-- ", title.as_bytes(), b" -->"].concat()), false); }\n&|' \
        "$pages"
    [ "$(grep -c '"unique"\|seed == u64::MAX' "$pages")" = 2 ] ||    fail 3 "the kit's mock of Wikipedia differs from the one that this script knows" "bring its change to $pages up to date"
    cargo build --release --manifest-path "$work/mockd/Cargo.toml" --target-dir "$work/target"
fi
if [ -n "${WIKITRAIL-}" ]; then
    binary=$WIKITRAIL
    [ -x "$binary" ] || fail 3 "\`$binary\` is not a program" "unset WIKITRAIL to have it built"
else
    cargo build --locked --profile dist
    binary=target/dist/wikitrail
fi

start_mocks() {
    started=yes
    sh "$kit/start_mocks.sh" >/dev/null
    for mock in llm wiki; do
        kill -0 "$(cat "$work/logs/$mock.pid")" 2>/dev/null ||        fail 3 "the $mock mock did not start: $(tail -n 1 "$work/logs/$mock.out")" "are the ports 9101 and 9102 free?"
    done
}
[ -z "$mocks" ] || start_mocks

model=http://127.0.0.1:9101
wiki=http://127.0.0.1:9102
limit=
repeats=
# The dataset has 7,405 questions; more episodes than that are repeats.
split() {
    repeats=$((($1 + 7404) / 7405))
    limit=$((($1 + repeats - 1) / repeats))
}

# The command before its own words, and the program with those of a run; `--resume` where that is set.
resume=
wikitrail() {
    "$@" run "$questions" --limit "$limit" --repeats "$repeats" \
        --prompt "$shared/data/prompts/prompts_naive.json#webthink_simple6" \
        --instruction "$shared/data/prompts/hotpotqa_instruction.txt" --protocol react-paper \
        --model openai:mock --base-url "$model/v1" --wiki html --wiki-url "$wiki" --wiki-concurrency 64 \
        --concurrency "$slots" --out "$work/run" --quiet --json ${resume:+--resume}
}

# NAME EPISODES SLOTS MODEL_MS WIKI_MS FAULTS TITLES (0: each its own) UNIQUE (1: a page for each title)
measure() {
    local name=$1 slots=$3 round
    split "${n:-$2}"
    curl -sf "$model/config?pool=$7" >/dev/null
    curl -sf "$wiki/config?unique=$8" >/dev/null
    for round in $(seq "$repeat"); do
        rm -rf "$work/run" "$work/results/runs.jsonl"
        wikitrail python3 "$kit/bench.py" --quiet --timeout 3600 --name "$name" --n $((limit * repeats)) --conc "$slots" \
            --llm-ms "$4" --wiki-ms "$5" --fault "$6" -- "$binary"
        python3 scripts/bench_figures.py row "$work/results/runs.jsonl" "$work/logs/last_$name.log" "$work/rows.jsonl"
        printf '%s: run %s of %s\n' "$name" "$round" "$repeat" >&2
    done
    curl -sf "$model/config?pool=0" >/dev/null
    curl -sf "$wiki/config?unique=0" >/dev/null
}

resuming() {
    local slots=256 round begun size
    split "${n:-20000}"
    curl -sf "$model/config?latency=0&fault=none" >/dev/null
    curl -sf "$wiki/config?latency=0" >/dev/null
    rm -rf "$work/run"
    wikitrail "$binary" >/dev/null 2>"$work/logs/resume.log" || fail 1 "the run to resume failed" "see $work/logs/resume.log"
    size=$(python3 scripts/bench_figures.py pad "$work/run/trajectories.jsonl")
    resume=yes
    for round in $(seq "$repeat"); do
        # All but the last episode are finished.
        truncate -s "$size" "$work/run/trajectories.jsonl"
        begun=$(date +%s.%N)
        wikitrail /usr/bin/time -q -f %M -o "$work/logs/resume.time" "$binary" >/dev/null 2>"$work/logs/resume.log" ||        fail 1 "resuming failed" "see $work/logs/resume.log"
        python3 scripts/bench_figures.py resumed "$work/run/trajectories.jsonl" "$begun" "$work/logs/resume.time" "$work/rows.jsonl"
        printf 'resume: run %s of %s\n' "$round" "$repeat" >&2
    done
    resume=
}

# A run of the baseline policy, three steps an episode: FOLDER QUESTIONS [FLAG]...
baseline() {
    "$binary" run "$2" --wiki corpus:datasets/sample-wiki --max-steps 3 --out "$1" --quiet "${@:3}"
}

reading() {
    local runs=${BENCH_RUNS:-$work/readers} number=${n:-100000} round
    runs=$runs/$number
    mkdir -p "$runs"
    if [ ! -f "$runs/made" ]; then
        rm -rf "$runs/one" "$runs/two"
        python3 scripts/bench_figures.py questions "$number" "$runs/all.jsonl"
        head -n $(((number + 1) / 2)) "$runs/all.jsonl" >"$runs/half.jsonl"
        baseline "$runs/one" "$runs/all.jsonl" >/dev/null 2>&1 || fail 1 "the run to read failed" "see $runs/one"
        baseline "$runs/two" "$runs/half.jsonl" --method react,act >/dev/null 2>&1 || fail 1 "the run to read failed" "see $runs/two"
        touch "$runs/made"
    fi
    wc -c "$runs"/o*/*.jsonl "$runs"/t*/*.jsonl "$runs/all.jsonl" >&2
    reader() {
        python3 scripts/bench_figures.py reader "$1" "$work/rows.jsonl" "$binary" "${@:2}" 2>"$work/reader.log" ||        fail 1 "$1 failed" "see $work/reader.log"
    }
    for round in $(seq "$repeat"); do
        python3 scripts/bench_figures.py resumes "$runs/one" "$work/rows.jsonl" "$binary" run "$runs/all.jsonl" --resume \
            --wiki corpus:datasets/sample-wiki --max-steps 3 --out "$runs/one" --quiet 2>"$work/reader.log" ||        fail 1 "resuming failed" "see $work/reader.log"
        reader score score "$runs/one"
        reader "compare, two variants" compare "$runs/two"
        reader "compare, a variant with itself" compare "$runs/one@main" "$runs/one@main"
        reader "export, CSV" export "$runs/one"
        reader "show, one episode" show "$runs/one" "$(printf 'q%06d' $((number / 2)))"
        printf 'readers: round %s of %s\n' "$round" "$repeat" >&2
    done
}

# Other search engines, in an environment of their own, beside the program.
compare_corpus() {
    local datasets=$shared/data/datasets venv=$work/engines python=$work/engines/bin/python package engines=fts5
    if ! [ -f "$datasets/hotpot_dev_distractor_v1.partial.json" ]; then
        echo "corpus: no other engine is put beside it, as the questions are not at $datasets" >&2
        return
    fi
    [ -x "$python" ] || python3 -m venv "$venv"
    for package in bm25s==0.3.16 tantivy==0.27.0; do
        if "$venv/bin/pip" --quiet --disable-pip-version-check install "$package" >"$work/pip.log" 2>&1; then
            engines="$engines ${package%%=*}"
        else
            tail -n 3 "$work/pip.log" >&2
            echo "corpus: $package is not tried, as it cannot be installed here" >&2
        fi
    done
    # shellcheck disable=SC2086
    python3 scripts/bench_corpus.py beside "$binary" "$work/corpus" "$1" "$datasets" "$python" $engines
}

broken=429=0.05,500=0.02,reset=0.01,truncjson=0.01,truncbody=0.01,slow=0.01,502html=0.01
: >"$work/rows.jsonl"
for scenario in $scenarios; do
    case $scenario in
    fast) measure fast 2000 256 50 20 none 0 0 ;;
    scrape) measure scrape 2000 256 50 20 none 0 1 ;;
    slow) measure slow 500 64 500 20 none 0 0 ;;
    cached) measure cached 2000 256 50 20 none 100 1 ;;
    large) measure large 20000 256 50 20 none 0 0 ;;
    faults) measure faults 2000 256 50 20 "$broken" 0 0 ;;
    resume) resuming ;;
    readers) reading ;;
    corpus)
        python3 scripts/bench_corpus.py "$binary" "$work/corpus" "${n:-1000000}"
        compare_corpus "${n:-1000000}"
        ;;
    esac
done
[ ! -s "$work/rows.jsonl" ] || python3 scripts/bench_figures.py table "$work/rows.jsonl"
