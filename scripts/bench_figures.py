"""Figures of scripts/bench.sh: one measured run to a row, rows to a table.

    row RUNS LOG ROWS                     the kit's last row and the program's summary, as a row
    pad TRAJECTORIES                      episodes of the usual size; prints the length without the last one
    resumed TRAJECTORIES BEGUN TIME ROWS  the start of the last episode, against the time of the command
    table ROWS                            medians, a row a scenario
"""

import json
import statistics
import sys
from datetime import datetime

# The usual size of an episode over real pages, in bytes.
USUAL = 16_000


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


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    names = list(dict.fromkeys(row["scenario"] for row in rows))
    columns = ["scenario", "episodes/s", "in flight", "slots used", "CPU ms/ep.", "peak MB", "EM", "F1", "measured"]
    shown, resumes = [columns], []
    for name in names:
        mine = [row for row in rows if row["scenario"] == name]

        def median(key):
            return statistics.median(row[key] for row in mine)

        if name == "resume":
            resumes.append(f"resume: first new call after {median('wait'):.2f} s, {mine[0]['kept']:,} episodes kept, "
                           f"peak {median('memory'):.0f} MB")
            continue
        # The run with the fewest counts: what is lost once is lost.
        measured = min(row["measured"] for row in mine)
        shown.append([name, f"{median('rate'):.0f}", f"{median('flight'):.1f}", f"{100 * median('share'):.0f} %",
                      f"{median('cpu'):.2f}", f"{median('memory'):.0f}", f"{median('em'):.4f}", f"{median('f1'):.4f}",
                      f"{measured:,} of {mine[0]['episodes']:,}"])
    widths = [max(len(line[i]) for line in shown) for i in range(len(columns))]
    for line in shown if len(shown) > 1 else []:
        first, *others = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))]
        print("  ".join([first, *others]).rstrip())
    for line in resumes:
        print(line)


if __name__ == "__main__":
    {"row": row, "pad": pad, "resumed": resumed, "table": table}[sys.argv[1]](*sys.argv[2:])
