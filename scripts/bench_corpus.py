"""Measures a corpus of made-up leads against its targets: build, size, start, searches, an episode, the server.

    bench_corpus.py BINARY WORK ARTICLES
    bench_corpus.py beside BINARY WORK ARTICLES DATASETS PYTHON ENGINE...

The leads and the corpus stay in WORK. Times are processor time, user and system, which other programs disturb least.

`beside` puts other search engines (`bench_engines.py`, run by PYTHON) beside the program: all contexts of DATASETS and up to
100,000 of the leads, and those questions on which no rule of ours was chosen. Titles come from the program through HTTP, and from
the others within their own process.
"""

import concurrent.futures
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SCRIPTS = pathlib.Path(__file__).parent
SEED = 1
# Questions, pages and searches of each kind that are asked for.
NAMES = 20_000
QUESTIONS = 1_000
EPISODES = 2_000
CONNECTIONS = 8
# Made-up leads beside the contexts, and how many titles of an answer count.
LEADS_BESIDE = 100_000
SHOWN = (1, 5, 20)
# What the words of a question are taken from, besides its names.
SMALL = "which of the and was also in by that who is from with at".split()
CLOCK = os.sysconf("SC_CLK_TCK")
TARGETS = []


def target(what, figure, unit, limit, least=False):
    """A row of the table; `least` where more is better."""
    kept = figure >= limit if least else figure <= limit
    TARGETS.append((what, f"{figure:,.4g} {unit}", f"{'≥' if least else '≤'} {limit:,}", "" if kept else "missed"))


def spent(command, stdin=None):
    """Runs a command: processor seconds, peak of memory in MB, what it printed."""
    with tempfile.TemporaryFile() as out:
        before = time.monotonic()
        process = subprocess.Popen([str(part) for part in command], stdin=stdin, stdout=out, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"error: `{' '.join(map(str, command))}` failed:\n{errors.decode()[-2000:]}")
        out.seek(0)
        elapsed = time.monotonic() - before
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read().decode(), elapsed


def least(command, times=5, **more):
    """The least processor time of some runs."""
    return min(spent(command, **more)[0] for _ in range(times))


def build(binary, leads, corpus):
    count = 0 if corpus.exists() else int(subprocess.check_output(["wc", "-l", leads]).split()[0])
    if count:
        cpu, memory, _, elapsed = spent([binary, "corpus", "build", corpus, "--from", leads, "--extent", "lead", "--quiet"])
        target("build, leads for each CPU second", count / cpu, "", 8_000, least=True)
        target("build, peak of memory", memory, "MB", 1_024)
        print(f"built in {elapsed:.0f} s, {cpu:.0f} CPU seconds", file=sys.stderr)
    manifest = json.loads(spent([binary, "corpus", "info", corpus, "--json"])[2])
    text, sizes = manifest["text_bytes"], {name: file["bytes"] for name, file in manifest["files"].items()}
    part = lambda start: sum(size for name, size in sizes.items() if name.startswith(start))
    target("pages, part of the text", part("pages.") / text, "", 0.40)
    target("titles, bytes each", sizes["names.fst"] / manifest["articles"], "B", 22)
    if manifest["redirects"]:
        target("redirects, bytes each", sizes["redirects.fst"] / manifest["redirects"], "B", 22)
    target("index, part of the text", part("bm25/") / text, "", 0.27)
    cpu = least([binary, "corpus", "verify", corpus], times=3)
    target("verify, GB for each CPU second", sum(sizes.values()) / cpu / 1e9, "GB", 1.0, least=True)


def sample(leads, count):
    """Titles and texts of articles here and there in the file."""
    rng, size, found = random.Random(SEED), leads.stat().st_size, {}
    with open(leads, "rb") as file:
        while len(found) < count:
            file.seek(rng.randrange(size))
            file.readline()
            record = json.loads(file.readline() or b'{"title": ""}')
            if record["title"]:
                found[record["title"]] = record["blocks"][0]
    return list(found.items())


def question(rng, text):
    """18 words, half of them frequent ones."""
    words = [word for word in text.split() if word.isalpha()]
    return " ".join(rng.choice(words) if at % 2 else rng.choice(SMALL) for at in range(18))


def actions(binary, corpus, lines):
    """Processor seconds of a session of these actions, without its start."""
    def session(lines):
        with tempfile.TemporaryFile() as file:
            file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            def run():
                file.seek(0)
                return spent([binary, "wiki", "session", "--json", "--wiki", f"corpus:{corpus}"], stdin=file)
            return min(run()[0] for _ in range(2))
    return session(lines) - session(lines[:1])


def searches(binary, corpus, articles):
    rng = random.Random(SEED)
    exact = f"search[{articles[0][0]}]"
    start = least([binary, "wiki", "search", articles[0][0], "--wiki", f"corpus:{corpus}"]) - least([binary, "--version"])
    target("start and one search, CPU", 1e3 * start, "ms", 20)
    names = [f"search[{title}]" for title, _ in articles]
    target("search by exact title with its page", 1e6 * actions(binary, corpus, [exact, *names]) / len(names), "µs", 40)
    asked = [f"search[{question(rng, text)}]" for _, text in articles[:QUESTIONS]]
    target("search by 18 words", 1e3 * actions(binary, corpus, [exact, *asked]) / len(asked), "ms", 3)


class Model(http.server.BaseHTTPRequestHandler):
    """Two searches by title, a lookup and an answer, by the number of observations in the prompt."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        prompt = json.loads(body)["prompt"].rsplit("Question:", 1)[1]
        first, second = prompt.splitlines()[0].strip().split(" | ")
        number = prompt.count("\nObservation ") + 1
        action = [f"Search[{first}]", f"Search[{second}]", "Lookup[the]", "Finish[it]"][number - 1]
        text = f" I go on.\nAction {number}: {action}\n"
        answer = {"choices": [{"text": text, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}
        answer = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def episodes(binary, corpus, articles, work):
    """What an episode costs without the model's transport: its answers come from a cache that an earlier run filled."""
    titles = [title for title, _ in articles if "|" not in title]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(dir=work) as folder:
        folder = pathlib.Path(folder)

        def run(count, name):
            questions = folder / f"{name}.jsonl"
            with open(questions, "w", encoding="utf-8") as file:
                for at in range(count):
                    asked = f"{titles[2 * at]} | {titles[2 * at + 1]}"
                    file.write(json.dumps({"id": str(at), "question": asked, "answer": "it"}) + "\n")
            cpu = []
            for turn in range(3):
                out = folder / f"{name}-{turn}"
                command = [binary, "run", questions, "--model", "openai:mock", "--completions", "--protocol", "react-paper"]
                command += ["--base-url", f"http://127.0.0.1:{server.server_port}/v1", "--cache", folder / "cache"]
                command += ["--wiki", f"corpus:{corpus}", "--out", out, "--quiet", "--json"]
                used, _, printed, _ = spent(command)
                variant = json.loads(printed)["variants"][0]
                if variant["em"] != 1:
                    sys.exit(f"error: an episode did not go as planned: {variant}")
                cpu.append(used)
            return min(cpu[1:])

        few = EPISODES // 10
        each = (run(EPISODES, "all") - run(few, "few")) / (EPISODES - few)
    server.shutdown()
    target("episode: two exact titles and a lookup", 1e3 * each, "ms", 0.6)


class Served:
    def __init__(self, binary, corpus):
        command = [binary, "serve", f"corpus:{corpus}", "--bind", "127.0.0.1:0", "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])

    def anonymous(self):
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Anonymous:\s+(\d+) kB", rollup, re.M)[1]) / 1024

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK

    def end(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, requests):
        """Sends requests over some connections, one after the other on each; gives processor seconds of the server."""
        before, failures = self.cpu(), []

        def client(part):
            with socket.create_connection(("127.0.0.1", self.port)) as stream:
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for request in part:
                    stream.sendall(request)
                    answer = b""
                    while b"\r\n\r\n" not in answer:
                        answer += stream.recv(1 << 16)
                    head, _, body = answer.partition(b"\r\n\r\n")
                    missing = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(body)
                    while missing > 0:
                        missing -= len(stream.recv(1 << 16))
                    if not head.startswith(b"HTTP/1.1 200"):
                        failures.append(head.splitlines()[0].decode())

        threads = [threading.Thread(target=client, args=(requests[at::CONNECTIONS],)) for at in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            sys.exit(f"error: {len(failures)} requests failed, such as with `{failures[0]}`")
        return self.cpu() - before


def get(path, **query):
    return f"GET {path}?{urllib.parse.urlencode(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path, body):
    body = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def serving(binary, corpus, articles):
    first = Served(binary, corpus)
    target("memory of a server, anonymous", first.anonymous(), "MB", 20)
    second = Served(binary, corpus)
    target("memory of a second one, anonymous", second.anonymous(), "MB", 20)
    second.end()
    rng = random.Random(SEED)
    api = dict(action="query", format="json")
    # Two or three words that are not a name: those of one title and one of another.
    words = [f"{one.split(' (')[0]} {rng.choice(other.split())}" for (one, _), (other, _) in zip(articles, articles[1:])]
    words = [text for text in words if len(text.split()) in (2, 3)][: 4 * QUESTIONS]
    kinds = [
        ("names", 20_000, [get("/w/api.php", **api, list="search", srwhat="nearmatch", srprop="", srsearch=t) for t, _ in articles]),
        ("pages", 12_000, [get("/w/api.php", **api, prop="extracts", explaintext=1, titles=t) for t, _ in articles]),
        ("searches by two or three words", 1_000, [get("/w/api.php", **api, list="search", srsearch=text) for text in words]),
        ("/retrieve of such words", 2_000, [post("/retrieve", {"queries": [t], "topk": 3, "return_scores": True}) for t in words]),
    ]
    for what, limit, requests in kinds:
        first.ask(requests[: CONNECTIONS * 8])
        target(f"serve, for each CPU second: {what}", len(requests) / first.ask(requests), "", limit, least=True)
    target("memory of a server after these, anonymous", first.anonymous(), "MB", 40)
    first.end()


def contexts(datasets):
    """Title to text of all contexts, and for each dataset the question and the gold titles of every other question with both."""
    hotpot = json.loads((datasets / "hotpot_dev_distractor_v1.partial.json").read_text(encoding="utf-8"))
    two_wiki = (datasets / "2wiki_dev.migres200.json").read_text(encoding="utf-8").splitlines()
    two_wiki = [json.loads(line) for line in two_wiki if line.strip()]
    articles, asked = {}, {}
    for name, questions in (("HotpotQA", hotpot), ("2Wiki", two_wiki)):
        whole = [one for one in questions if all(isinstance(one.get(key), list) for key in ("context", "supporting_facts"))]
        articles.update((title, "".join(sentences)) for one in whole for title, sentences in one["context"])
        # Our rule was chosen on the others.
        asked[name] = [(one["question"], {title for title, _ in one["supporting_facts"]}) for one in whole[1::2]]
    return articles, asked


def ours(port, questions):
    """Seconds and titles of each question, as `bench_engines.py ask` gives them."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    api = dict(action="query", format="json", list="search", srprop="", srlimit=max(SHOWN))
    for question in questions:
        before = time.perf_counter()
        connection.request("GET", f"/w/api.php?{urllib.parse.urlencode({**api, 'srsearch': question})}")
        found = json.load(connection.getresponse())["query"]["search"]
        yield time.perf_counter() - before, [hit["title"] for hit in found]


def recalls(asked, answers):
    """Gold titles in per cent among the first ones, for each dataset."""
    answers = iter(answers)
    for questions in asked.values():
        listed = [(gold, next(answers)[1]) for _, gold in questions]
        all_gold = sum(len(gold) for gold, _ in listed)
        found = [sum(len(gold.intersection(titles[:count])) for gold, titles in listed) for count in SHOWN]
        yield ", ".join(f"{100 * count / all_gold:.1f}" for count in found)


def written(files, leads, datasets):
    """Writes articles and questions; gives how many contexts and articles there are, and the questions."""
    articles, asked = contexts(datasets)
    only = len(articles)
    with open(leads, encoding="utf-8") as file:
        for _, line in zip(range(LEADS_BESIDE), file):
            record = json.loads(line)
            articles.setdefault(record["title"], record["blocks"][0])
    lines = ({"title": title, "text": text} for title, text in articles.items())
    questions = ({"question": question} for all_of in asked.values() for question, _ in all_of)
    for path, records in zip(files, (lines, questions)):
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return only, len(articles), asked


def beside(binary, work, leads, datasets, python, engines):
    with tempfile.TemporaryDirectory(dir=work) as folder:
        folder = pathlib.Path(folder)
        files = [folder / "articles.jsonl", folder / "questions.jsonl"]
        # In another process: the system counts the memory of this one as that of each program that it starts.
        with concurrent.futures.ProcessPoolExecutor(1) as other:
            only, count, asked = other.submit(written, files, leads, datasets).result()
        questions = [question for all_of in asked.values() for question, _ in all_of]
        rows = [["engine", *(f"{name} @{', @'.join(map(str, SHOWN))}" for name in asked), "build CPU s", "peak MB", "disk MB", "p50 ms"]]
        for engine in ["wikitrail", *engines]:
            index, script = folder / engine, [python, SCRIPTS / "bench_engines.py"]
            if engine == "wikitrail":
                command = [binary, "corpus", "build", index, "--from", files[0], "--quiet"]
            else:
                command = [*script, "build", engine, files[0], index]
            cpu, memory, _, _ = spent(command)
            if engine == "wikitrail":
                served = Served(binary, index)
                answers = list(ours(served.port, questions))
                served.end()
            else:
                answers = [json.loads(line) for line in spent([*script, "ask", engine, files[1], index])[2].splitlines()]
            disk = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
            p50 = statistics.median(seconds for seconds, _ in answers)
            rows.append([engine, *recalls(asked, answers), f"{cpu:.1f}", f"{memory:.0f}", f"{disk / 1e6:.0f}", f"{1e3 * p50:.2f}"])
            shutil.rmtree(index)
    print(f"{only:,} contexts and {count - only:,} made-up leads; gold titles in per cent, of "
          f"{' and '.join(f'{len(all_of)} questions of {name}' for name, all_of in asked.items())}")
    print_rows(rows)


def print_rows(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def leads_in(work, count):
    """The file of the made-up leads, which is made once."""
    work.mkdir(parents=True, exist_ok=True)
    leads = work / f"leads-{count}.jsonl"
    if not leads.exists():
        partial = leads.with_suffix(".partial")
        with open(partial, "w", encoding="utf-8") as file:
            script = [sys.executable, SCRIPTS / "synthetic_leads.py", str(count), "--seed", str(SEED), "--redirects", "0.3"]
            subprocess.run(script, stdout=file, check=True)
        partial.rename(leads)
    return leads


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.argv[1] == "beside":
        binary, work, count, datasets, python, *engines = sys.argv[2:]
        work = pathlib.Path(work)
        beside(pathlib.Path(binary).absolute(), work, leads_in(work, int(count)), pathlib.Path(datasets), python, engines)
        return
    binary, work, count = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    leads, corpus = leads_in(work, count), work / f"corpus-{count}"
    build(binary, leads, corpus)
    articles = sample(leads, min(NAMES, count // 2))
    searches(binary, corpus, articles)
    episodes(binary, corpus, articles, work)
    serving(binary, corpus, articles)
    print(f"{count:,} made-up leads")
    print_rows(TARGETS)


if __name__ == "__main__":
    main()
