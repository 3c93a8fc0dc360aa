"""Questions that are in memory, as a file for the program."""

from __future__ import annotations

import decimal
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _program
from ._program import Flag

EXPECTED = "a path, a data frame of pandas or polars, or dictionaries with `question` and `answer` or `answers`"


@contextmanager
def named(dataset: Any, flags: Mapping[str, Flag]) -> Iterator[list[str]]:
    """The dataset as arguments of the program: no argument for `None`, a path as it is, and rows as a file that exists until
    the program has ended.

    The file has always the same name, of which the ids of questions without one are made: a resumed run finds them again.
    """
    if dataset is None:
        yield []
    elif isinstance(dataset, (str, os.PathLike)):
        yield [_program.path(dataset)]
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "questions.jsonl"
            _write(_rows(dataset), path, flags)
            yield [os.fspath(path)]


def _rows(dataset: Any) -> Iterable[Any]:
    rows: Iterable[Any]
    if hasattr(dataset, "to_dicts"):
        rows = dataset.to_dicts()
    elif hasattr(dataset, "convert_dtypes"):
        # pandas has integers beside a missing value as floats: the answer 1943 would be 1943.0.
        rows = dataset.convert_dtypes().to_dict("records")
    elif isinstance(dataset, Iterable) and not isinstance(dataset, (bytes, Mapping)):
        rows = dataset
    else:
        raise TypeError(f"dataset is of type {type(dataset).__name__}; expected {EXPECTED}")
    return rows


def _write(rows: Iterable[Any], path: Path, flags: Mapping[str, Flag]) -> None:
    question = str(flags.get("question_column") or "question")
    answers = {str(flags["answer_column"])} if flags.get("answer_column") else {"answer", "answers"}
    at = -1
    with path.open("w", encoding="utf-8") as file:
        for at, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise TypeError(f"dataset, row {at}: it is of type {type(row).__name__}; expected a dictionary")
            values = {name: _value(value, at, name, name in answers) for name, value in row.items()}
            asked = values.get(question)
            if not isinstance(asked, str) or not asked.strip():
                what = f"found {_shown(row[question])}" if question in row else f"the row has {_shown(list(row))}"
                raise ValueError(f"dataset, row {at}, field {question!r}: expected a text, {what}")
            # A value that is missing is a field that is absent.
            json.dump({name: value for name, value in values.items() if value is not None}, file, allow_nan=False)
            file.write("\n")
    if at < 0:
        raise ValueError("the dataset has no rows")


def _value(value: Any, at: int, name: Any, is_answer: bool) -> Any:
    """A value as JSON has it, with `None` for what is missing."""
    try:
        plain = as_json(value)
        if is_answer:
            plain = [one for one in plain if one is not None] if isinstance(plain, list) else plain
            for one in plain if isinstance(plain, list) else [plain]:
                if isinstance(one, (list, dict)):
                    raise TypeError("expected a text, a number, a truth value or a list of these")
        if not isinstance(name, str):
            raise TypeError("expected a text as the field's name")
    except (TypeError, ValueError) as error:
        raise type(error)(f"dataset, row {at}, field {name!r}: {error}, found {_shown(value)}") from None
    return plain


def as_json(value: Any) -> Any:
    # pandas has values of its own for what is missing, which are not even equal to themselves.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            raise ValueError("expected a number that JSON has")
        return None if value != value else value
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    if hasattr(value, "tolist"):
        return as_json(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else str(value)
    raise TypeError(f"expected a value that JSON has, not one of type {type(value).__name__}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
