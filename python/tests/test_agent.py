"""Python functions as agents, before a model whose answers are written here; scripts/python.sh starts it."""

import asyncio
import contextlib
import http.client
import http.server
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import wikitrail
from wikitrail import _agent


def quietly(call, *args, **flags):
    with contextlib.redirect_stderr(io.StringIO()):
        return call(*args, **flags)


class Scripted(http.server.BaseHTTPRequestHandler):
    """A model that says `Rome` to every question, and keeps what it was asked."""

    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body["model"]))
        message = {"role": "assistant", "content": "Rome"}
        usage = {"prompt_tokens": 7, "completion_tokens": 1}
        answer = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):
        pass


def chat(question):
    """Asks the model, as a client of OpenAI's API does."""
    client = question.openai
    body = json.dumps({"model": question.model, "messages": [{"role": "user", "content": question.question}]}).encode()
    headers = {"Authorization": f"Bearer {client['api_key']}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(client["base_url"] + "/chat/completions", body, headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


class OfFunctions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "run"

    def run_of(self, agent, **flags):
        return quietly(wikitrail.run, out=self.out, agent=agent, **flags)

    def outcomes(self, agent, count=1, **flags):
        run = self.run_of(agent, limit=count, **flags)
        return [(episode["outcome"], episode["answer"], episode.get("detail")) for episode in run]

    def test_its_models_and_tools_are_recorded(self):
        model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        self.addCleanup(model.server_close)
        self.addCleanup(model.shutdown)
        said = {}

        def agent(question):
            said[question.id] = [
                question.search("Ada Lovelace"),
                question.lookup("Menabrea"),
                question.passages("theatre of Aida", 2),
                question.passages("theatre of Aida"),
                question.document("3.0"),
            ]
            with self.assertRaisesRegex(ValueError, "^document: .*nope"):
                question.document("nope")
            return {"answer": chat(question), "confidence": 0.75}

        questions = [{"id": "a", "question": "Where?", "answer": "Rome"}, {"id": "b", "question": "When?", "answer": "1871"}]
        base_url = f"http://127.0.0.1:{model.server_port}/v1"
        run = self.run_of(agent, dataset=questions, model="openai:small", base_url=base_url)
        self.assertEqual(Scripted.asked, [("/v1/chat/completions", "small")] * 2)
        self.assertEqual([score["em"] for score in run.scores()], [0.5])
        for episode in run:
            tools = ["search", "lookup", "passages", "passages", "document", "document", "finish"]
            self.assertEqual([step["tool"] for step in episode["steps"]], tools)
            self.assertEqual([step["observation"] for step in episode["steps"][:5]], said[episode["id"]])
            self.assertEqual((episode["answer"], episode["scores"]["confidence"]), ("Rome", 0.75))
            self.assertEqual(episode["usage"], {"prompt_tokens": 7, "completion_tokens": 1})

    def test_a_question_hides_its_key(self):
        seen = []
        self.outcomes(seen.append)
        (question,) = seen
        self.assertEqual((question.id, question.model), ("sample-001", None))
        self.assertEqual(set(question.models), {"openai", "anthropic", "gemini"})
        self.assertEqual(question.anthropic, {"base_url": question.models["anthropic"], "api_key": question.key})
        self.assertEqual(question.gemini["http_options"], {"base_url": question.models["gemini"]})
        self.assertNotIn(question.key, repr(question))

    def test_what_may_be_returned(self):
        for given, answer in (
            ("two\nlines", "two\nlines"),
            (1943, "1943"),
            (0.5, "0.5"),
            (False, "no"),
            ({"answer": "\ud800x", "more": 1}, "?x"),
        ):
            self.assertEqual(self.outcomes(lambda _, given=given: given), [("finished", answer, None)])
            self.setUp()

    def test_no_answer(self):
        for given in (None, {"answer": None}, float("nan")):
            ((outcome, answer, detail),) = self.outcomes(lambda _, given=given: given)
            self.assertEqual((outcome, answer), ("agent_failure", None))
            self.assertIn("without an answer", detail)
            self.setUp()

    def test_what_may_not_be_returned(self):
        for given, said in (
            (["x"], "TypeError: the agent returned a list as its answer; expected a text, a number or None"),
            ({"text": "x"}, "ValueError: the agent returned a dictionary without `answer`, with ['text']"),
            ({"answer": "x", "confidence": object()}, "TypeError: the confidence that the agent returned: expected a value that JSON has"),
        ):
            ((outcome, _, detail),) = self.outcomes(lambda _, given=given: given)
            self.assertEqual(outcome, "agent_failure")
            self.assertIn(f"status 500: {said}", detail)
            self.setUp()

    def test_an_exception_fails_its_episode(self):
        def agent(question):
            if question.id == "sample-001":
                raise KeyError("one")
            if question.id == "sample-002":
                sys.exit("two")
            return "x"

        async def coroutine(question):
            return agent(question)

        for one in (agent, coroutine):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                run = wikitrail.run(out=self.out, agent=one, limit=3)
            self.assertEqual([episode["outcome"] for episode in run], ["agent_failure", "agent_failure", "finished"])
            first, second, _ = (episode.get("detail") for episode in run)
            lines = [r'File ".*test_agent.py", line \d+, in agent', r'raise KeyError\("one"\)', "KeyError: 'one'$"]
            self.assertRegex(first, r"status 500: .*" + " ".join(lines))
            self.assertRegex(second, r" SystemExit: two$")
            self.assertNotIn("_agent.py\", line", first.replace("test_agent.py", ""))
            # The first one is shown, whichever it was.
            self.assertEqual(said.getvalue().count("Traceback"), 1)
            self.assertIn("the agent failed at question 'sample-00", said.getvalue())
            self.setUp()

    def test_a_long_exception_is_cut(self):
        def agent(question):
            raise ValueError("x" * 100_000)

        ((_, _, detail),) = self.outcomes(agent)
        self.assertLess(len(detail), 1000)

    def test_many_at_once(self):
        # Each call waits until all have begun.
        rows = [{"question": f"{at}?", "answer": at} for at in range(64)]
        everybody, everybody_async, threads = threading.Barrier(64), asyncio.Event(), []

        def agent(question):
            everybody.wait()
            return question.question.strip("?")

        async def coroutine(question):
            threads.append(threading.current_thread())
            if len(threads) == 64:
                everybody_async.set()
            await everybody_async.wait()
            return question.question.strip("?")

        for one in (agent, coroutine):
            self.assertEqual(self.run_of(one, dataset=rows, concurrency=64).scores()[0]["em"], 1)
            self.setUp()
        self.assertEqual(len(set(threads)), 1)

    def test_an_episode_that_takes_too_long_has_failed(self):
        async def agent(question):
            await asyncio.Event().wait()

        ((outcome, _, detail),) = self.outcomes(agent, agent_timeout=0.1)
        self.assertEqual(outcome, "agent_failure")
        self.assertIn("longer than 0.1 s", detail)

    def test_other_programs_cannot_call_it(self):
        calls, found = [], []

        def agent(question):
            calls.append(question.id)
            words = wikitrail.Run(self.out).manifest["command_line"]
            address = urllib.parse.urlsplit(next(word.removeprefix("--agent=") for word in words if "http://127" in word))
            found.append(address)
            for method, path in (("POST", "/"), ("POST", address.path[:-1]), ("POST", address.path + "/"), ("GET", address.path)):
                connection = http.client.HTTPConnection(address.hostname, address.port)
                connection.request(method, path)
                self.assertIn(connection.getresponse().status, (404, 501))
                connection.close()
            return "x"

        self.assertEqual([outcome for outcome, *_ in self.outcomes(agent)], ["finished"])
        self.assertEqual(calls, ["sample-001"])
        (address,) = found
        self.assertEqual(address.hostname, "127.0.0.1")
        # It has ended with the run.
        with self.assertRaises(ConnectionRefusedError):
            http.client.HTTPConnection(address.hostname, address.port).connect()

    def test_a_run_is_resumed(self):
        answered = []

        def agent(question):
            answered.append(question.id)
            return "x"

        self.run_of(agent, limit=2)
        self.assertEqual(len(self.run_of(agent, limit=4, resume=True)), 4)
        self.assertEqual(sorted(answered), ["sample-001", "sample-002", "sample-003", "sample-004"])
        # A folder without a run is the program's to judge.
        self.out = self.out.parent / "new"
        with contextlib.suppress(wikitrail.WikitrailError):
            self.run_of(agent, limit=1, resume=True)

    def test_it_ends_with_a_run_that_fails(self):
        before = threading.active_count()
        with self.assertRaises(wikitrail.WikitrailError):
            self.run_of(lambda question: "x", limit=1, no_such_flag=True)
        self.assertEqual(threading.active_count(), before)

    def test_it_ends_with_an_interrupt(self):
        if os.name != "posix":
            self.skipTest("signals of a terminal are of POSIX")
        code = f"""
import asyncio, signal, threading, wikitrail

# A test that is started in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)

async def agent(question):
    try:
        print("here", flush=True)
        await asyncio.Event().wait()
    finally:
        print("cancelled", flush=True)

try:
    wikitrail.run(out={str(self.out)!r}, agent=agent, limit=1)
except KeyboardInterrupt:
    print([thread.name for thread in threading.enumerate() if "wikitrail" in thread.name])
"""
        arguments = [sys.executable, "-c", code]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as child:
            self.assertEqual(child.stdout.readline(), "here\n")
            # The first one lets the episode end, the second one does not.
            os.killpg(child.pid, signal.SIGINT)
            said = next(line for line in child.stderr if line.startswith("stopping"))
            self.assertIn("press Ctrl-C again", said)
            os.killpg(child.pid, signal.SIGINT)
            printed, errors = child.communicate()
        self.assertEqual((printed, child.returncode), ("cancelled\n[]\n", 0), errors)
        self.assertEqual((self.out / "trajectories.jsonl").read_text(encoding="utf-8"), "")

    def test_a_text_is_a_command_or_an_address(self):
        script = self.out.parent / "answer.py"
        script.write_text("print('x')", encoding="utf-8")
        self.assertEqual(self.outcomes(f"{sys.executable} {script}"), [("finished", "x", None)])

    def test_other_values_are_refused(self):
        for agent in (7, ["x"], Path("agent.py")):
            with self.assertRaisesRegex(TypeError, "expected a function of a question, a command or an address"):
                wikitrail.run(out=self.out, agent=agent)
        with self.assertRaisesRegex(ValueError, "dry_run is not an argument here"):
            wikitrail.run(out=self.out, agent=print, dry_run=True)
        self.assertFalse(self.out.exists())


class OfAddresses(unittest.TestCase):
    def test_a_coroutine_is_cancelled_once_the_program_has_left(self):
        begun, cancelled = threading.Event(), threading.Event()

        async def agent(question):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        with _agent.served(agent) as served:
            address = urllib.parse.urlsplit(served)
            connection = http.client.HTTPConnection(address.hostname, address.port)
            connection.request("POST", address.path, json.dumps({"id": "a", "question": "?", "tools": {}, "models": {}, "key": ""}))
            begun.wait()
            connection.close()
            cancelled.wait()

    def test_records_name_the_function_and_its_source(self):
        with _agent.served(len) as address:
            self.assertEqual(urllib.parse.urlsplit(address).fragment, "builtins.len")
        with _agent.served(lambda question: "x") as address:
            self.assertRegex(urllib.parse.urlsplit(address).fragment, r"lambda%3E%40[0-9a-f]{12}$")


if __name__ == "__main__":
    unittest.main()
