"""Runs of wikitrail, read and started from Python.

The program does the work; this package starts it and gives its answers types.

>>> import wikitrail
>>> run = wikitrail.run(method=["react", "cot"], limit=10, out="results/two")
>>> for episode in run.episodes():
...     print(episode["variant"], episode["id"], episode["answer"], episode["score"])
>>> run.frame().groupby("variant")["em"].mean()
>>> print(wikitrail.compare("results/two")["metrics"][0]["pairs"][0]["verdict"]["sentence"])
"""

from ._program import WikitrailError, WikitrailWarning, program
from ._run import Run, compare, read_run, run
from .types import Episode, Manifest, QuestionRow, Step, StepRow, VariantScores

__all__ = [
    "Episode",
    "Manifest",
    "QuestionRow",
    "Run",
    "Step",
    "StepRow",
    "VariantScores",
    "WikitrailError",
    "WikitrailWarning",
    "compare",
    "program",
    "read_run",
    "run",
]
