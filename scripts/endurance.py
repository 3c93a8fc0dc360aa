"""The runs of scripts/endurance.sh: kills, caps and hostile servers against a model and a wiki of its own on 127.0.0.1.

    endurance.py PROGRAM WORK [--short] [--seed N]

The model numbers its answers, so that each one that was paid for can be looked for in a run's folder.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

MIB = 1 << 20
# Requests to the model at once, and how long one takes, in seconds.
SLOTS, LATENCY = 16, 0.004
# Faults among a hundred answers of the model, and among two hundred of the wiki.
FAULTS = 6
# A start of the program that takes longer, in seconds, does not end at all.
HANGS = 600
# What the program takes at most, whatever it is sent, in MiB. The tree of a page of 15 MiB takes 300; each processor reads one,
# four at most.
MOST_MEMORY = 400 + 300 * min(os.cpu_count(), 4)

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def say(name, **figures):
    print(f"{name}: " + ", ".join(f"{key.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{key.replace('_', ' ')} {value}"
                                  for key, value in figures.items()), flush=True)


# The servers ---------------------------------------------------------------------------------------------------------

def page(title, body):
    return (f'<!DOCTYPE html><html><head><meta charset="UTF-8"><title>{title} - Wiki</title>'
            '<meta name="generator" content="MediaWiki 1.44"></head><body class="mediawiki">'
            f'<h1 id="firstHeading">{title}</h1><div id="mw-content-text"><div class="mw-parser-output">{body}</div></div></body></html>').encode()


def bomb(size):
    """`size` bytes of text, packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"a" * MIB
    return b"".join(packer.compress(block) for _ in range(size // MIB)) + packer.flush()


BOMB = bomb(256 * MIB)
# Mostly markup, as the texts of open pages are in memory as well.
LONG = (b'<p>' + b'<span class="some-class another-class" style="font-style: italic; color: black" title="Some title of it">x</span>' * 9 +
        b"</p>\n") * (15 * MIB // 1000)


def head(status, kind, *more):
    return "\r\n".join([f"HTTP/1.1 {status} X", f"content-type: {kind}", "connection: close", *more, "", ""]).encode()


def whole(status, kind, body, *more):
    return head(status, kind, f"content-length: {len(body)}", *more) + body


class Servers:
    """A model and a wiki on one port; `/v1/…` is the model's."""

    def __init__(self):
        self.reset(0)
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        started.wait()

    def reset(self, seed, faults=0, latency=0):
        """Forgets what was; nobody is connected."""
        self.random = random.Random(seed)
        self.faults, self.latency = faults, latency
        # What the model has been paid for: (question, step) by the number of its answer, and tokens.
        self.paid, self.tokens = [], []
        self.attempts = self.faulty = self.wiki_requests = 0
        # How many pages are large, and come at once.
        self.large = 0
        # Which of the two behaves as the questions name it.
        self.bad = ""

    async def serve(self, started):
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=1024)
        self.url = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    async def connection(self, reader, writer):
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
                length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
                body = await reader.readexactly(length)
                path = lines[0].split(" ")[1]
                answer = await (self.model(body, writer) if path.startswith("/v1/") else self.wiki(path, writer))
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in answer[:400]:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            pass
        finally:
            writer.close()

    async def model(self, body, writer):
        self.attempts += 1
        messages = json.loads(body)["messages"]
        text = "\n".join(message["content"] for message in messages)
        question = re.findall(r"Endurance ([a-z0-9_]+)", text)[-1]
        asked = max(at for at, message in enumerate(messages) if f"Endurance {question}" in message["content"])
        step = 1 + sum(message["role"] == "assistant" for message in messages[asked:])
        if self.bad == "model" and question in MODEL:
            return await self.hostile(MODEL[question][0], writer, self.completion(question, 3, None, step))
        if self.random.randrange(100) < self.faults:
            self.faulty += 1
            return await self.hostile(self.random.choice(PASSING), writer)
        number = len(self.paid)
        self.paid.append((question, step))
        self.tokens.append((100 + number % 97, 1 + number % 13))
        if self.latency:
            await asyncio.sleep(self.latency)
        return self.completion(question, step, number)

    def completion(self, question, stage, number, step=None):
        """An answer of the model: first it searches, then it looks up, then it says what it knows."""
        action = {1: f"Search[Page {question}]", 2: "Lookup[second]"}.get(stage, f"Finish[{answer(question)}]")
        used = dict(zip(["prompt_tokens", "completion_tokens"], (9, 4) if number is None else self.tokens[number]))
        said = f"Thought {step or stage}: This is reply no. {number} to it.\nAction {step or stage}: {action}"
        reply = {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}], "usage": used}
        body = json.dumps(reply).encode()
        return f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    async def wiki(self, path, writer):
        self.wiki_requests += 1
        name = re.search(r"(?:search=Page[+%20]*|/wiki/Page_)([a-z0-9_]+)", path)
        name = name.group(1) if name else ""
        if self.bad == "wiki" and name in WIKI:
            return await self.hostile(WIKI[name][0], writer)
        if self.random.randrange(200) < self.faults:
            return await self.hostile(self.random.choice(["status503", "reset", "cut"]), writer)
        text = f"<p>It is page {name}. A second sentence about {name} is here.</p>"
        if not self.large:
            return whole(200, "text/html; charset=UTF-8", page(f"Page {name}", text))
        # All of them at once, as fast as they are taken.
        while self.wiki_requests < self.large:
            await asyncio.sleep(0.01)
        first = page(f"Page {name}", text)
        writer.write(head(200, "text/html; charset=UTF-8", f"content-length: {len(first) + len(LONG)}") + first)
        for at in range(0, len(LONG), MIB):
            writer.write(LONG[at:at + MIB])
            await writer.drain()
        return None

    async def hostile(self, mode, writer, good=b""):
        """Behaves badly; returns what is left to send."""
        send, html, mode_json = writer.write, "text/html; charset=UTF-8", "application/json"

        async def drip(piece, pause, first=b""):
            send(first)
            while True:
                send(piece)
                await writer.drain()
                await asyncio.sleep(pause)

        if mode.startswith("status"):
            # Not longer than an attempt: what passes is tried again at once.
            return whole(int(mode[6:]), mode_json, b'{"error": {"message": "no", "type": "t"}}', "retry-after: 0")
        if mode == "reset":
            writer.transport.abort()
        elif mode == "cut":
            send(head(200, html, "content-length: 9000") + b"<p>cut")
        elif mode == "cut_json":
            return whole(200, mode_json, b'{"choices": [{"message": {"content": "Thought 1: t\\nAction 1: Fin')
        elif mode == "hang":
            await asyncio.sleep(20)
        elif mode == "drip":
            await drip(b" ", 0.2, head(200, html))
        elif mode == "endless_headers":
            await drip(b"x-more: " + b"a" * 4000 + b"\r\n", 0, b"HTTP/1.1 200 OK\r\n")
        elif mode == "slow_headers":
            await drip(b"x-more: a\r\n", 0.2, b"HTTP/1.1 200 OK\r\n")
        elif mode == "endless":
            await drip(b"a" * 65536, 0, head(200, html))
        elif mode == "announced":
            return head(200, html, f"content-length: {1 << 40}") + b"a" * 1000
        elif mode == "chunks":
            await drip(b"400\r\n" + b"b" * 1024 + b"\r\n", 0, head(200, html, "transfer-encoding: chunked"))
        elif mode == "bad_chunk":
            return head(200, html, "transfer-encoding: chunked") + b"ffffffffffffffff\r\nabc"
        elif mode == "bomb":
            return whole(200, html, BOMB, "content-encoding: gzip")
        elif mode == "not_gzip":
            return whole(200, html, b"not gzip at all", "content-encoding: gzip")
        elif mode == "half_gzip":
            return whole(200, html, gzip.compress(page("T", "<p>x</p>" * 99))[:-20], "content-encoding: gzip")
        elif mode == "circle":
            return whole(302, html, b"", "location: /w/index.php?search=Page+circle")
        elif mode == "to_file":
            return whole(302, html, b"", "location: file:///etc/passwd")
        elif mode == "to_elsewhere":
            return whole(302, html, b"", "location: " + self.url.replace("127.0.0.1", "127.0.0.2") + "/wiki/Page_x")
        elif mode == "to_circle":
            return whole(307, html, b"", "location: /v1/chat/completions")
        elif mode == "portal":
            return whole(200, html, b"<html><title>Hotel</title><p>Please log in to use the network.</p></html>")
        elif mode == "nothing":
            return whole(200, html, b"")
        elif mode == "pdf":
            return whole(200, "application/pdf", page("T", "<p>x</p>"))
        elif mode == "latin1":
            return whole(200, html, page("T", "<p>x</p>").replace(b"x", b"\xff\xfe"))
        elif mode == "partial":
            return whole(206, html, page("T", "<p>x</p>"))
        elif mode == "deep":
            return whole(200, html, page("T", "<div>" * 200_000 + "<p>x"))
        elif mode == "attributes":
            return whole(200, html, page("T", "<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">x</p>"))
        elif mode == "brackets":
            return whole(200, mode_json, b"[" * 2_000_000)
        elif mode == "nan":
            return whole(200, mode_json, b'{"choices": NaN}')
        elif mode == "no_choices":
            return whole(200, mode_json, b'{"choices": []}')
        elif mode == "filtered":
            return whole(200, mode_json, b'{"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}')
        elif mode == "junk":
            return b"\x16\x03\x01 no HTTP\r\n\r\nconnection: close"
        elif mode == "negative":
            return head(200, html, "content-length: -1") + b"abc"
        elif mode == "good_plain":
            return good.replace(b"application/json", b"text/plain")
        elif mode == "good_bytes":
            body = good.split(b"\r\n\r\n", 1)[1].replace(b"This is", b"\xff\xfe is")
            return whole(200, mode_json, body)
        else:
            raise ValueError(mode)
        return None


def answer(question):
    """What the model says: right for two questions of three."""
    return f"right {question}" if not question.isdigit() or int(question) % 3 else f"wrong {question}"


# Faults that pass, in runs that have to end well.
PASSING = ["status429", "status500", "status503", "reset", "cut", "cut_json", "portal", "slow_headers"]
BAD, FINE = {"not_measured"}, {"finished"}
# What a server does, and how an episode may end.
EVERYWHERE = ["reset", "cut", "hang", "drip", "endless_headers", "slow_headers", "endless", "announced", "chunks", "bad_chunk", "bomb",
              "not_gzip", "half_gzip", "to_file", "portal", "nothing", "junk", "negative", "status400", "status401", "status403",
              "status404", "status429", "status500", "status503"]
MODEL = {mode: (mode, BAD) for mode in
         [*EVERYWHERE, "cut_json", "to_circle", "brackets", "nan", "no_choices"]}
MODEL |= {"filtered": ("filtered", {"not_measured", "format_failure"}), "good_plain": ("good_plain", FINE),
          "good_bytes": ("good_bytes", FINE)}
WIKI = {mode: (mode, BAD) for mode in
        [*EVERYWHERE, "circle", "to_elsewhere", "pdf", "latin1", "partial", "deep", "attributes"]}


# Runs ----------------------------------------------------------------------------------------------------------------

class Run:
    """A run of the program over questions of its own."""

    def __init__(self, program, folder, servers, names, flags=(), slots=SLOTS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "tmp").mkdir()
        self.program, self.folder, self.servers, self.names = program, folder, servers, names
        rows = "".join(f"{name},Endurance {name}?,right {name}\n" for name in names)
        (folder / "d.csv").write_text("id,question,answer\n" + rows)
        self.out = folder / "run"
        self.flags = ["run", "d.csv", "--protocol", "robust", "--model", "openai:m", "--base-url", servers.url + "/v1", "--wiki", "html",
                      "--wiki-url", servers.url, "--concurrency", str(slots), "--model-timeout", "2", "--give-up-after",
                      "off", "--out", "run", "--quiet", "--json", *(flags or ["--wiki-timeout", "5"])]
        self.peak, self.begun = 0, 0
        self.log = ""

    def start(self, limits=None, **environment):
        resume = ["--resume"] if (self.out / "manifest.json").exists() else []
        self.errors = open(self.folder / "stderr", "w+b")
        env = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "RUST_BACKTRACE": "1", **environment}
        env.pop("OPENAI_API_KEY", None)
        return subprocess.Popen([self.program, *self.flags, *resume], cwd=self.folder, env=env, stdout=open(self.folder / "stdout", "wb"),
                                stderr=self.errors, preexec_fn=limits, restore_signals=False)

    def wait(self, process):
        """The exit code; what was printed is kept."""
        hangs = threading.Timer(HANGS, process.kill)
        hangs.start()
        _, status, used = os.wait4(process.pid, 0)
        check(hangs.is_alive(), f"{self.folder.name} ends within {HANGS} seconds")
        hangs.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.peak = max(self.peak, used.ru_maxrss // 1024)
        self.errors.close()
        self.log = (self.folder / "stderr").read_text(errors="replace")
        check("panicked" not in self.log, f"no panic in {self.folder.name}: {self.log[-600:]}")
        return process.returncode

    def finish(self, times=8):
        """Resumes until every episode is measured."""
        for _ in range(times):
            code = self.wait(self.start())
            if code == 0:
                return
        check(False, f"{self.folder.name} ends when nothing disturbs it: code {code}: {self.log[-600:]}")

    def recorded(self):
        """The numbers of the answers that the folder holds."""
        texts = [path.read_bytes() for path in [self.out / "journal.jsonl", self.out / "trajectories.jsonl"] if path.exists()]
        return {int(number) for text in texts for number in re.findall(rb"This is reply no. (\d+) to it", text)}

    def episodes(self):
        with open(self.out / "trajectories.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def score(self):
        scored = subprocess.run([self.program, "score", "run", "--json"], cwd=self.folder, capture_output=True, check=True)
        return json.loads(scored.stdout)

    def check_whole(self):
        """Every episode is there once, with the model's answer, and the score is what the answers are worth."""
        episodes = self.episodes()
        ids = [episode["id"] for episode in episodes]
        lost, doubled = len(set(self.names) - set(ids)), len(ids) - len(set(ids))
        check(lost == 0 and doubled == 0, f"{self.folder.name}: {lost} episodes lost, {doubled} doubled")
        strange = [e["id"] for e in episodes if e["outcome"] != "finished" or e["answer"] != answer(e["id"])]
        check(not strange, f"{self.folder.name}: episodes with another end than the model's: {strange[:5]}")
        score = self.score()
        right = sum(answer(name).startswith("right") for name in self.names)
        em = score["variants"][0]["em"]
        check(abs(em * len(self.names) - right) < 1e-6, f"{self.folder.name}: EM {em} is not {right} of {len(self.names)}")
        return score, lost, doubled


def kills(program, work, servers, short, seed):
    episodes, rounds = (300, 12) if short else (2000, 50)
    chance = random.Random(seed)
    servers.reset(seed, FAULTS, LATENCY)
    run = Run(program, work / "kills", servers, [str(n) for n in range(episodes)])
    known, missing, done = set(), set(), 0
    # Three answers an episode, and a few to be sure that the last kill falls into the run.
    step = 3 * episodes * 2 // (rounds + 3)
    by_kind = {}
    while done < rounds:
        before, process = len(servers.paid), run.start()
        wanted = before + chance.randrange(1, max(2, min(step, (3 * episodes - before) // (rounds - done + 1) * 2)))
        while len(servers.paid) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.01)
        if process.poll() is not None:
            break
        kind = chance.choice([signal.SIGKILL] * 5 + [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, "twice"])
        process.send_signal(signal.SIGINT if kind == "twice" else kind)
        if kind == "twice":
            time.sleep(0.02)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        run.wait(process)
        done += 1
        # What was on its way is paid for as well.
        time.sleep(2 * servers.latency)
        recorded = run.recorded()
        check(known <= recorded, f"answers that were recorded are gone after kill {done}: {sorted(known - recorded)[:5]}")
        known = recorded
        lost = set(range(len(servers.paid))) - recorded - missing
        missing |= lost
        name = kind if kind == "twice" else kind.name
        by_kind[name] = by_kind.get(name, 0) + 1
        if kind in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            check(not lost, f"{kind.name} finishes what is in flight: {len(lost)} answers lost")
        questions = [servers.paid[number][0] for number in lost]
        check(len(questions) == len(set(questions)), f"more than one request of an episode was lost at kill {done}")
        check(len(lost) <= 2 * SLOTS, f"kill {done}: {len(lost)} answers lost, {2 * SLOTS} episodes in flight at most")
    check(done == rounds, f"{done} of {rounds} kills fell into the run")
    run.finish()
    score, lost, doubled = run.check_whole()
    twice = len(servers.paid) - len(set(servers.paid))
    # Answers that came too late for their attempt are paid for as well, and are asked again.
    check(twice <= len(missing), f"{twice} requests paid twice, {len(missing)} were in flight at the kills")
    spent, recorded = score["spending"], run.recorded()
    check(len(recorded) == len(servers.paid) - len(missing), "every answer that was not in flight at a kill is in the record")
    check(spent["total"]["calls"] == len(recorded), f"spent calls {spent['total']['calls']}, recorded {len(recorded)}")
    tokens = [sum(servers.tokens[number][part] for number in recorded) for part in (0, 1)]
    usage = spent["total"]["usage"]
    check([usage["prompt_tokens"], usage["completion_tokens"]] == tokens, f"spent tokens {usage}, the model's count {tokens}")
    parts = sum(spent[part]["calls"] for part in ("measured", "unfinished", "discarded"))
    check(parts == spent["total"]["calls"], f"the parts of {spent} do not add up")
    say("kills", kills=done, episodes=episodes, lost=lost, doubled=doubled, requests=servers.attempts, faults=servers.faulty,
        paid=len(servers.paid), paid_twice=f"{twice} (in flight at kills: {len(missing)})")
    say("  of them", **by_kind)


def capped(program, work, servers, short, seed):
    """Address space that is not enough: whatever gives up, what was recorded stays."""
    servers.reset(seed, latency=LATENCY)
    run = Run(program, work / "memory", servers, [str(n) for n in range(60 if short else 300)])
    codes, missing, known = {}, set(), set()
    for mib in range(64, 112, 8) if short else range(48, 160, 4):
        def limits(most=mib * MIB):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        code = run.wait(run.start(limits))
        # Memory that is not there ends a program; where it can still speak, it says what to do.
        check(code in (0, -signal.SIGABRT, -signal.SIGSEGV, 127) or "hint: " in run.log, f"{mib} MiB: code {code}: {run.log[-600:]}")
        codes[code] = codes.get(code, 0) + 1
        recorded = run.recorded()
        check(known <= recorded, f"recorded answers are gone after {mib} MiB")
        missing |= set(range(len(servers.paid))) - recorded
        known = recorded
    run.finish()
    run.check_whole()
    twice = len(servers.paid) - len(set(servers.paid))
    check(twice <= len(missing), f"{twice} requests paid twice, {len(missing)} were in flight")
    say("ulimit -v", starts=sum(codes.values()), **{f"code_{code}": count for code, count in sorted(codes.items())}, paid_twice=f"{twice} (in flight: {len(missing)})")


def finish_rescued(name, run, servers, code, rescued):
    """Ends a run whose lines were rescued, and reports whether an answer was lost or paid for twice."""
    missing = len(servers.paid) - len(run.recorded())
    check(missing == 0, f"{missing} answers are on no disk")
    run.finish()
    run.check_whole()
    twice = len(servers.paid) - len(set(servers.paid))
    check(twice <= missing, f"{twice} requests paid twice, {missing} were in flight")
    say(name, code=code, kept_elsewhere="yes" if rescued else "no", answers_lost=missing, paid_twice=twice)


def full(program, work, servers, short, seed):
    """Files that may not grow, and a file system without room."""
    servers.reset(seed, latency=LATENCY)
    run = Run(program, work / "full", servers, [str(n) for n in range(60 if short else 300)], slots=4)

    def limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (48 << 10, 48 << 10))

    code = run.wait(run.start(limits))
    check(code == 1, f"a full disk is an error: code {code}")
    check("hint: " in run.log, f"a full disk has a hint: {run.log[-600:]}")
    rescued = re.search(r"run `(cat [^`]+)`", run.log)
    if rescued:
        subprocess.run(["sh", "-c", rescued.group(1)], cwd=run.folder, check=True)
    finish_rescued("ulimit -f", run, servers, code, rescued)


def small_disk(program, work, servers, short, seed):
    """The same on a small file system, where one may be mounted."""
    servers.reset(seed, latency=LATENCY)
    run = Run(program, work / "disk", servers, [str(n) for n in range(60 if short else 300)])
    run.out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(run.out)], capture_output=True)
    if mounted.returncode != 0:
        print("full disk: left out, as nothing can be mounted here (ulimit -f is in its place)", flush=True)
        return
    try:
        code = run.wait(run.start())
        check(code == 1 and "hint: " in run.log, f"a full disk is an error with a hint: code {code}: {run.log[-600:]}")
        rescued = re.search(r"run `(cat [^`]+)`", run.log)
        subprocess.run(["mount", "-o", "remount,size=64m", str(run.out)], check=True)
        if rescued:
            subprocess.run(["sh", "-c", rescued.group(1)], cwd=run.folder, check=True)
        finish_rescued("full disk", run, servers, code, rescued)
    finally:
        subprocess.run(["umount", str(run.out)], check=False)


def hostile(program, work, servers, seed):
    """Each question names what the model, or the wiki, does to it."""
    for name, modes in [("model", MODEL), ("wiki", WIKI)]:
        servers.reset(seed)
        servers.bad = name
        run = Run(program, work / name, servers, list(modes), ["--model-attempts", "2", "--wiki-timeout", "5"])
        code = run.wait(run.start())
        episodes = {episode["id"]: episode for episode in run.episodes()}
        causes = {}
        for mode, (_, allowed) in modes.items():
            episode = episodes.get(mode)
            check(episode is not None, f"{name} {mode}: no record")
            if episode is None:
                continue
            outcome, failure = episode["outcome"], episode.get("failure") or {}
            check(outcome in allowed, f"{name} {mode}: {outcome} ({episode.get('detail')}, answer {episode.get('answer')})")
            if outcome == "not_measured":
                check(failure.get("service") in ("model", "wikipedia") and failure.get("cause") and episode.get("detail"),
                      f"{name} {mode}: no cause: {failure}")
                causes[failure.get("cause", "?")] = causes.get(failure.get("cause", "?"), 0) + 1
        check(code == 4, f"hostile {name}: code {code}")
        check(run.peak <= MOST_MEMORY, f"hostile {name}: {run.peak} MiB")
        ends = [episode["outcome"] for episode in episodes.values()]
        say(f"hostile {name}", modes=len(modes), not_measured=ends.count("not_measured"), finished=ends.count("finished"),
            other=len(ends) - ends.count("not_measured") - ends.count("finished"), peak_MiB=run.peak)
        print("  causes: " + ", ".join(f"{cause} {count}" for cause, count in sorted(causes.items())), flush=True)


def large_pages(program, work, servers, short, seed):
    servers.reset(seed)
    count = servers.large = 16 if short else 64
    run = Run(program, work / "large", servers, [str(n) for n in range(count)],
              ["--wiki-concurrency", "64", "--wiki-timeout", "60"], slots=64)
    run.finish(1)
    run.check_whole()
    check(run.peak <= MOST_MEMORY, f"{count} pages of 15 MB: {run.peak} MiB")
    say("large pages", pages=count, of_MiB=15, peak_MiB=run.peak)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=233)
    parser.add_argument("--only")
    args = parser.parse_args()
    servers = Servers()
    parts = {
        "kills": lambda: kills(args.program, args.work, servers, args.short, args.seed),
        "memory": lambda: capped(args.program, args.work, servers, args.short, args.seed),
        "file": lambda: full(args.program, args.work, servers, args.short, args.seed),
        "disk": lambda: small_disk(args.program, args.work, servers, args.short, args.seed),
        "hostile": lambda: hostile(args.program, args.work, servers, args.seed),
        "large": lambda: large_pages(args.program, args.work, servers, args.short, args.seed),
    }
    if args.only not in (None, *parts):
        parser.error(f"--only takes one of {', '.join(parts)}")
    for name, part in parts.items():
        if args.only in (None, name):
            part()
    if failures:
        print(f"\n{len(failures)} failures, the first: {failures[0]}")
        sys.exit(1)


if __name__ == "__main__":
    main()
