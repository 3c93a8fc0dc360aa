"""The package as it is installed, over runs of the baseline; scripts/python.sh starts it."""

import contextlib
import datetime
import doctest
import importlib.util
import inspect
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import typing
import unittest
import warnings
from pathlib import Path

import wikitrail
from wikitrail import _program, types


def quietly(call, *args, **flags):
    with contextlib.redirect_stderr(io.StringIO()):
        return call(*args, **flags)


class OfARun(unittest.TestCase):
    """One run of two variants, which nothing changes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name) / "two"
        cls.made = quietly(wikitrail.run, out=cls.out, method=["react", "cot"], limit=6)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_is_read_again(self):
        again = wikitrail.read_run(str(self.out))
        self.assertEqual([variant["name"] for variant in again.manifest["variants"]], ["react", "cot"])
        self.assertEqual(repr(again), f"<Run {str(self.out)!r}: 6 questions of 'sample' by 'react', 'cot'>")
        self.assertEqual(repr(wikitrail.Run("none")), "<Run 'none', which cannot be read>")

    def test_a_run_is_a_path_with_episodes(self):
        self.assertEqual(os.fspath(self.made), str(self.out))
        self.assertEqual(len(self.made), 12)
        self.assertEqual([episode["key"] for episode in self.made], [episode["key"] for episode in self.made.episodes()])
        # The program has not started before the first episode is asked for.
        self.assertTrue(inspect.isgenerator(iter(self.made)))
        self.assertEqual(wikitrail.read_run(self.made).path, self.out)

    def test_notebooks_show_a_table(self):
        table = self.made._repr_html_()
        for variant in self.made.scores():
            em, (low, high) = 100 * variant["em"], variant["em_wilson"]
            cells = [variant["name"], f"{em:.1f} [{100 * low:.1f}, {100 * high:.1f}]"]
            self.assertIn("".join(f"<td>{cell}</td>" for cell in cells), table)
        self.assertEqual(table.count("<td>6</td><td>0</td>"), 2)
        with tempfile.TemporaryDirectory(prefix="<b>&") as folder:
            shutil.copytree(self.out, Path(folder) / "copy")
            manifest = Path(folder) / "copy" / "manifest.json"
            manifest.write_text(manifest.read_text(encoding="utf-8").replace('"sample"', '"<script>"'), encoding="utf-8")
            table = quietly(wikitrail.read_run(Path(folder) / "copy")._repr_html_)
            self.assertNotRegex(table, "<(b|script)>")
            self.assertIn("&lt;script&gt;", table)
            self.assertNotIn("<b>", quietly(wikitrail.Run(Path(folder) / "none")._repr_html_))

    def test_commands_are_functions(self):
        folder = self.out.parent
        page = quietly(wikitrail.report, self.made, out=folder / "page.html")
        self.assertTrue(page.read_text(encoding="utf-8").startswith("<!doctype html>"))
        self.assertTrue((quietly(wikitrail.report, self.made, figures=folder / "charts") / "scores.svg").is_file())
        steps = quietly(wikitrail.export, self.made, out=folder / "steps.jsonl", rows="steps", variant="react")
        self.assertEqual(len(steps.read_text(encoding="utf-8").splitlines()), len(list(self.made.steps(variant="react"))))
        listed = wikitrail.list(self.made)
        self.assertEqual({(row["name"], row["episodes"]) for row in listed}, {("react", 6), ("cot", 6)})
        self.assertEqual(len(wikitrail.score(self.made, per_item=True)["items"]), 12)
        (folder / "gold.jsonl").write_text('{"id": "a", "question": "q", "answer": "x"}\n', encoding="utf-8")
        (folder / "own.jsonl").write_text('{"id": "a", "answer": "x"}\n', encoding="utf-8")
        scores = wikitrail.score(gold=folder / "gold.jsonl", predictions=folder / "own.jsonl", metric="aliases")
        self.assertEqual(scores["aggregate"]["em"], 1)
        with self.assertRaisesRegex(ValueError, "is to be a path"):
            wikitrail.export(self.made, out="-")
        with self.assertRaises(wikitrail.WikitrailError) as caught:
            quietly(wikitrail.list, folder / "nothing")
        self.assertEqual((caught.exception.code, bool(caught.exception.hint)), (3, True))

    def test_several_runs_are_one_frame(self):
        other = quietly(wikitrail.run, [{"question": "?", "answer": "x", "topic": "t"}], out=self.out.parent / "other")
        frame = wikitrail.frame([self.made, other])
        self.assertEqual(sorted(frame["run"]), ["other", *["two"] * 12])
        self.assertEqual(sorted(wikitrail.frame(other, rows="steps")["id"])[0], "questions-0")
        shutil.rmtree(other)

    def test_episodes_have_the_fields_of_their_types(self):
        episodes = list(self.made.episodes())
        self.assertEqual(len(episodes), 12)
        for episode in episodes:
            fields = set(episode)
            self.assertLessEqual(types.Episode.__required_keys__, fields)
            self.assertLessEqual(fields, set(typing.get_type_hints(types.Episode)))
            self.assertLessEqual(set(episode["score"]), {"em", "f1", "precision", "recall"})
            for step in episode["steps"]:
                self.assertLessEqual(types.Step.__required_keys__, set(step))
                self.assertLessEqual(set(step), set(typing.get_type_hints(types.Step)))
        for value, kind in ((self.made.manifest, types.Manifest), (self.made.manifest["variants"][0], types.Variant)):
            self.assertLessEqual(kind.__required_keys__, set(value))
            self.assertLessEqual(set(value), set(typing.get_type_hints(kind)))

    def test_what_the_program_says_of_a_damaged_run_is_not_lost(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.out, Path(folder) / "copy")
            records = Path(folder) / "copy" / "trajectories.jsonl"
            text = records.read_text(encoding="utf-8").splitlines(keepends=True)
            records.write_text("".join(["garbage\n", *text[1:]]), encoding="utf-8")
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(len(list(wikitrail.read_run(Path(folder) / "copy").episodes())), 11)
            self.assertIn("trajectories.jsonl:1", said.getvalue())
            (Path(folder) / "copy" / "manifest.json").write_text("{", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "manifest.json"):
                wikitrail.read_run(Path(folder) / "copy")

    def test_flags_that_would_change_what_is_returned_are_refused(self):
        for call in (
            lambda: wikitrail.compare(self.out, out="c.json"),
            lambda: wikitrail.run(out="none", dry_run=True),
            lambda: self.made.episodes(out="x"),
            lambda: wikitrail.score(self.made, quiet=True),
        ):
            with self.assertRaisesRegex(ValueError, "is not an argument here"):
                call()

    def test_a_condition_that_holds_keeps_the_comparison(self):
        with self.assertRaises(wikitrail.WikitrailError) as caught:
            quietly(wikitrail.compare, self.out, fail_if="em(react) >= 0")
        self.assertEqual(caught.exception.code, 5)
        self.assertEqual(json.loads(caught.exception.output)["columns"][0]["name"], "react")

    def test_columns_that_flags_add_have_their_kind(self):
        for library in ("pandas", "polars"):
            if importlib.util.find_spec(library):
                frame = quietly(self.made.frame, "steps", library, with_prompts=True)
                self.assertIn("prompt_text", list(frame.columns))

    def test_filters_are_flags(self):
        self.assertEqual({episode["variant"] for episode in self.made.episodes(variant="cot")}, {"cot"})
        wrong = list(self.made.questions(wrong=True))
        self.assertTrue(wrong and all(row["em"] == 0 for row in wrong))

    def test_rows_have_the_columns_of_their_types(self):
        for rows, kind, kinds in (
            (self.made.questions(), types.QuestionRow, types.QUESTION_KINDS),
            (self.made.steps(), types.StepRow, types.STEP_KINDS),
        ):
            of = {"text": str, "int": int, "real": float, "bool": bool}
            self.assertEqual(set(typing.get_type_hints(kind)), set(kinds))
            for row in rows:
                for column, name in kinds.items():
                    self.assertIsInstance(row[column], (of[name], type(None)), column)

    def test_scores_are_those_of_the_episodes(self):
        for scores in self.made.scores():
            self.assertLessEqual(set(typing.get_type_hints(types.VariantScores)), set(scores))
            em = [episode["score"]["em"] for episode in self.made.episodes(variant=scores["name"])]
            self.assertAlmostEqual(scores["em"], sum(em) / len(em))

    def test_a_reader_may_stop_early(self):
        episodes = self.made.episodes()
        self.assertEqual(next(episodes)["repeat"], 0)
        episodes.close()

    def test_comparisons_have_a_verdict(self):
        verdict = wikitrail.compare(self.out, metric="em")["metrics"][0]["pairs"][0]
        self.assertIn("react", json.dumps(verdict))

    def test_what_the_program_refuses_is_an_error_with_its_hint(self):
        with self.assertRaises(wikitrail.WikitrailError) as caught:
            quietly(wikitrail.run, out=self.out, limit=6)
        self.assertEqual(caught.exception.code, 3)
        self.assertTrue(caught.exception.message and caught.exception.hint, caught.exception)
        with self.assertRaises(wikitrail.WikitrailError) as caught:
            list(self.made.episodes(outcome="nonsense"))
        self.assertEqual(caught.exception.code, 2)
        with self.assertRaises(FileNotFoundError):
            wikitrail.read_run(self.out / "nothing")

    def test_unmeasured_episodes_are_a_warning(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            flags = {"limit": 1, "model": "openai:m", "base_url": "http://127.0.0.1:9/v1", "model_attempts": 1}
            run = quietly(wikitrail.run, out=self.out.parent / "dead", **flags)
        self.assertEqual([one.category for one in caught], [wikitrail.WikitrailWarning])
        self.assertEqual([episode["score"] for episode in run.episodes()], [None])

    def test_a_path_is_no_flag(self):
        with contextlib.chdir(self.out.parent):
            with self.assertRaises(wikitrail.WikitrailError) as caught:
                quietly(wikitrail.run, "--help", out="help")
        self.assertEqual(caught.exception.code, 3)

    def test_frames_are_typed(self):
        libraries = [name for name in ("pandas", "polars") if importlib.util.find_spec(name)]
        if not libraries:
            columns = self.made.frame()
            self.assertEqual({name: len(column) for name, column in columns.items()}, dict.fromkeys(columns, 12))
            self.assertEqual(set(self.made.frame(outcome="budget")), set(columns))
            with self.assertRaises(ImportError):
                self.made.frame(library="pandas")
        for library in libraries:
            questions, steps = self.made.frame(library=library), self.made.frame("steps", library=library, variant="react")
            self.assertEqual(len(questions), 12)
            self.assertEqual(len(steps), len(list(self.made.steps(variant="react"))))
            texts = {str(questions[column].dtype).lower() for column in ("id", "prediction", "cost_usd")}
            self.assertEqual(texts, {"string", "float64"})
            self.assertEqual(len(self.made.frame(library=library, outcome="budget")), 0)
        with self.assertRaises(ValueError):
            self.made.frame(library="numpy")


class OfRows(unittest.TestCase):
    """Datasets that are in memory."""

    def asked(self, dataset, **flags):
        with tempfile.TemporaryDirectory() as folder:
            out = quietly(wikitrail.run, dataset, out=Path(folder) / "run", **flags)
            text = (out.path / "questions.jsonl").read_text(encoding="utf-8")
        return [(row["id"], row["answers"], row.get("meta")) for row in map(json.loads, text.splitlines())]

    def test_dictionaries(self):
        nan = float("nan")
        rows = [
            {"question": "a", "answer": 3.5},
            {"question": "b", "answer": "no", "answers": ["x", None, True], "id": "own"},
            {"question": "c", "answer": None, "topic": datetime.date(2020, 1, 2)},
            {"question": "d", "answers": nan, "answer": "x", "topic": nan},
        ]
        wanted = [
            ("questions-0", ["3.5"], None),
            ("own", ["x", "yes"], {"answer": "no"}),
            ("questions-2", [], {"topic": "2020-01-02"}),
            ("questions-3", ["x"], None),
        ]
        self.assertEqual(self.asked(rows), wanted)
        self.assertEqual(self.asked(iter(rows), limit=1), wanted[:1])
        self.assertEqual(self.asked([{"Frage": "a", "Antwort": 1}], question_column="Frage", answer_column="Antwort")[0][1], ["1"])

    def test_a_run_of_rows_is_resumed(self):
        rows = [{"question": "a", "answer": "x"}, {"question": "b", "answer": "y"}]
        with tempfile.TemporaryDirectory() as folder:
            quietly(wikitrail.run, rows, out=Path(folder) / "run", limit=1)
            self.assertEqual(len(quietly(wikitrail.run, rows, out=Path(folder) / "run", resume=True)), 2)

    def test_an_error_names_row_and_field(self):
        good = {"question": "a", "answer": "x"}
        for rows, said in (
            ([good, {"Question": "a"}], r"row 1, field 'question': expected a text, the row has \['Question'\]"),
            ([{"question": float("nan")}], "row 0, field 'question': expected a text, found nan"),
            ([good, good, {**good, "answer": [["x"]]}], "row 2, field 'answer': expected a text, a number"),
            ([{**good, "answers": {"text": "x"}}], r"row 0, field 'answers': .*found \{'text': 'x'\}"),
            ([{**good, "topic": object()}], "row 0, field 'topic': expected a value that JSON has"),
            ([{**good, "answer": float("inf")}], "row 0, field 'answer': expected a number that JSON has, found inf"),
            ([{**good, 3: 4}], "row 0, field 3"),
            ([good, "b"], "row 1: it is of type str; expected a dictionary"),
            ([], "no rows"),
            ({"question": ["a"]}, "dataset is of type dict; expected a path, a data frame"),
            (7, "dataset is of type int"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), said):
                wikitrail.run(rows, out="none")
        self.assertFalse(Path("none").exists())

    def test_frames_of_pandas(self):
        if not importlib.util.find_spec("pandas"):
            self.skipTest("pandas is not installed")
        import numpy as np
        import pandas as pd

        # Beside a missing value, whole numbers are floats in pandas.
        frame = pd.DataFrame({"question": ["a", "b"], "answer": [1943, None], "id": [7, 8], "n": [0.5, None]})
        self.assertEqual(self.asked(frame), [("7", ["1943"], {"n": 0.5}), ("8", [], None)])
        frame = pd.DataFrame({"question": ["a", "b"], "answers": [["x", "y"], np.array(["z"])], "at": pd.to_datetime(["2020-01-02", None])})
        self.assertEqual([row[1] for row in self.asked(frame)], [["x", "y"], ["z"]])
        with self.assertRaisesRegex(ValueError, "row 1, field 'question'"):
            wikitrail.run(pd.DataFrame({"question": ["a", None], "answer": ["x", "y"]}), out="none")

    def test_frames_of_polars(self):
        if not importlib.util.find_spec("polars"):
            self.skipTest("polars is not installed")
        import polars as pl

        frame = pl.DataFrame({"question": ["a", "b"], "answers": [["x", "y"], None], "answer": [None, 1943]})
        self.assertEqual(self.asked(frame), [("questions-0", ["x", "y"], None), ("questions-1", ["1943"], None)])
        with self.assertRaisesRegex(TypeError, "LazyFrame"):
            wikitrail.run(frame.lazy(), out="none")


class OfThePackage(unittest.TestCase):
    def test_the_builtin_list_stays(self):
        names = {}
        exec("from wikitrail import *", names)
        self.assertNotIn("list", names)
        self.assertTrue(set(wikitrail.__all__) <= set(names))

    def test_examples(self):
        self.assertEqual(doctest.testmod(_program).failed, 0)

    def test_the_program_is_the_one_beside_it(self):
        self.assertTrue(Path(wikitrail.program()).is_relative_to(sys.prefix), wikitrail.program())
        said = subprocess.run([sys.executable, "-m", "wikitrail", "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout.split()[:2], ["wikitrail", wikitrail.__version__])


if __name__ == "__main__":
    unittest.main()
