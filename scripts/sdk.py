"""The runs of scripts/sdk.sh: the program against a server that holds every request to the types of the official Python SDKs, and
answers with their response classes.

    sdk.py PROGRAM WORK

The name of a model is the number of a scenario; the server answers its requests about a question in the order of the scenario's
replies.
"""

import itertools
import json
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sdk_apis import APIS, FINISH_REASONS, Gemini, Messages, Reply, Responses, lacking

KEY = "sk-test-0123456789"
# Faults of this file, or of its tables.
own_faults = []


@dataclass
class Row:
    """One call of the program, and what its model answers."""
    api: str
    name: str
    replies: list
    flags: list = field(default_factory=list)
    questions: int = 1
    # `ask`, which streams, in place of `run`.
    ask: bool = False
    # Fields that the SDK's types lack and the server takes: paths without numbers of items. Each has to be sent.
    extra: tuple = ()
    # Fields that the server refuses.
    refuses: tuple = ()
    # What has to be in the first body.
    sends: dict = field(default_factory=dict)
    # What has to be in the record, beside what the replies say.
    outcome: str = "finished"
    answer: str = ""
    failure: str = ""
    repairs: tuple = ()


# The scenarios -------------------------------------------------------------------------------------------------------

ANSWER = Reply("Answer: 1943")
DIRECT = ["--method", "standard", "--shots", "1"]


def agent(second="Thought 2: It says 1943.\nAction 2: Finish[1943]", **more):
    return [Reply("Thought 1: I look for the element.\nAction 1: Search[Hafnium]", **more), Reply(second, **more)]


def search(**more):
    return Reply(calls=[("search", '{"query": "Hafnium"}')], **more)


def finish(**more):
    return Reply(calls=[("finish", '{"answer": "1943"}')], **more)


def reasons(api):
    """Every reason of the SDK, with a text and without one, whole and streamed."""
    for reason in lacking(api, FINISH_REASONS):
        own_faults.append(f"{api.name}: the table of docs/models.md lacks the SDK's reason {reason}")
    for reason, ask in itertools.product(api.reasons, (False, True)):
        if ask and api.finish(reason) is None:
            # A stream that does not say how it ended may have been cut.
            yield Row(api.name, f"reason {reason}", [Reply(ANSWER.text, reason=reason)], [*DIRECT, "--model-attempts", "1"], ask=True,
                      outcome="not_measured", failure="bad_answer")
            continue
        outcome = api.outcome(reason)
        once = ["--model-attempts", "1"]
        failed = {"flags": [*DIRECT, *once], "outcome": "not_measured", "failure": "server_error"}
        measured = {"flags": DIRECT, "answer": "1943"}
        spoken = failed if outcome == "failure of the server" else measured
        yield Row(api.name, f"reason {reason}", [Reply(ANSWER.text, reason=reason)], ask=ask, **spoken)
        if api.reasoning:
            silent = [Reply(reasoning="I must think of 1943 first", reason=reason)] * 2
            unknown = {"flags": [*DIRECT, *once], "outcome": "not_measured", "failure": "unknown_reason"}
            wrong = {"flags": ["--max-steps", "3", "--shots", "0"], "outcome": "format_failure"}
            empty = {"failure of the server": failed, "not known": unknown, "no reason": unknown}.get(outcome, wrong)
            yield Row(api.name, f"reason {reason} and no text", silent, ask=ask, **empty)


def answers(api):
    """What answers hold."""
    kinds = {"usage": Reply(ANSWER.text, cached=60)}
    if api.reasoning:
        kinds["reasoning"] = Reply(ANSWER.text, reasoning="First, the wrong answer: 1944", cached=60)
        kinds["hidden reasoning"] = Reply(ANSWER.text, hidden=True)
        kinds["parts"] = Reply(ANSWER.text, parts=True, reasoning="hm")
    if api.name == "chat":
        kinds["reasoning in the text"] = Reply(ANSWER.text, reasoning="First, the wrong answer: 1944", inside=True)
    if api.name in ("chat", "responses"):
        kinds["refusal"] = Reply(refusal="I cannot help with that.")
    for (kind, reply), ask in itertools.product(kinds.items(), (False, True)):
        if kind == "parts" and ask and api.name == "chat":
            continue
        yield Row(api.name, kind, [reply], DIRECT, ask=ask, answer="I cannot help with that." if reply.refusal else "1943")


def text_protocols(api):
    """Protocols of text: prompts, messages, exemplars, stops, decoding."""
    seed = {} if api.name in ("messages", "responses") else {"seed": 7}
    decoding = ["--seed", "7", "--temperature", "1"] + ([] if api.name == "messages" else ["--top-p", "0.9"])
    paper = [Reply(" I look for the element.\nAction 1: Search[Hafnium]"), Reply(" It says 1943.\nAction 2: Finish[1943]")]
    for ask in (False, True):
        yield Row(api.name, "react-paper", paper, ["--protocol", "react-paper", "--shots", "2"], ask=ask, answer="1943",
                  questions=1 if ask else 3)
        yield Row(api.name, "standard with settings", [ANSWER], [*DIRECT, *decoding], ask=ask, sends=seed, answer="1943")
        if api.tools:
            yield Row(api.name, "robust", agent(), ["--protocol", "robust", "--shots", "2"], ask=ask, answer="1943",
                      questions=1 if ask else 3)
            yield Row(api.name, "robust told about its form", [Reply("I do not know."), *agent()], ["--protocol", "robust"], ask=ask,
                      answer="1943", repairs=("renumbered",))
        if api.prefill:
            flags = ["--protocol", "react-paper", "--prefill"]
            extra = ()
            if api.name == "chat":
                flags += ["--server", "vllm"]
                extra = ("add_generation_prompt", "continue_final_message")
            yield Row(api.name, "prefill", paper, flags, ask=ask, extra=extra, answer="1943")
        for protocol, replies in DIALECTS.items():
            if api.tools:
                yield Row(api.name, protocol, replies, ["--protocol", protocol], ask=ask, answer="1943")


DIALECTS = {
    "llama-index": [Reply('Thought: I look.\nAction: Search\nAction Input: {"query": "Hafnium"}'), Reply("Thought: I know.\nAnswer: 1943")],
    "qwen-agent": [Reply(' I look.\nAction: Search\nAction Input: {"query": "Hafnium"}\n'), Reply(" I know.\nFinal Answer: 1943")],
}


def tool_calls(api):
    """Native calls: options, several steps, results and reasoning sent back."""
    if not api.tools:
        return
    # OpenAI's types have no field for reasoning; servers that show it want it back in the one they used.
    back = ("messages.reasoning_content",) if api.name == "chat" else ()
    two = Reply(calls=[("search", '{"query": "Hafnium"}'), ("lookup", '{"keyword": "Hevesy"}')])
    lost = Reply(calls=[("open_page", '{"query": "Hafnium"}')])
    wrong = Reply(calls=[("search", '{"page": ["Hafnium"], "n": 2}')])
    rows = [
        Row(api.name, "tools", [search(), finish()], ["--shots", "0"], questions=2, answer="1943"),
        Row(api.name, "tools, exemplars", [search(), finish()], ["--shots", "2"], answer="1943"),
        Row(api.name, "tools, text beside a call", [search(text="I look."), finish(text="I know.")], answer="1943"),
        Row(api.name, "tools, reasoning", [search(reasoning="Let me see", cached=60), finish(reasoning="So it is")], answer="1943", extra=back),
        Row(api.name, "tools, hidden reasoning", [search(hidden=True), finish(hidden=True)], answer="1943"),
        Row(api.name, "tools, several at once", [two, finish()], ["--option", "parallel=on"], answer="1943"),
        Row(api.name, "tools, one too many", [two, finish()], ["--option", "parallel=off"], answer="1943", repairs=("extra_call",)),
        Row(api.name, "tools, required and strict", [search(), finish()], ["--option", "choice=required", "--option", "strict=on"],
            answer="1943"),
        Row(api.name, "tools, answer in a text", [search(), Reply("1943")], ["--option", "answer=text"], answer="1943"),
        Row(api.name, "tools, no such function", [lost, search(), finish()], answer="1943", repairs=("unknown_tool",)),
        Row(api.name, "tools, wrong arguments", [wrong, search(), finish()], answer="1943", repairs=("malformed_arguments",)),
        Row(api.name, "tools, no call", [Reply("I think of 1943."), finish()], answer="1943", repairs=("missing_call",)),
    ]
    if api.name == "chat":
        # Exemplars have it too, and without a thought at the step that finishes.
        rows.append(Row(api.name, "tools, reasoning that is demanded", [search(reasoning="Let me see"), finish()],
                        ["--shots", "2", "--server", "deepseek"], answer="1943", extra=back))
    if api.name in ("chat", "responses"):
        broken = Reply(calls=[("search", '{"query": "Hafn')])
        rows.append(Row(api.name, "tools, broken arguments", [broken, finish()], answer="1943", repairs=("malformed_arguments",)))
    for row, ask in itertools.product(rows, (False, True)):
        flags = ["--protocol", "tools", *(["--shots", "0"] if "--shots" not in row.flags else []), *row.flags]
        yield Row(**{**vars(row), "flags": flags, "ask": ask, "questions": 1 if ask else row.questions})


# `--reasoning` in the words of each API.
REASONING = {
    "chat": {effort: {"reasoning_effort": word} for effort, word in [("off", "none"), ("low", "low"), ("medium", "medium"), ("high", "high")]},
    "responses": {"off": {"reasoning": {"effort": "none"}},
                  **{effort: {"reasoning": {"effort": effort, "summary": "auto"}} for effort in ("low", "medium", "high")}},
    "messages": {"off": {"thinking": {"type": "disabled"}}, "2048": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
                 **{effort: {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
                    for effort in ("low", "medium", "high")}},
    "gemini": {"off": {"thinkingConfig": {"thinkingBudget": 0}},
               "2048": {"thinkingConfig": {"thinkingBudget": 2048, "includeThoughts": True}},
               **{effort: {"thinkingConfig": {"thinkingLevel": effort.upper(), "includeThoughts": True}} for effort in ("low", "medium", "high")}},
}
# Fields that the types know and that no flag sets.
EXTRA_BODY = {
    "chat": {"service_tier": "flex"}, "completions": {"user": "a"}, "responses": {"truncation": "auto"},
    "messages": {"metadata": {"user_id": "a"}}, "gemini": {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]},
}


def settings(api):
    """How much to reason, fields of a person's own, and what is to be kept for later requests."""
    for (effort, sends), ask in itertools.product(REASONING.get(api.name, {}).items(), (False, True)):
        flags = ["--protocol", "tools", "--shots", "0", "--reasoning", effort]
        replies = [search(reasoning="Let me see"), finish()] if effort != "off" else [search(), finish()]
        back = ("messages.reasoning_content",) if api.name == "chat" and effort != "off" else ()
        yield Row(api.name, f"reasoning {effort}", replies, flags, ask=ask, sends=sends, extra=back, answer="1943")
    body = EXTRA_BODY[api.name]
    yield Row(api.name, "extra body", [ANSWER], [*DIRECT, "--extra-body", json.dumps(body)], sends=body, answer="1943")
    if api.name == "messages":
        kept = {"cache_control": {"type": "ephemeral"}}
        paper = [Reply(" I look.\nAction 1: Search[Hafnium]"), Reply(" It says 1943.\nAction 2: Finish[1943]")]
        yield Row(api.name, "kept, a text", paper, ["--protocol", "react-paper"], sends=kept, answer="1943")
        yield Row(api.name, "kept, messages", agent(), ["--protocol", "robust"], sends=kept, answer="1943")
        yield Row(api.name, "kept, calls", [search(), finish()], ["--protocol", "tools"], sends=kept, answer="1943")


# Errors inside answers, by the cause that an episode without a measurement gets; `None` is tried again.
ERRORS = {
    "chat": {"server_error": None, "rate_limit_exceeded": None, "insufficient_quota": "quota"},
    "completions": {"server_error": None},
    # Requests hold no images, so these cannot fail.
    "responses": {**{code: "content_filter" if "policy" in code or code == "invalid_prompt" else None
                     for code in Responses.failures if "image" not in code},
                  **{status: None for status in Responses.unfinished}},
    "messages": {"invalid_request_error": "bad_request", "authentication_error": "key", "billing_error": "payment",
                 "permission_error": "forbidden", "not_found_error": "not_found", "rate_limit_error": None, "timeout_error": None,
                 "api_error": None, "overloaded_error": None},
    "gemini": {"UNAVAILABLE": None, "RESOURCE_EXHAUSTED": None, "PERMISSION_DENIED": "forbidden",
               **{reason: "content_filter" for reason in Gemini.blocked}},
}


def errors(api):
    unknown = set(Messages.failures) - set(ERRORS["messages"])
    if unknown and api.name == "messages":
        own_faults.append(f"messages: the SDK has errors that are not tried: {sorted(unknown)}")
    for (error, cause), ask in itertools.product(ERRORS[api.name].items(), (False, True)):
        replies = [Reply(error=error)] + ([] if cause else [ANSWER])
        flags = [*DIRECT, "--model-attempts", "2"]
        yield Row(api.name, f"error {error}", replies, flags, ask=ask, answer="" if cause else "1943",
                  outcome="not_measured" if cause else "finished", failure=cause or "")


def refusals(api):
    """Models that take less than others, without a flag."""
    if api.name == "chat":
        refused = ("max_tokens", "temperature", "stop")
        yield Row(api.name, "a model without settings", agent(), ["--protocol", "robust", "--shots", "1"], questions=2, refuses=refused,
                  answer="1943")
        yield Row(api.name, "a model without top_p", [ANSWER], [*DIRECT, "--temperature", "1"], refuses=("top_p", "stop"), answer="1943")
    # For Anthropic, the types themselves have no temperature.


def rows():
    for api in APIS.values():
        for kind in (reasons, answers, text_protocols, tool_calls, settings, errors, refusals):
            yield from kind(api)


# The server ----------------------------------------------------------------------------------------------------------

# Fields that Anthropic's types no longer have, and that models of before still take. A request with them is refused as newer models
# do, so that what is sent from then on has to be without.
GONE = {"messages": {"temperature", "top_p", "top_k"}}


def found(body, part):
    """Whether a part is anywhere in a body: the same text, or an object with at least these fields."""
    if isinstance(part, dict) and isinstance(body, dict) and all(body.get(name) == value for name, value in part.items()):
        return True
    if body == part:
        return True
    values = body.values() if isinstance(body, dict) else body if isinstance(body, list) else []
    return any(found(value, part) for value in values)


def general(path):
    """A path without numbers of items and names of types."""
    return ".".join(part for part in path.split(".") if not part.isdigit() and not part[:1].isupper() and "[" not in part)


def without(body, path):
    """Takes the fields of a general path out of a body; says how many there were."""
    name, _, rest = path.partition(".")
    if isinstance(body, list):
        return sum(without(item, path) for item in body)
    if not isinstance(body, dict) or name not in body:
        return 0
    if rest:
        return without(body[name], rest)
    del body[name]
    return 1


def questions():
    """As bodies have them: in JSON."""
    with open("datasets/sample.jsonl") as lines:
        asked = [json.loads(line)["question"] for line in itertools.islice(lines, 3)]
    return [json.dumps(question, ensure_ascii=False)[1:-1].encode() for question in [*asked, QUESTION]]


QUESTION = "An element named after a capital was found by two scientists, of whom one won the Nobel Prize for which year?"
QUESTIONS = questions()


class Scenario:
    """A row while the program runs."""

    def __init__(self, row):
        self.row, self.api = row, APIS[row.api]
        self.where = f"{row.api}, {row.name}, {'ask' if row.ask else 'run'}"
        self.sent, self.extra = Counter(), Counter()
        # How many bodies and answers were `good`, `bad`, `refused` as the model would, or had fields that are `gone`.
        self.bodies, self.answers = Counter(), Counter()
        self.faults = []

    def fail(self, what):
        self.faults.append(f"{self.where}: {what}")

    def receive(self, path, headers, text):
        """Checks a request; returns status, body and whether it is a stream."""
        body = json.loads(text)
        stream = self.api.wants_stream(path, body)
        self.check_head(path, headers)
        if self.api.name != "gemini":
            # Only Gemini has it in the path.
            body["model"] = str(body.get("model"))
        for name in self.row.refuses:
            if name in body:
                self.bodies["refused"] += 1
                return 400, json.dumps(self.api.refuse(name)), False
        pure = json.loads(json.dumps(body))
        for extra in self.row.extra:
            self.extra[extra] += without(pure, extra)
        faults = self.api.errors(pure, stream)
        gone = GONE.get(self.api.name, set()) & set(pure)
        if gone:
            faults = [fault for fault in faults if fault[0] not in gone]
        for fault in faults[:4]:
            self.fail(f"body, {general(fault[0])}: {fault[1]}")
        self.bodies["bad" if faults else "gone" if gone else "good"] += 1
        if gone:
            return 400, json.dumps(self.api.refuse(sorted(gone)[0])), False
        return self.answer(body, stream, text)

    def check_head(self, path, headers):
        key, value = self.api.key
        wanted = {key: value.format(key=KEY), "content-type": "application/json", **getattr(self.api, "headers", {})}
        for name, value in wanted.items():
            if headers.get(name) != value:
                self.fail(f"header {name}: {headers.get(name)!r}, not {value!r}")
        if not path.startswith(self.api.base + self.api.tail):
            self.fail(f"path {path}")

    def answer(self, body, stream, text):
        # The last one is that which is asked; others may be exemplars.
        question = max(range(len(QUESTIONS)), key=lambda at: text.rfind(QUESTIONS[at]))
        at = self.sent[question] % len(self.row.replies)
        self.sent[question] += 1
        reply = self.row.replies[at]
        if at == 0:
            for name, value in self.row.sends.items():
                if not found(body, {name: value}):
                    self.fail(f"the body lacks {name} {value}")
        for before in self.row.replies[:at]:
            for part in self.api.sent_back(before):
                if not found(body, part):
                    self.fail(f"a later body lacks {json.dumps(part)}")
        model = body.get("model", "m")
        if reply.error:
            error = json.dumps(self.api.error_event(reply) if stream else self.api.error(reply))
            # Of a stream, the first event.
            return 200, f"data: {error}\n\n" if stream else error, stream
        return 200, "".join(self.api.events(reply, model, body)) if stream else json.dumps(self.api.whole(reply, model)), stream


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scenarios = {}

    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"]))
        try:
            name = self.path.split("/models/")[1].split(":")[0] if "/models/" in self.path else json.loads(text)["model"]
            status, body, stream = self.scenarios[name].receive(self.path, self.headers, text)
        except Exception as error:
            own_faults.append(f"{self.path}: {type(error).__name__}: {error}")
            status, body, stream = 500, "{}", False
        body = body.encode()
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# The program ---------------------------------------------------------------------------------------------------------

def command(number, row, url, work):
    api = APIS[row.api]
    name = f"model-{number}"
    out = work / name
    model = ["--model", f"{api.provider}:{name}", "--base-url", url + api.base, *api.flags, "--key-env", "SDK_KEY", *row.flags]
    if row.ask:
        return [*model, "--save", out], out
    return ["datasets/sample.jsonl", "--limit", row.questions, "--concurrency", "1", "--quiet", "--out", out, *model], out / "trajectories.jsonl"


def attempt(program, number, row, url, work):
    """Runs a row; returns the scenario with what was found."""
    scenario = Handler.scenarios[f"model-{number}"] = Scenario(row)
    flags, records = command(number, row, url, work)
    args = [program, *(["ask", QUESTION] if row.ask else ["run"]), *map(str, flags)]
    ran = subprocess.run(args, capture_output=True, text=True, env={"SDK_KEY": KEY, "PATH": "/usr/bin:/bin"})
    if ran.returncode not in ((0,) if row.outcome != "not_measured" else (1, 4)):
        scenario.fail(f"exit code {ran.returncode}: {ran.stderr[-600:]}")
    if not records.exists():
        scenario.fail(f"nothing is recorded: {ran.stderr[-600:]}")
        return scenario
    episodes = [json.loads(line) for line in records.read_text().splitlines()]
    compare(scenario, sorted(episodes, key=lambda episode: episode["started_at"]))
    for extra in row.extra:
        if not scenario.extra[extra]:
            scenario.fail(f"{extra} was never sent, and need not be allowed")
    if scenario.bodies["gone"] > 1:
        scenario.fail(f"{scenario.bodies['gone']} requests with settings that were refused")
    return scenario


def compare(scenario, episodes):
    """Holds the record to the scenario."""
    row, api = scenario.row, scenario.api
    # An empty answer for a reason that is not known is recorded, and is none.
    calls = [call for episode in episodes for step in episode["steps"] for call in step["calls"] if call.get("cause") != "unknown_reason"]
    replies = [] if row.failure else [reply for reply in row.replies if not reply.error] * row.questions
    if len(calls) != len(replies) or len(episodes) != row.questions:
        scenario.fail(f"{len(episodes)} episodes with {len(calls)} calls, not {row.questions} with {len(replies)}")
    for call, reply in zip(calls, replies):
        differences = list(different(call, api.expected(reply)))
        for name, got, wanted in differences:
            scenario.fail(f"{name}: {got!r}, not {wanted!r}")
        scenario.answers["bad" if differences else "good"] += 1
    before = len(scenario.faults)
    for episode in episodes:
        kinds = {repair["kind"] for repair in episode["repairs"]}
        for name, got, wanted in (("outcome", episode["outcome"], row.outcome), ("answer", episode["answer"] or "", row.answer),
                                  ("failure", (episode.get("failure") or {}).get("cause", ""), row.failure)):
            if got != wanted:
                scenario.fail(f"{name}: {got!r}, not {wanted!r} ({episode.get('detail')})")
        if not set(row.repairs) <= kinds:
            scenario.fail(f"repairs {sorted(kinds)}, not {row.repairs}")
    if not replies:
        # An error is the answer.
        scenario.answers["good" if len(scenario.faults) == before else "bad"] += 1


def different(call, wanted):
    usage = {name: (call["usage"] or {}).get(name, 0) for name in wanted["usage"]}
    reasoning = call.get("reasoning")
    calls = [(one["name"], one["arguments"]) for one in call.get("calls", [])]
    got = {**{name: call.get(name) for name in ("completion", "finish_reason")}, "usage": usage, "calls": calls,
           "reasoning": reasoning.strip() if reasoning else reasoning}
    for name, value in wanted.items():
        same = got[name] == value
        if name == "calls":
            same = len(calls) == len(value) and all(one[0] == other[0] and arguments(one[1]) == arguments(other[1])
                                                    for one, other in zip(calls, value))
        if not same:
            yield name, got[name], value


def arguments(text):
    """Spaces aside, if it is JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


# The check itself ----------------------------------------------------------------------------------------------------

def planted():
    """A fault that is put into a good body has to be found, at every depth; says how many were."""
    function = {"name": "search", "description": "d", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}
    bodies = {
        "chat": {"model": "m", "messages": [{"role": "user", "content": "q"}], "tools": [{"type": "function", "function": function}]},
        "completions": {"model": "m", "prompt": "q", "stream_options": {"include_usage": True}, "stream": True},
        "responses": {"model": "m", "input": [{"type": "message", "role": "user", "content": "q"},
                                              {"type": "function_call_output", "call_id": "c", "output": "o"}],
                      "tools": [{"type": "function", "strict": False, **function}]},
        "messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
                     "tools": [{"name": "search", "input_schema": {"type": "object"}}]},
        "gemini": {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": {"maxOutputTokens": 9},
                   "tools": [{"functionDeclarations": [function]}]},
    }

    def objects(value):
        """All objects but schemas, which may have any field."""
        if isinstance(value, dict) and value.get("type") not in ("object", "string"):
            yield value
            value = [inside for name, inside in value.items() if name not in ("parameters", "input_schema")]
        for inside in value if isinstance(value, list) else []:
            yield from objects(inside)

    tried = 0
    for name, body in bodies.items():
        api, stream = APIS[name], body.get("stream", False)
        for reason in api.reasons:
            tried += 1
            if lacking(api, {row: kept for row, kept in FINISH_REASONS.items() if row != (name, reason)}) != [reason]:
                own_faults.append(f"self-test, {name}: nobody misses the reason {reason}")
        if api.errors(body, stream):
            own_faults.append(f"self-test, {name}: a good body is refused: {api.errors(body, stream)[:2]}")
        for at, good in enumerate(list(objects(body))):
            for field_name in ["planted", *good]:
                bad = json.loads(json.dumps(body))
                list(objects(bad))[at][field_name] = 7 if good.get(field_name) != 9 else "nine"
                tried += 1
                if not api.errors(bad, stream):
                    own_faults.append(f"self-test, {name}: {json.dumps(bad)} is taken")
    return tried


def caught(program, url, work):
    """The same with the program's own bodies and records: each of these rows is wrong in one thing, which has to be found."""
    wrong = {
        "continue_final_message": Row("chat", "self-test", [ANSWER], [*DIRECT, "--prefill", "--server", "vllm"], answer="1943"),
        "answer: '1943', not '1944'": Row("gemini", "self-test", [ANSWER], DIRECT, answer="1944"),
        "never sent": Row("messages", "self-test", [ANSWER], DIRECT, answer="1943", extra=("planted",)),
        "1 calls, not 1 with 2": Row("completions", "self-test", [ANSWER, ANSWER], DIRECT, answer="1943"),
        "lacks seed": Row("chat", "self-test", [ANSWER], DIRECT, answer="1943", sends={"seed": 8}),
    }
    for number, (fault, row) in enumerate(wrong.items()):
        found = attempt(program, f"wrong-{number}", row, url, work).faults
        if not any(fault in one for one in found):
            own_faults.append(f"self-test: not found: {fault}; found: {found}")
    return len(wrong)


def table(scenarios):
    for name, api in APIS.items():
        bodies, answers = (sum((getattr(one, what) for one in scenarios if one.api is api), Counter()) for what in ("bodies", "answers"))
        aside = [f"{count} {words}" for count, words in ((bodies["refused"], "with settings that the model refuses"),
                                                         (bodies["gone"], "with a temperature, which the types lack")) if count]
        print(f"{name}: bodies: valid {bodies['good']} of {bodies['good'] + bodies['bad']}"
              f"{' (and ' + ', '.join(aside) + ': once each, then left out)' if aside else ''}; "
              f"answers: decoded {answers['good']} of {answers['good'] + answers['bad']}; "
              f"reasons for the end: {len(api.reasons)}, whole and streamed")


def main():
    program, work = sys.argv[1], Path(sys.argv[2])

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % server.server_port
    print(f"self-test: faults planted into bodies {planted()}, into scenarios {caught(program, url, work)}, "
          f"not found {len(own_faults)}", flush=True)
    with ThreadPoolExecutor(4) as pool:
        tried = [pool.submit(attempt, program, number, row, url, work) for number, row in enumerate(rows())]
        scenarios = [one.result() for one in tried]
    failures = own_faults + [fault for scenario in scenarios for fault in scenario.faults]
    for failure in failures:
        print(f"FAILED: {failure}")
    table(scenarios)
    print(f"scenarios: {len(scenarios)}, failures: {len(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
