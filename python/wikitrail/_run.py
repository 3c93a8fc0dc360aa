"""A run's folder, and the commands that make and compare runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _program
from ._program import Flag
from .types import QUESTION_KINDS, STEP_KINDS, Episode, Manifest, QuestionRow, StepRow, VariantScores

if TYPE_CHECKING:
    StrPath = str | os.PathLike[str]


class Run:
    """A folder that `wikitrail run` made.

    Nothing is kept: each call reads the folder again, so a run that goes on can be read while it does.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.path)!r})"

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
        return cast("list[VariantScores]", next(_program.lines(["score", _program.path(self.path), "--json"]))["variants"])

    def frame(
        self, rows: Literal["questions", "steps"] = "questions", library: Literal["pandas", "polars"] | None = None, **filters: Flag
    ) -> Any:
        """The rows as a data frame with typed columns: of pandas where it is installed, else of polars."""
        kinds = QUESTION_KINDS if rows == "questions" else STEP_KINDS
        return _frame(list(_program.lines(self._export(rows=rows, **filters))), kinds, library)

    def _export(self, **flags: Flag) -> list[str]:
        _program.refuse(flags, ("out", "format"), "rows are returned; `wikitrail export` writes files")
        return ["export", _program.path(self.path), "--format=jsonl", *_program.arguments(flags)]


def read_run(path: StrPath) -> Run:
    """The run in this folder. Raises `WikitrailError` or `FileNotFoundError` where no run is there."""
    run = Run(path)
    if "variants" not in run.manifest:
        raise ValueError(f"{os.fspath(path)!r} has a manifest.json, but of something else than a run")
    return run


def run(dataset: StrPath | None = None, *, out: StrPath, **flags: Flag) -> Run:
    """Runs `wikitrail run DATASET --out OUT` with further flags, and returns the run.

    `run("my.csv", out="results/a", model="openai:gpt-4o-mini", limit=50)`; without a dataset it is the sample. Its messages
    appear on standard error. Episodes that could not be measured give a `WikitrailWarning`.
    """
    _program.refuse(flags, ("dry_run",), "it makes no run to return; `wikitrail run --dry-run` prints what one would take")
    named = [] if dataset is None else [_program.path(dataset)]
    _program.call(["run", *named, *_program.arguments({"out": out, "quiet": True, **flags})])
    return read_run(out)


def compare(*runs: StrPath, **flags: Flag) -> dict[str, Any]:
    """What `wikitrail compare RUN... --json` says: tests, intervals, and a verdict in words for each pair of variants.

    A condition of `fail_if` that holds is a `WikitrailError` with the code 5, whose `output` is the comparison as JSON.
    """
    _program.refuse(flags, ("out", "format"), "the comparison is returned; `wikitrail compare` writes files")
    said = _program.call(["compare", *map(_program.path, runs), "--json", *_program.arguments(flags)])
    return cast("dict[str, Any]", json.loads(said))


def _frame(rows: list[dict[str, Any]], kinds: dict[str, str], library: str | None) -> Any:
    names = list(rows[0]) if rows else list(kinds)

    def added(name: str) -> str:
        # Datasets, metrics and flags add columns of texts or of numbers.
        return "text" if name.startswith("meta.") or any(isinstance(row[name], str) for row in rows) else "real"

    of = {name: kinds.get(name) or added(name) for name in names}
    if library not in (None, "pandas", "polars"):
        raise ValueError(f"library is {library!r}, but is to be 'pandas' or 'polars'")
    if library != "polars":
        try:
            import pandas as pd

            types = {"text": "string", "int": "Int64", "real": "float64", "bool": "boolean"}
            columns = {name: pd.Series([row[name] for row in rows], dtype=types[of[name]]) for name in names}
            return pd.DataFrame(columns)
        except ImportError:
            if library == "pandas":
                raise
    try:
        import polars as pl
    except ImportError:
        message = "a data frame needs pandas or polars: pip install 'wikitrail[pandas]'"
        raise ImportError(message) from None
    schema = {"text": pl.String, "int": pl.Int64, "real": pl.Float64, "bool": pl.Boolean}
    return pl.DataFrame(rows, schema={name: schema[kind] for name, kind in of.items()})
