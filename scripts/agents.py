"""One agent of scripts/agents.sh: a run, its scores, a comparison, a replay, and a run that is killed and resumed.

    agents.py PROGRAM WORK API COMMAND NAME TABLE

Appends a line to the file TABLE: the agent's name, EM, calls, tokens and seconds.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

DATASET = "datasets/sample.jsonl"
QUESTIONS = 20
KEY = "sk-scripted-0123456789"
# Enough for the run to be killed in its middle.
DELAY = "0.1"
FINISHED_BEFORE_KILL = 5

failures = []


def check(holds, what, details=""):
    print(f"  {'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        failures.append(what)
        print(str(details)[-3000:], flush=True)


def wikitrail(*arguments):
    return subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True)


def said(process):
    return f"exit code {process.returncode}\n{process.stdout}{process.stderr}"


def episodes(folder):
    """The finished episodes of a run. The last line of a killed one may be cut."""
    lines = [line for path in folder.glob("trajectories*.jsonl") for line in path.read_text(encoding="utf-8").splitlines(keepends=True)]
    return [json.loads(line) for line in lines if line.endswith("\n")]


def answers(folder):
    return {episode["id"]: (episode["answer"], episode["outcome"]) for episode in episodes(folder)}


def requests():
    with urllib.request.urlopen(f"{server}/count") as reply:
        return json.load(reply)["requests"]


def run_and_score():
    began, before = time.monotonic(), requests()
    process = wikitrail(*run, "--record", tape, "--out", first)
    seconds, asked = time.monotonic() - began, requests() - before
    check(process.returncode == 0, f"run over {QUESTIONS} questions", said(process))
    done = episodes(first)
    unanswered = [episode for episode in done if episode["outcome"] != "finished" or not episode["answer"]]
    check(len(done) == QUESTIONS and not unanswered, "every episode is finished and has an answer", unanswered or said(process))
    calls = sum(len(step["calls"]) for episode in done for step in episode["steps"])
    check(calls == asked > 0, f"{asked} requests to the server, {calls} recorded calls")
    tokens = sum(episode["usage"]["prompt_tokens"] + episode["usage"]["completion_tokens"] for episode in done)
    check(tokens > 0, f"{tokens} tokens")
    process = wikitrail("score", first, "--json")
    check(process.returncode == 0, "score", said(process))
    em = json.loads(process.stdout)["variants"][0]["em"] if process.returncode == 0 else None
    with table.open("a", encoding="utf-8") as file:
        file.write(f"{name}\t{'-' if em is None else format(100 * em, '.1f')}\t{calls}\t{tokens}\t{seconds:.1f}\n")


def compare_and_show():
    process = wikitrail("run", DATASET, "--limit", QUESTIONS, "--quiet", "--out", ours)
    check(process.returncode == 0, "run of our own react", said(process))
    process = wikitrail("compare", first, ours, "--metric", "em", "--json")
    pairs = json.loads(process.stdout)["metrics"][0]["pairs"] if process.returncode == 0 else []
    check([pair["n"] for pair in pairs] == [QUESTIONS], "compare: " + "".join(pair["verdict"]["sentence"] for pair in pairs), said(process))
    shown = sorted(answers(first))[2]
    process = wikitrail("show", first, shown)
    check(process.returncode == 0 and str(answers(first)[shown][0]) in process.stdout, f"show of {shown} has its answer", said(process))


def replay():
    before = requests()
    process = wikitrail(*run, "--replay", tape, "--out", replayed)
    check(process.returncode == 0, "run from the recording", said(process))
    differing = {key: (value, answers(replayed).get(key)) for key, value in answers(first).items() if answers(replayed).get(key) != value}
    check(not differing, "the replay has the same answers", differing)
    check(requests() == before, "the replay asks the server nothing", f"{requests() - before} requests")


def kill_and_resume():
    process = subprocess.Popen([program, *map(str, run), "--out", str(killed)], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while process.poll() is None and len(episodes(killed)) < FINISHED_BEFORE_KILL:
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = len(episodes(killed))
    check(FINISHED_BEFORE_KILL <= kept < QUESTIONS, f"killed after {kept} episodes")
    process = wikitrail(*run, "--out", killed, "--resume")
    check(process.returncode == 0, "resume", said(process))
    ids = sorted(episode["id"] for episode in episodes(killed))
    check(ids == sorted(answers(first)), f"{len(ids)} episodes, each question once", ids)
    check(answers(killed) == answers(first), "the resumed run has the same answers", (answers(killed), answers(first)))


program, work, api, command, name, table = sys.argv[1:]
work, table = Path(work), Path(table)
first, ours, replayed, killed, tape = (work / part for part in ("first", "react", "replayed", "killed", "first.tape"))
process = subprocess.Popen([sys.executable, "scripts/agents/scripted_model.py", "--key", KEY, "--delay", DELAY], stdout=subprocess.PIPE,
                           text=True)
try:
    server = process.stdout.readline().strip()
    variables = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
    environment = {**os.environ, variables[api]: KEY, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    run = ["run", DATASET, "--limit", QUESTIONS, "--agent", command.strip(), "--model", f"{api}:scripted",
           "--base-url", f"{server}/v1" if api == "openai" else server, "--concurrency", 4, "--quiet"]
    run_and_score()
    if episodes(first):
        compare_and_show()
        replay()
        kill_and_resume()
finally:
    process.terminate()
    process.wait()
sys.exit(1 if failures else 0)
