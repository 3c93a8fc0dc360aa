"""A run's folder, and the commands that make runs and read them."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _agent, _dataset, _program
from ._agent import Agent
from ._program import Flag, WikitrailError
from .types import QUESTION_KINDS, STEP_KINDS, Episode, Manifest, QuestionRow, StepRow, VariantScores

if TYPE_CHECKING:
    StrPath = str | os.PathLike[str]
    DataFrame = Any  # of pandas or polars

# Beyond so many variants, a run shows how many more there are.
SHOWN = 50

class Run:
    """A folder that `wikitrail run` made: a path, and an iterable of its episodes.

    Nothing is kept: each call reads the folder again, so a run that goes on can be read while it does.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __iter__(self) -> Iterator[Episode]:
        return self.episodes()

    def __len__(self) -> int:
        """How many episodes there are, unmeasured ones included."""
        return sum(variant["episodes"] for variant in self.scores())

    def __repr__(self) -> str:
        about = f"Run {os.fspath(self.path)!r}"
        try:
            manifest = self.manifest
            dataset, names = manifest["dataset"], [variant["name"] for variant in manifest["variants"]]
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            return f"<{about}: {_questions(dataset['selected'])} of {dataset['name']!r} by {', '.join(map(repr, names[:4]))}{more}>"
        except (OSError, ValueError, LookupError, TypeError):
            return f"<{about}, which cannot be read>"

    def _repr_html_(self) -> str:
        try:
            return _html(score(self))
        except (OSError, WikitrailError) as error:
            return f"<pre>{html.escape(str(error))}</pre>"

    @property
    def manifest(self) -> Manifest:
        """What was run: variants with their settings, the dataset and its digest."""
        path = self.path / "manifest.json"
        text = path.read_text(encoding="utf-8")
        try:
            return cast(Manifest, json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"{os.fspath(path)!r} is not valid JSON: {error}") from None

    def episodes(self, **filters: Flag) -> Iterator[Episode]:
        """The episodes with their steps and scores, in the order of the questions.

        Filters are the flags of `wikitrail export`: `variant="react"`, `wrong=True`, `outcome="finished"`.
        """
        return _program.lines(self._export(**filters))

    def questions(self, **filters: Flag) -> Iterator[QuestionRow]:
        """One flat row for each episode, with the columns of docs/columns.md."""
        return _program.lines(self._export(rows="questions", **filters))

    def steps(self, **filters: Flag) -> Iterator[StepRow]:
        """One flat row for each step."""
        return _program.lines(self._export(rows="steps", **filters))

    def scores(self) -> list[VariantScores]:
        """The scores of each variant, as `wikitrail score` prints them; shares are 0 to 1."""
        return cast("list[VariantScores]", score(self)["variants"])

    def frame(
        self, rows: Literal["questions", "steps"] = "questions", library: Literal["pandas", "polars"] | None = None, **filters: Flag
    ) -> Any:
        """The rows as a data frame, as `frame` has it for several runs."""
        return frame(self, rows, library, **filters)

    def _export(self, **flags: Flag) -> list[str]:
        return _rows([self], flags)


def read_run(path: StrPath) -> Run:
    """The run in this folder. Raises `WikitrailError` or `FileNotFoundError` where no run is there."""
    run = Run(path)
    if "variants" not in run.manifest:
        raise ValueError(f"{os.fspath(path)!r} has a manifest.json, but of something else than a run")
    return run


def run(
    dataset: StrPath | Iterable[Mapping[str, Any]] | DataFrame | None = None,
    *,
    out: StrPath,
    agent: Agent | str | None = None,
    **flags: Flag,
) -> Run:
    """Runs `wikitrail run DATASET --out OUT` with further flags, and returns the run.

    `run("my.csv", out="results/a", model="openai:gpt-4o-mini", limit=50)`; without a dataset it is the sample. Dictionaries, or a
    data frame of pandas or polars, have `question`, `answer` or `answers` (a value or a list; if missing, the question is not
    scored), and may have `id` and the other fields of a dataset. Messages appear on standard error. Episodes that could not be
    measured give a `WikitrailWarning`.

    `agent` is a function, sync or async, that gets a `Question` and returns the answer: a text, a number, `None` for no answer,
    or a dictionary with `answer` and `confidence` (0 to 1).

        def agent(question):
            client = openai.OpenAI(**question.openai)
            hint = question.passages(question.question, k=3)
            messages = [{"role": "user", "content": f"{hint}\n\n{question.question} Answer in a few words."}]
            reply = client.chat.completions.create(model=question.model, messages=messages)
            return reply.choices[0].message.content

        run = wikitrail.run("my.csv", out="results/mine", agent=agent, model="openai:gpt-4o-mini")

    Its calls of models and tools are recorded. It is called for several questions at once, each in a thread, and coroutines share
    an event loop: `concurrency` says how many. An exception fails its episode, whose record has the last lines. After
    `agent_timeout` seconds an episode is over: a coroutine is cancelled, but a thread goes on until it returns. A text as `agent`
    is the command or the address of another program.
    """
    _program.refuse(flags, ("dry_run",), "it makes no run to return; `wikitrail run --dry-run` prints what one would take")
    with _agent.served(agent) as served, _dataset.named(dataset, flags) as named:
        _program.call(["run", *named, *_program.arguments({"out": out, "quiet": True, "agent": served, **flags})])
    return read_run(out)


def compare(*runs: StrPath, **flags: Flag) -> dict[str, Any]:
    """What `wikitrail compare RUN... --json` says: tests, intervals, and a verdict in words for each pair of variants.

    A condition of `fail_if` that holds is a `WikitrailError` with the code 5, whose `output` is the comparison as JSON.
    """
    _program.refuse(flags, ("out", "format"), "the comparison is returned; `wikitrail compare` writes files")
    said = _program.call(["compare", *map(_program.path, runs), "--json", *_program.arguments(flags)])
    return cast("dict[str, Any]", json.loads(said))


def score(run: StrPath | None = None, **flags: Flag) -> dict[str, Any]:
    """What `wikitrail score RUN --json` says; or, without a run, of `predictions="…", gold="…", metric="…"`."""
    _program.refuse(flags, ("dry_run", "quiet"), "the scores are returned; `wikitrail score` prints other things")
    named = [] if run is None else [_program.path(run)]
    return cast("dict[str, Any]", json.loads(_program.call(["score", *named, "--json", *_program.arguments(flags)])))


def report(*runs: StrPath, out: StrPath | None = None, figures: StrPath | None = None, **flags: Flag) -> Path:
    """Writes what `wikitrail report RUN...` does, and returns the path: of the page, or of the folder of `figures` without `out`."""
    written = _written(out or figures or "report.html")
    _program.call(["report", *map(_program.path, runs), *_program.arguments({"out": out, "figures": figures, **flags})])
    return written


def export(*runs: StrPath, out: StrPath, **flags: Flag) -> Path:
    """Writes what `wikitrail export RUN... --out OUT` does, and returns the path of the file or, for `format="hf"`, the folder."""
    written = _written(out)
    _program.call(["export", *map(_program.path, runs), *_program.arguments({"out": out, **flags})])
    return written


def list_runs(*folders: StrPath, **flags: Flag) -> list[dict[str, Any]]:
    """The variants of the runs in these folders, as `wikitrail list --json` has them: the best first, with rank and ties."""
    return list(_program.lines(["list", *map(_program.path, folders), "--json", *_program.arguments(flags)]))


def frame(
    runs: StrPath | Sequence[StrPath],
    rows: Literal["questions", "steps"] = "questions",
    library: Literal["pandas", "polars"] | None = None,
    **filters: Flag,
) -> Any:
    """The rows of one run or several as a data frame with typed columns; the column `run` names the run.

    It is a frame of pandas where it is installed, else of polars, else a dictionary with a list for each column.
    """
    if library not in (None, "pandas", "polars"):
        raise ValueError(f"library is {library!r}, but is to be 'pandas' or 'polars'")
    named = [runs] if isinstance(runs, (str, os.PathLike)) else runs
    kinds = QUESTION_KINDS if rows == "questions" else STEP_KINDS
    return _frame(_columns(_program.lines(_rows(named, {"rows": rows, **filters})), kinds), kinds, library)


def _rows(runs: Sequence[StrPath], flags: Mapping[str, Flag]) -> list[str]:
    _program.refuse(flags, ("out", "format"), "rows are returned; `wikitrail.export` writes files")
    return ["export", *map(_program.path, runs), "--format=jsonl", *_program.arguments(flags)]


def _written(out: StrPath) -> Path:
    if os.fspath(out) == "-":
        raise ValueError("out is to be a path: what is written is not returned")
    return Path(out)


def _columns(rows: Iterator[dict[str, Any]], kinds: Mapping[str, str]) -> dict[str, list[Any]]:
    """Rows of equal fields by column. Texts that come again, as those of a run and a variant do in each row, are kept once."""
    columns: dict[str, list[Any]] = {}
    kept: dict[str, str] = {}
    for row in rows:
        columns = columns or {name: [] for name in row}
        for name, value in row.items():
            if value.__class__ is str:
                value = kept.setdefault(value, value) if len(kept) < 10_000 else kept.get(value, value)
            columns[name].append(value)
    return columns or {name: [] for name in kinds}


def _frame(columns: dict[str, list[Any]], kinds: Mapping[str, str], library: str | None) -> Any:
    """A data frame of columns, which are used up to have them once in memory."""

    def added(name: str) -> str:
        # Datasets, metrics and flags add columns of texts or of numbers.
        return "text" if name.startswith("meta.") or any(isinstance(value, str) for value in columns[name]) else "real"

    of = {name: kinds.get(name) or added(name) for name in columns}
    if library != "polars":
        try:
            import pandas as pd

            types = {"text": "string", "int": "Int64", "real": "float64", "bool": "boolean"}
            return pd.DataFrame({name: pd.Series(columns.pop(name), dtype=types[kind]) for name, kind in of.items()})
        except ImportError:
            if library == "pandas":
                raise
    try:
        import polars as pl
    except ImportError:
        if library == "polars":
            raise
        return columns
    schema = {"text": pl.String, "int": pl.Int64, "real": pl.Float64, "bool": pl.Boolean}
    return pl.DataFrame([pl.Series(name, columns.pop(name), dtype=schema[kind]) for name, kind in of.items()])


def _html(scores: Mapping[str, Any]) -> str:
    """A table of the variants with their scores in percent."""
    variants = scores["variants"]
    rows = [
        (
            variant["name"],
            _percent(variant["em"], variant["em_wilson"] or variant["em_t"]),
            _percent(variant["f1"], variant["f1_t"]),
            variant["scored"],
            variant["episodes"] - variant["measured"],
        )
        for variant in variants[:SHOWN]
    ]
    head = "".join(f"<th>{name}</th>" for name in ("variant", "EM", "F1", "n", "not measured"))
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<p>and {len(variants) - SHOWN} more variants</p>" if len(variants) > SHOWN else ""
    about = f"{scores['run']}: {_questions(scores['selected'])} of {scores['dataset']}; percent, with {100 * scores['level']:.0f} % intervals"
    return f"<table><caption>{html.escape(about)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _questions(count: int) -> str:
    return f"{count} question{'' if count == 1 else 's'}"


def _percent(value: float | None, interval: Sequence[float] | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.1f}" + (f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else "")
