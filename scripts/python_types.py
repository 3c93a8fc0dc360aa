"""Writes python/wikitrail/types.py from docs/schema and docs/columns.md; --check says whether it is up to date."""

import json
import keyword
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "python/wikitrail/types.py"
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}
KINDS = {"text": "str", "int": "int", "real": "float", "bool": "bool"}

# `score --json` has no schema; these are the figures that every variant has.
SCORES = '''
class ShareEstimate(TypedDict):
    mean: float | None
    interval: dict[str, float] | None  # `low` and `high`


class PassScores(TypedDict):
    k: int
    questions: int  # with k scored repeats
    left_out: int  # with fewer
    pass_at: ShareEstimate
    pass_hat: ShareEstimate


class RightRepeats(TypedDict):
    count: int
    of: int
    share: float | None


class UnstableQuestion(TypedDict):
    id: str
    right: RightRepeats


class RepeatScores(TypedDict):
    """What the repeats of each question say together (docs/metrics.md)."""

    questions: int
    unstable: list[UnstableQuestion]  # some repeats right, some wrong
    agreement: ShareEstimate  # share of pairs of repeats with the same answer
    steps_sd: float | None  # between repeats of one question
    cost_sd_usd: float | None
    passes: list[PassScores]


class VariantScores(TypedDict):
    """The scores of one variant, as `wikitrail score --json` has them, with further fields; shares are 0 to 1."""

    name: str
    metric: str
    episodes: int
    measured: int
    scored: int
    em: float | None
    em_wilson: list[float] | None
    f1: float | None
    f1_t: list[float] | None
    attempted: int  # scored episodes with an answer that does not abstain
    given_attempted: float | None  # correct over attempted
    given_attempted_interval: list[float] | None
    simpleqa_f1: float | None  # harmonic mean of it and the share of correct answers
    simpleqa_f1_interval: list[float] | None
    questions: int
    repeats: RepeatScores | None  # null where each question was run once
    outcomes: dict[str, int]
    steps: int | None
    calls: int | None
    usage: Usage
    cost_usd: float | None
'''


class Schema:
    """The classes of one schema; names of its parts begin with capitals."""

    def __init__(self, name: str) -> None:
        self.schema = json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text("utf-8"))
        # In the order in which Python can read them: parts before what has them.
        self.classes: list[str] = []
        self.defined: set[str] = set()

    def type(self, schema: dict, name: str) -> str:
        """The type of a value; an object with fields becomes a class of its own, called `name`."""
        if ref := schema.get("$ref"):
            part = ref.rsplit("/", 1)[1]
            target = self.schema["$defs"][part]
            return self.type(target, camel(part))
        if "const" in schema or "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema.get('enum', [schema.get('const')]))}]"
        if choice := schema.get("anyOf") or schema.get("oneOf"):
            return " | ".join(dict.fromkeys(self.type(one, name) for one in choice))
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self.type({**schema, "type": one}, name) for one in kind)
        if kind == "array":
            return f"list[{self.type(schema['items'], name)}]" if "items" in schema else "list[Any]"
        if kind == "object" and "properties" in schema:
            self.define(schema, name)
            return name
        return PLAIN.get(kind, "Any")

    def define(self, schema: dict, name: str) -> None:
        if name in self.defined:
            return
        self.defined.add(name)
        required, fields = set(schema.get("required", [])), []
        for field, value in schema["properties"].items():
            of = self.type(value, name + camel(field))
            fields.append((field, of if field in required else f"NotRequired[{of}]", value.get("description", "")))
        self.classes.append(render(name, schema.get("description", ""), fields))

    def all(self, name: str, extra: list | None = None) -> str:
        for part, schema in self.schema["$defs"].items():
            if "properties" in schema:
                self.define(schema, camel(part))
        whole = dict(self.schema)
        whole["properties"] = {**whole["properties"], **dict(extra or [])}
        whole["required"] = [*whole["required"], *[field for field, _ in extra or []]]
        self.define(whole, name)
        return "\n\n".join(self.classes)


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def render(name: str, description: str, fields: list[tuple[str, str, str]]) -> str:
    if any(keyword.iskeyword(field) for field, _, _ in fields):
        # A class cannot have such a field.
        entries = ", ".join(f'"{field}": {of}' for field, of, _ in fields)
        return f'{name} = TypedDict("{name}", {{{entries}}})\n'
    doc = description[:1].upper() + description[1:]
    lines = [f"class {name}(TypedDict):", *([f'    """{doc}."""', ""] if doc else [])]
    for field, of, said in fields:
        said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", said).replace("\\|", "|")
        lines.append(f"    {field}: {of}" + (f"  # {said}" if said else ""))
    return "\n".join(lines) + "\n"


def columns(section: str) -> list[tuple[str, str, str]]:
    text = (ROOT / "docs/columns.md").read_text("utf-8")
    part = next(part for part in text.split("\n## ") if part.startswith(section))
    return re.findall(r"^\| `([^`]+)` \| (text|int|real|bool) \| (.*) \|$", part, re.MULTILINE)


def rows(name: str, section: str, description: str) -> tuple[str, str]:
    """The class of a row, and the kinds of its columns."""
    found = columns(section) + columns("Origin")
    kinds = "".join(f'    "{column}": "{kind}",\n' for column, kind, _ in found)
    return render(name, description, [(column, f"{KINDS[kind]} | None", said) for column, kind, said in found]), kinds


def made() -> str:
    score = {"type": ["object", "null"], "description": "null where it was not measured or the gold is hidden"}
    share = {"type": "number"}
    score["properties"] = {part: share for part in ("em", "f1", "precision", "recall")}
    score["required"] = list(score["properties"])
    run = {"type": "string", "description": "name of the run's folder"}
    episode = Schema("trajectory").all("Episode", [("run", run), ("score", score)])
    question, question_kinds = rows("QuestionRow", "Questions", "One episode as a row; columns that a dataset or a metric adds come on top")
    step, step_kinds = rows("StepRow", "Steps", "One step as a row")
    return f'''"""What runs hold. Made by scripts/python_types.py from docs/schema and docs/columns.md."""

# ruff: noqa: E501

from typing import Any, Literal, NotRequired, TypedDict


{episode}

{Schema("manifest").all("Manifest")}
{SCORES}

{question}

{step}

QUESTION_KINDS: dict[str, str] = {{
{question_kinds}}}

STEP_KINDS: dict[str, str] = {{
{step_kinds}}}
'''


def main() -> int:
    text = made()
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text("utf-8") == text:
            return 0
        print("python/wikitrail/types.py is not up to date: run python3 scripts/python_types.py", file=sys.stderr)
        return 1
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
