#!/usr/bin/env bash
# Tries the examples of docs/cluster on this machine. The array runs under a real Slurm of one node, which this script starts on
# the loopback and ends again; the Kubernetes job is held against its schema.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/cluster.sh [slurm|kubernetes]...

Tries both parts unless some are named. A part whose programs are not installed is left out, with a line that says so:
  slurm       Debian's packages slurm-wlm and munge; started on free ports of 127.0.0.1, and ended
  kubernetes  the package kubernetes-validate of PyPI, which holds the schemas

Environment:
  WIKITRAIL   the program [default: target/debug/wikitrail, built if needed]
  REPEATS     how often each sample question is asked, for longer shards [default: 20]
TEXT
}

parts=()
for part in "$@"; do
    case $part in
    slurm | kubernetes) parts+=("$part") ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/cluster.sh --help\n' "$part" >&2
        exit 2
        ;;
    esac
done
[ "${#parts[@]}" -gt 0 ] || parts=(kubernetes slurm)

base=$(mktemp -d)
started=()
finish() {
    local code=$? pid
    # Newest first: what it started is ended by its own process id.
    for ((at = ${#started[@]} - 1; at >= 0; at--)); do
        pid=${started[at]}
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    if [ "$code" -eq 0 ]; then
        rm -rf "$base"
    else
        printf 'what was written is in %s\n' "$base" >&2
    fi
    exit "$code"
}
trap finish EXIT

fail() {
    printf 'error: %s\n' "$1" >&2
    [ ! -d "$base/log" ] || tail -n 20 "$base"/log/*.log "$base"/jobs/*.log >&2 2>/dev/null || true
    exit 1
}

# Waits until a command succeeds.
await() {
    local what=$1
    shift
    for ((n = 0; n < 600; n++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    fail "waited two minutes for $what"
}

kubernetes() {
    local file=docs/cluster/kubernetes.yaml
    if ! command -v kubernetes-validate >/dev/null; then
        echo "kubernetes: not tried, as kubernetes-validate is not installed (pip install kubernetes-validate)"
        return
    fi
    kubernetes-validate --strict "$file"
    echo "kubernetes: $file is what its schema asks for"
}

free_ports() {
    python3 -c '
import socket
all = [socket.socket() for _ in range(2)]
for one in all: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in all))'
}

# A controller and a node on the loopback, with a munge key of their own.
start_slurm() {
    local host ports user
    host=$(hostname -s)
    user=$(id -un)
    read -ra ports < <(free_ports)
    mkdir -p "$base"/{munge,state,spool,log,jobs}
    chmod 700 "$base/munge" && chmod 755 "$base"
    head -c 1024 /dev/urandom >"$base/munge/key"
    chmod 600 "$base/munge/key"
    munged --foreground --force --key-file="$base/munge/key" --socket="$base/munge/socket" --pid-file="$base/munge/pid" \
        --log-file="$base/log/munged.log" --seed-file="$base/munge/seed" >"$base/log/munged.out" 2>&1 &
    started+=($!)
    await munged test -S "$base/munge/socket"
    cat >"$base/slurm.conf" <<CONF
ClusterName=trial
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$base/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$base/state
SlurmdSpoolDir=$base/spool
SlurmctldPidFile=$base/slurmctld.pid
SlurmdPidFile=$base/slurmd.pid
SlurmctldLogFile=$base/log/slurmctld.log
SlurmdLogFile=$base/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MailProg=/bin/true
KillWait=60
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$base/slurm.conf
    slurmctld -D -i >"$base/log/slurmctld.out" 2>&1 &
    started+=($!)
    slurmd -D >"$base/log/slurmd.out" 2>&1 &
    started+=($!)
    await "the node" sh -c 'sinfo --noheader --format=%T | grep -qE "^(idle|mixed)"'
}

# Whether so many lines are recorded of shard 2.
recorded() {
    [ "$(cat "$base/jobs/split/trajectories.2-of-4.jsonl" 2>/dev/null | wc -l)" -ge "$1" ]
}

state_of() {
    scontrol --oneliner show job "$1" | grep -oE 'JobState=[A-Z]+' | sort -u | tr '\n' ' '
}

ended() {
    ! state_of "$1" | grep -qE 'PENDING|RUNNING|COMPLETING|CONFIGURING'
}

episodes() {
    python3 - "$1" <<'PYTHON'
import glob, json, sys

def timeless(record):
    for name in ("started_at", "wall_ms"):
        del record[name]
    for step in record["steps"]:
        for name in ("tool_started_at", "tool_ms"):
            step.pop(name, None)
        for call in step["calls"]:
            del call["latency_ms"]
            call.pop("started_at", None)
        if step.get("provenance"):
            step["provenance"].pop("fetched_at", None)
    return json.dumps(record, sort_keys=True)

lines = [timeless(json.loads(line)) for path in glob.glob(sys.argv[1] + "/trajectories*.jsonl") for line in open(path)]
assert len(lines) == len(set(lines)), "an episode is recorded twice"
print("\n".join(sorted(lines)))
PYTHON
}

# The figures of a run, without times and the folder's name.
figures() {
    "$wikitrail" score "$1" --json | python3 -c '
import json, sys
score = json.load(sys.stdin)
for name in ("run", "wall_ms"): del score[name]
for variant in score["variants"]: del variant["episode_ms"]
print(json.dumps(score, sort_keys=True))'
}

slurm() {
    local program missing=
    for program in slurmctld slurmd sbatch munged python3; do
        command -v "$program" >/dev/null || missing="$missing $program"
    done
    if [ -n "$missing" ]; then
        echo "slurm: not tried, as these are not installed:$missing (packages slurm-wlm and munge)"
        return
    fi
    wikitrail=${WIKITRAIL-}
    if [ -z "$wikitrail" ]; then
        cargo build --locked --quiet
        wikitrail=$PWD/target/debug/wikitrail
    fi
    local script=$PWD/docs/cluster/slurm.sh repeats=${REPEATS:-20} job pid
    local args=(datasets/sample.jsonl --repeats "$repeats" --out)
    start_slurm
    cd "$base/jobs"

    export WIKITRAIL=$wikitrail
    job=$(sbatch --parsable --array=0-3 --mem=200 --cpus-per-task=1 --time=10 "$script" "${args[@]}" split)
    await "the second shard" recorded 20
    pid=$(sed -n 's/^process \([0-9]*\) on .*/\1/p' split/.lock.2-of-4)
    kill -9 "$pid"
    # As if the time of the third were up: it ends what it began, and is queued again.
    await "the third shard" test -s split/trajectories.3-of-4.jsonl
    scancel --batch --signal=USR1 "${job}_2"
    await "the end of the array" ended "$job"
    grep -q "stopping: finishing" "wikitrail-${job}_2.log" || fail "the third task was not told that its time is up"
    state_of "${job}_1" | grep -q FAILED || fail "a killed task has not failed: $(state_of "${job}_1")"
    "$wikitrail" score split --json >score.json
    python3 -c 'import json; score = json.load(open("score.json")); assert score["missing"] > 0, score["missing"]'
    scontrol requeue "${job}_1"
    await "the task that was queued again" ended "$job"
    [ "$(state_of "$job")" = "JobState=COMPLETED " ] || fail "not all tasks were completed: $(state_of "$job")"

    "$wikitrail" run "${args[@]}" whole --quiet >/dev/null 2>&1
    "$wikitrail" merge split --out merged
    episodes whole >whole.txt
    for run in split merged; do
        episodes "$run" | cmp - whole.txt || fail "$run has other episodes than the run that was never split"
        [ "$(figures "$run")" = "$(figures whole)" ] || fail "$run has other figures than the run that was never split"
    done
    printf 'slurm: %s episodes in 4 shards, one killed and one stopped, both queued again: each once, with the figures of one run\n' \
        "$(wc -l <whole.txt)"

    # A job that is cancelled ends what it began, too.
    job=$(sbatch --parsable --array=0-3 --mem=200 --cpus-per-task=1 --time=10 "$script" "${args[@]}" cancelled)
    await "the second shard" test -s cancelled/trajectories.2-of-4.jsonl
    scancel "$job"
    await "the end of the cancelled job" ended "$job"
    await "the second shard's end" test ! -s cancelled/.lock.2-of-4
    grep -q "stopping: finishing" "wikitrail-${job}_1.log" || fail "the cancelled program was killed at once"
    echo "slurm: a job that was cancelled finished what was in flight"
    cd - >/dev/null
}

for part in "${parts[@]}"; do
    "$part"
done
