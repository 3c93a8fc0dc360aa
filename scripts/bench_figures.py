"""Figures of scripts/bench.sh: one measured run to a row, rows to a table.

    row RUNS LOG ROWS                     the kit's last row and the program's summary, as a row
    pad TRAJECTORIES                      episodes of the usual size; prints the length without the last one
    resumed TRAJECTORIES BEGUN TIME ROWS  the start of the last episode, against the time of the command
    questions N FILE                      a dataset of questions of 1.6 kB, always the same
    reader NAME ROWS COMMAND...           processor time, memory and bytes read of a command that reads a run
    resumes RUN ROWS COMMAND...           the same up to the last episode of a run, which is removed before
    table ROWS                            medians, a row a scenario
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from datetime import datetime

# The usual size of an episode over real pages, in bytes.
USUAL = 16_000
# Characters of a long question.
LONG = 1_600
FILLER = "the a of in that was later also near river which some early before often along from its many during small".split()


def last_line(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readlines()[-1])


def append(path, row):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def nothing_is_nan(value):
    return float("nan") if value is None else value


def row(runs, log, rows):
    run = last_line(runs)
    text = open(log, encoding="utf-8").read()
    # The summary is the one JSON object of the log; what was said stands around it.
    start = text.find("\n{") + 1 if not text.startswith("{") else 0
    try:
        summary = json.JSONDecoder().raw_decode(text, start)[0]
        score = summary["variants"][0]
    except (ValueError, KeyError):
        sys.exit(f"error: the run `{run['name']}` ended with code {run['rc']} and without a summary:\n{text[-2000:]}")
    append(rows, {
        "scenario": run["name"],
        "rate": run["eps"],
        "flight": run["llm_mean_inflight"],
        "share": run["llm_mean_inflight"] / run["conc"],
        "cpu": 1000 * run["cpu_s"] / run["n"],
        "memory": run["rss_mb"],
        "em": nothing_is_nan(score["em"]),
        "f1": nothing_is_nan(score["f1"]),
        "measured": score["measured"],
        "episodes": run["n"],
    })


def pad(path):
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    length = 0
    with open(path, "w", encoding="utf-8") as file:
        for line in lines[:-1]:
            episode = json.loads(line)
            seen = [step for step in episode["steps"] if step["observation"]]
            for step in seen:
                text = step["observation"] + " "
                step["observation"] += text * ((USUAL - len(line)) // len(seen) // len(text))
            line = json.dumps(episode, ensure_ascii=False, separators=(",", ":")) + "\n"
            length += len(line.encode())
            file.write(line)
    print(length)


def resumed(path, begun, time, rows):
    with open(path, "rb") as file:
        lines = sum(1 for _ in file)
        # Longer than any line.
        file.seek(-min(file.tell(), 1 << 20), 2)
        episode = json.loads(file.read().splitlines()[-1])
    started = datetime.fromisoformat(episode["started_at"][:26].rstrip("Z") + "+00:00").timestamp()
    kilobytes = int(open(time, encoding="utf-8").read().split()[-1])
    append(rows, {"scenario": "resume", "wait": started - float(begun), "memory": kilobytes / 1024, "kept": lines - 1})


def questions(n, path):
    """The sample's questions, each behind words that make it long and another one."""
    with open("datasets/sample.jsonl", encoding="utf-8") as file:
        sample = [json.loads(line) for line in file]
    with open(path, "w", encoding="utf-8") as file:
        for i in range(int(n)):
            known = sample[i % len(sample)]
            words = random.Random(i)
            text = f"item {i} of a list:"
            while len(text) + len(known["question"]) < LONG:
                text += " " + words.choice(FILLER)
            kept = {key: known[key] for key in ("answers", "type", "level", "supporting_facts") if key in known}
            question = {"id": f"q{i:06}", "question": f"{text} {known['question']}", **kept}
            file.write(json.dumps(question, ensure_ascii=False) + "\n")


def read_by(pid):
    """Bytes that a process has read, where the system says so."""
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            return int(file.readline().split()[1])
    except OSError:
        return None


def reader(name, rows, *command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    # It has ended, and the system still knows what it did.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    read = read_by(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"error: `{' '.join(command)}` failed")
    append(rows, {"scenario": "readers", "reader": name, "cpu": usage.ru_utime + usage.ru_stime,
                  "memory": usage.ru_maxrss / 1024, "read": read})


def resumes(run, rows, *command):
    path = f"{run}/trajectories.jsonl"
    with open(path, "r+b") as file:
        # Longer than any line.
        file.seek(-min(os.path.getsize(path), 1 << 20), 2)
        length = file.tell() + file.read().rstrip(b"\n").rfind(b"\n") + 1
        file.truncate(length)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while os.path.getsize(path) == length:
        if process.poll() is not None:
            sys.exit(f"error: `{' '.join(command)}` ended without an episode")
        time.sleep(0.002)
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        ticks = file.read().rpartition(")")[2].split()[11:13]
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        peak = next(line for line in file if line.startswith("VmHWM")).split()[1]
    append(rows, {"scenario": "readers", "reader": "run --resume, to the first episode", "read": read_by(process.pid),
                  "cpu": sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), "memory": int(peak) / 1024})
    if process.wait() != 0:
        sys.exit(f"error: `{' '.join(command)}` failed")


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    names = list(dict.fromkeys(row["scenario"] for row in rows))
    columns = ["scenario", "episodes/s", "in flight", "slots used", "CPU ms/ep.", "peak MB", "EM", "F1", "measured"]
    shown, lines, readers = [columns], [], []
    for name in names:
        mine = [row for row in rows if row["scenario"] == name]

        def median(key):
            return statistics.median(row[key] for row in mine)

        if name == "readers":
            readers = [["reader", "CPU s", "peak MB", "MB read"]]
            for reader in dict.fromkeys(row["reader"] for row in mine):
                figures = {key: [row[key] for row in mine if row["reader"] == reader] for key in ("cpu", "memory", "read")}
                read = "–" if None in figures["read"] else f"{statistics.median(figures['read']) / 1e6:.0f}"
                readers.append([reader, f"{statistics.median(figures['cpu']):.2f}",
                                f"{statistics.median(figures['memory']):.0f}", read])
            continue
        if name == "resume":
            lines.append(f"resume: first new call after {median('wait'):.2f} s, {mine[0]['kept']:,} episodes kept, "
                           f"peak {median('memory'):.0f} MB")
            continue
        # The run with the fewest counts: what is lost once is lost.
        measured = min(row["measured"] for row in mine)
        shown.append([name, f"{median('rate'):.0f}", f"{median('flight'):.1f}", f"{100 * median('share'):.0f} %",
                      f"{median('cpu'):.2f}", f"{median('memory'):.0f}", f"{median('em'):.4f}", f"{median('f1'):.4f}",
                      f"{measured:,} of {mine[0]['episodes']:,}"])
    print_columns(shown)
    for line in lines:
        print(line)
    print_columns(readers)


def print_columns(rows):
    if len(rows) < 2:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *others = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        print("  ".join([first, *others]).rstrip())


if __name__ == "__main__":
    commands = {"row": row, "pad": pad, "resumed": resumed, "questions": questions, "reader": reader, "resumes": resumes,
                "table": table}
    commands[sys.argv[1]](*sys.argv[2:])
