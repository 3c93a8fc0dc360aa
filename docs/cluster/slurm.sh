#!/bin/bash
# A shard of a run for each task of a Slurm array. The arguments of this script are passed to `wikitrail run`:
#
#   sbatch --array=1-16 slurm.sh questions.jsonl --model openai:NAME --base-url http://HOST:8000/v1 --out /shared/results/first
#
# docs/cluster.md says what happens when a node dies, and what to set.
#SBATCH --job-name=wikitrail
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=08:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=wikitrail-%A_%a.log
#SBATCH --signal=B:USR1@300

"${WIKITRAIL:-wikitrail}" run "$@" --shard slurm --quiet &
shard=$!

# Five minutes before the time is up: finish what is in flight, and queue the task again.
time_is_up=
trap 'time_is_up=yes; kill -TERM "$shard"' USR1
# When the job is cancelled, or another job takes the node, Slurm sends TERM to the program too. A second one would make it
# drop what is in flight, so this script only waits.
trap : TERM

code=0
while kill -0 "$shard" 2>/dev/null; do
    wait "$shard"
    code=$?
done

if [ -n "$time_is_up" ] && [ "$code" -eq 130 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
