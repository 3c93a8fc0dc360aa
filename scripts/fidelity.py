#!/usr/bin/env python3
"""Compares the program with the originals on seeded random cases and prints the table of docs/fidelity.md. Exits with 1 if there
is a difference that MEANT does not name. Started by scripts/fidelity.sh, which installs the originals; cases are made by
scripts/fidelity_cases.py.

Usage: fidelity.py PROGRAM FOLDER REPLIES ANSWERS TABLES SEED     compare; unpacked packages are in FOLDER
       fidelity.py --vectors FOLDER FILE                          write answer pairs with what the original functions give
"""
import collections
import importlib.metadata
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import types
import warnings

import fidelity_cases as cases

OPTIONS = {"lagent 0.1": ["--option", "labels=v0.1"]}


def without_odd_numbers(value):
    """The value with null in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: without_odd_numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_odd_numbers(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def is_evaluated(case, expected, got):
    """Whether only the arguments differ, and have a sum or a number with leading zeros, which dirtyjson reads and JSON does not."""
    same = {**expected, "args": None} == {**got, "args": None}
    summed = r"[:\[,\s][-+]*0\d|(\d|0x[\da-fA-F]+)\s*[-+*/]\s*\d"
    return same and re.search(summed, expected.get("input", "")) is not None


# Differences that are meant: the row of the table, the reason, and whether a difference is of this kind.
MEANT = [
    (
        "llama-index",
        "a number that JSON does not have (`Infinity`, `NaN`) is null",
        lambda case, expected, got: without_odd_numbers(expected) == got,
    ),
    ("llama-index", "sums and leading zeros (`2+3`, `0xe-3`, `007`) are not read; dirtyjson evaluates them", is_evaluated),
    (
        "statistics",
        "Cochran's Q of columns without any spread is 0, p 1; there it is 0/0",
        lambda case, expected, got: case.endswith("cochran_q") and expected is None and got == [0, 1],
    ),
]


class Row:
    """A line of the table: cases, those that are equal, and differences that are meant, by reason."""

    def __init__(self, name, original, of):
        self.name, self.original, self.of = name, original, of
        self.equal, self.meant, self.faults = 0, collections.Counter(), []

    def compare(self, case, expected, got):
        if expected == got:
            self.equal += 1
            return
        for name, reason, is_meant in MEANT:
            if name == self.name and is_meant(case, expected, got):
                self.meant[reason] += 1
                return
        self.faults.append({"case": case, "original": expected, "here": got})

    @property
    def compared(self):
        return self.equal + sum(self.meant.values()) + len(self.faults)


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


def module_alone(path, name, *needed):
    """One file of a package, run without the package. The modules that it imports are empty: what is called here uses none of
    them."""
    for stub in map(types.ModuleType, needed):
        stub.__path__ = []
        stub.__getattr__ = lambda attribute: type(attribute, (), {"get_logger": staticmethod(lambda name: None)})
        sys.modules[stub.__name__] = stub
    module = types.ModuleType(name)
    module.__package__ = name.rpartition(".")[0]
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    for stub in needed:
        del sys.modules[stub]
    return module


# Parsers


def llama_index():
    from llama_index.core.agent.react.output_parser import ReActOutputParser, extract_tool_use

    def parse(output):
        try:
            step = ReActOutputParser().parse(output)
        # The second is of an empty thought.
        except (ValueError, AttributeError) as error:
            return {"kind": "invalid", "error": str(error)}
        if step.is_done:
            return {"kind": "finish", "thought": step.thought, "answer": step.response}
        argument = extract_tool_use(output)[2]
        return {"kind": "act", "thought": step.thought, "tool": step.action, "input": argument, "args": step.action_input}

    return parse


def qwen_agent():
    from qwen_agent.agents.react_chat import ReActChat
    from qwen_agent.llm.base import _postprocess_stop_words
    from qwen_agent.llm.schema import ContentItem, Message

    def parse(output):
        reply = Message("assistant", [ContentItem(text=output)])
        content = _postprocess_stop_words([reply], stop=["Observation:", "Observation:\n"])[0].content
        found, tool, argument, thought = ReActChat._detect_tool(None, "".join(item.text for item in content))
        # The original has no notion of an answer: the loop ends.
        return {"kind": "act", "tool": tool, "input": argument, "thought": thought} if found else {"kind": "finish"}

    return parse


def lagent(folder):
    modules = ["", ".actions", ".llms", ".llms.base_api", ".llms.base_llm", ".schema", ".agents", ".agents.base_agent"]
    path = os.path.join(folder, "lagent/agents/react.py")
    react = module_alone(path, "lagent.agents.react", *("lagent" + module for module in modules))
    name = lambda text: types.SimpleNamespace(name=text)
    executor = types.SimpleNamespace(finish_action=name("FinishAction"), no_action=name("NoAction"))

    def parse(output):
        thought, action, argument = react.ReActProtocol().parse(output, executor)
        if action == "FinishAction":
            return {"kind": "finish", "thought": thought, "answer": argument}
        if action == "NoAction":
            return {"kind": "invalid", "thought": thought}
        return {"kind": "act", "thought": thought, "tool": action, "input": argument}

    return parse


def parsers(program, folder, count, seed):
    common = ["Thought:", "Action:", "Action Input:"]
    old = ["Thought:", "Action:", "ActionInput:", "FinalAnswer:", "Response:", "Action Input:"]
    for name, original, parse, labels in [
        ("llama-index", version("llama-index-core"), llama_index(), [*common, "Answer:", "Observation:", "Final Answer:"]),
        ("qwen-agent", version("qwen-agent"), qwen_agent(), [*common, "Final Answer:", "Observation:", "Observation"]),
        ("lagent", "lagent 0.2.4", lagent(f"{folder}/lagent-0.2.4"), [*common, "Final Answer:", "Response:", "Thought:"]),
        ("lagent 0.1", "lagent 0.1.1", lagent(f"{folder}/lagent-0.1.1"), old),
    ]:
        rng = random.Random(f"{seed} {name}")
        replies = [cases.reply(rng, labels) for _ in range(count)]
        lines = "".join(json.dumps({"name": "", "output": reply}) + "\n" for reply in replies)
        command = [program, "parse", "--protocol", name.split(" ")[0], *OPTIONS.get(name, [])]
        ran = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
        row = Row(name, original, "replies")
        parsed = ran.stdout.decode().splitlines()
        for reply, line in zip(replies, parsed, strict=True):
            expected, got = parse(reply), json.loads(line)
            row.compare(reply, normal(expected), normal({field: got[field] for field in expected}))
        yield row


def normal(value):
    """The value as JSON would give it back."""
    return json.loads(json.dumps(value))


# Metrics


def squad_metrics(folder):
    needed = ["transformers", "transformers.models", "transformers.models.bert", "transformers.utils"]
    path = os.path.join(folder, "transformers-4.57.6/transformers/data/metrics/squad_metrics.py")
    return module_alone(path, "transformers.data.metrics.squad_metrics", *needed)


def squad_example(number, golds):
    return types.SimpleNamespace(qas_id=number, answers=[{"text": gold} for gold in golds])


def overlap(squad, answer, gold):
    """F1, precision and recall as the scripts of SQuAD 1.1 and HotpotQA define them, over the original normal form."""
    ours, theirs = (squad.normalize_answer(text).split() for text in (answer, gold))
    same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    if same == 0:
        return 0.0, 0.0, 0.0
    precision, recall = 1.0 * same / len(ours), 1.0 * same / len(theirs)
    return (2 * precision * recall) / (precision + recall), precision, recall


def squad11_figures(squad, answer, golds):
    exact = max(squad.compute_exact(gold, answer) for gold in golds)
    return [float(exact), max(overlap(squad, answer, gold)[0] for gold in golds)]


def hotpot(squad, answer, gold):
    """EM, F1, precision and recall of hotpot_evaluate_v1.py: yes, no and noanswer share no words with anything else."""
    normal_forms = [squad.normalize_answer(text) for text in (answer, gold)]
    exact = float(normal_forms[0] == normal_forms[1])
    if not exact and any(form in ("yes", "no", "noanswer") for form in normal_forms):
        return [exact, 0.0, 0.0, 0.0]
    return [exact, *overlap(squad, answer, gold)]


def score(program, metric, gold, predictions):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("gold", gold), ("predictions", predictions)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        command = [program, "score", "--metric", metric, "--gold", "gold", "--predictions", "predictions", "--per-item", "--json"]
        return json.loads(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True).stdout)


def score_squad(program, metric, pairs):
    """The figures of a gold file of SQuAD, and the predictions by id."""
    questions = [
        {"id": str(n), "question": "?", "answers": [{"text": gold, "answer_start": 0} for gold in golds]}
        for n, (_, golds) in enumerate(pairs)
    ]
    gold = {"version": "x", "data": [{"title": "", "paragraphs": [{"context": "", "qas": questions}]}]}
    predictions = {str(n): answer for n, (answer, _) in enumerate(pairs)}
    return score(program, metric, json.dumps(gold), json.dumps(predictions)), predictions


def squad11(program, squad, pairs):
    got, _ = score_squad(program, "squad11", pairs)
    row = Row("squad11", "`normalize_answer` of transformers 4.57.6; the formula is the script's", "answers")
    for (answer, golds), item in zip(pairs, got["items"], strict=True):
        row.compare((answer, golds), squad11_figures(squad, answer, golds), [item["exact_match"], item["f1"]])
    yield row


def squad20(program, squad, pairs):
    got, predictions = score_squad(program, "squad20", pairs)
    examples = [squad_example(str(n), golds) for n, (_, golds) in enumerate(pairs)]
    exact, f1 = squad.get_raw_scores(examples, predictions)
    row = Row("squad20", "transformers 4.57.6, `squad_metrics.py`", "answers")
    for pair, item in zip(pairs, got["items"], strict=True):
        row.compare(pair, [exact[item["id"]], f1[item["id"]]], [item["exact"], item["f1"]])
    yield row
    row = Row("squad20, means", row.original, "figures")
    expected = squad.squad_evaluate(examples, predictions)
    for name, mean in got["aggregate"].items():
        row.compare(name, expected[name], mean)
    yield row


def hotpot_file(program, squad, pairs):
    gold = [{"_id": str(n), "answer": golds[0], "supporting_facts": []} for n, (_, golds) in enumerate(pairs)]
    predictions = {"answer": {str(n): answer for n, (answer, _) in enumerate(pairs)}, "sp": {}}
    got = score(program, "hotpot", json.dumps(gold), json.dumps(predictions))
    row = Row("hotpot", "the same", "answers")
    for (answer, golds), item in zip(pairs, got["items"], strict=True):
        row.compare((answer, golds), hotpot(squad, answer, golds[0]), [item[name] for name in ("em", "f1", "prec", "recall")])
    yield row


def fever(program, count, seed):
    from fever import scorer

    rng = random.Random(f"{seed} fever")
    claims = [cases.claim(rng, n) for n in range(count)]
    files = ("".join(json.dumps(pair[side]) + "\n" for pair in claims) for side in (0, 1))
    got = score(program, "fever", *files)
    row = Row("fever", version("fever-scorer"), "claims")
    for (gold, prediction), item in zip(claims, got["items"], strict=True):
        instance = {**gold, **prediction}
        expected = {
            "correct": scorer.is_correct_label(instance),
            "strict5": scorer.is_strictly_correct(instance, 5),
            "strict_nolimit": scorer.is_strictly_correct(instance),
            "macro_precision5": list(scorer.evidence_macro_precision(instance, 5)),
            "macro_recall5": list(scorer.evidence_macro_recall(instance, 5)),
        }
        row.compare(instance, expected, {name: item[name] for name in expected})
    yield row
    row = Row("fever, means", row.original, "figures")
    names = ["strict_score", "label_accuracy", "precision", "recall", "f1"]
    for name, mean in zip(names, scorer.fever_score([{**gold, **prediction} for gold, prediction in claims])):
        row.compare(name, mean, got["aggregate"][name])
    yield row


def metrics(program, folder, count, seed):
    squad = squad_metrics(folder)
    pairs = list(cases.answers(random.Random(f"{seed} answers"), count))
    yield from squad20(program, squad, pairs)
    pairs = list(cases.answers(random.Random(f"{seed} answered"), count, numbers=(1, 1, 1, 2, 3)))
    yield from squad11(program, squad, pairs)
    yield from hotpot_file(program, squad, pairs)
    yield from fever(program, count, seed)


def write_vectors(folder, path):
    """Answer pairs with the figures of the original functions, for the tests."""
    squad = squad_metrics(folder)
    with open(path, "w", encoding="utf-8") as file:
        for answer, golds in cases.answers(random.Random("vectors"), 1000):
            exact, f1 = squad.get_raw_scores([squad_example(0, golds)], {0: answer})
            line = {"prediction": answer, "golds": golds, "squad20": [float(exact[0]), float(f1[0])]}
            if golds:
                line["squad11"] = squad11_figures(squad, answer, golds)
                line["hotpot"] = hotpot(squad, answer, golds[0])
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def show(rows):
    print("| what | original | compared | equal | differences that are meant |\n|---|---|---|---|---|")
    for row in rows:
        meant = "; ".join(f"{count}: {reason}" for reason, count in row.meant.items())
        print(f"| `{row.name}` | {row.original} | {row.compared:,} {row.of} | {row.equal:,} | {meant} |")
    for row in rows:
        for fault in row.faults[:5]:
            print(f"{row.name}: {json.dumps(fault, ensure_ascii=True, default=str)}", file=sys.stderr)
    faults = sum(len(row.faults) for row in rows)
    if faults:
        print(f"error: {faults} not meant; the first five of each row are above", file=sys.stderr)
    return 1 if faults else 0


def main():
    if sys.argv[1] == "--vectors":
        write_vectors(*sys.argv[2:])
        return 0
    from fidelity_statistics import statistics

    program, folder, replies, answers, tables, seed = sys.argv[1:]
    warnings.simplefilter("ignore")
    program = os.path.abspath(program)
    rows = [*parsers(program, folder, int(replies), seed), *metrics(program, folder, int(answers), seed)]
    rows += statistics(Row, program, int(tables), seed)
    return show(rows)


if __name__ == "__main__":
    sys.exit(main())
