"""Runs of wikitrail, read and started from Python.

The program does the work; this package starts it and gives its answers types.

>>> import wikitrail
>>> run = wikitrail.run(method=["react", "cot"], limit=10, out="results/two")
>>> for episode in run.episodes():
...     print(episode["variant"], episode["id"], episode["answer"], episode["score"])
>>> run.frame().groupby("variant")["em"].mean()
>>> print(wikitrail.compare("results/two")["metrics"][0]["pairs"][0]["verdict"]["sentence"])
"""

from importlib import metadata as _metadata

from ._agent import Agent, Answer
from ._program import WikitrailError, WikitrailWarning, program
from ._question import Question
from ._run import Run, compare, export, frame, list_runs, read_run, report, run, score
from .types import Episode, Manifest, QuestionRow, Step, StepRow, VariantScores

try:
    __version__ = _metadata.version("wikitrail")
except _metadata.PackageNotFoundError:
    # A clone that is on the path without being installed.
    __version__ = "unknown"

# Not in `__all__`: `from wikitrail import *` leaves the builtin alone.
list = list_runs

__all__ = [
    "Agent",
    "Answer",
    "Episode",
    "Manifest",
    "Question",
    "QuestionRow",
    "Run",
    "Step",
    "StepRow",
    "VariantScores",
    "WikitrailError",
    "WikitrailWarning",
    "__version__",
    "compare",
    "export",
    "frame",
    "program",
    "read_run",
    "report",
    "run",
    "score",
]
