"""A model server that follows a script: the same reply to the same request, without a model.

    scripted_model.py [--key KEY] [--delay SECONDS]

Serves OpenAI's chat completions and responses, Anthropic's messages and Gemini's generateContent, streamed and not, on a free port of
127.0.0.1, and prints its URL. GET /count gives the number of model requests so far. With --key it refuses every other key.

The script: search for a name of the question, look a word up if there is such a tool, then answer with a word of what was found.
Tools are called where they are offered. Where a prompt describes its own format, DSPy's fields or the lines of plain.sh, the reply
has that format.
"""

import argparse
import copy
import gzip
import hashlib
import json
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FINAL_TOOLS = ("final_answer", "submit", "finish")
NAME = re.compile(r"[A-Z][\w-]+(?: (?:(?:of|the|de|di) )?[A-Z][\w-]+)*")


# What a request asks ---------------------------------------------------------------------------------------------------

@dataclass
class Conversation:
    """A request of any of the APIs."""
    system: str = ""
    # What the user wrote, and what the tools answered, in order.
    user: list = field(default_factory=list)
    results: list = field(default_factory=list)
    # The JSON Schema of each offered tool by its name.
    tools: dict = field(default_factory=dict)

    def add(self, role, text):
        if role in ("system", "developer"):
            self.system += text + "\n"
        elif role in ("tool", "function"):
            self.results.append(text)
        elif role == "user" and re.match(r"(?:Observation|Error):\n", text):
            # smolagents: the results since the last reply in one text.
            self.results += re.split(r"^(?:Observation|Error):\n", text, flags=re.MULTILINE)[1:]
        elif role == "user":
            self.user.append(text)


def text_of(content):
    """The text of a message, a list of parts, or a JSON value."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        for key in ("observation", "text", "result", "output", "content"):
            if key in content:
                return text_of(content[key])
        return ""
    text = str(content or "")
    if text.startswith(("{", "[{")):
        try:
            return text_of(json.loads(text))
        except ValueError:
            pass
    return text


def read_chat(body):
    asked = Conversation(tools={tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in body.get("tools") or []})
    for message in body["messages"]:
        asked.add(message["role"], text_of(message.get("content")))
    return asked


def read_responses(body):
    asked = Conversation(system=(body.get("instructions") or "") + "\n")
    asked.tools = {tool["name"]: tool.get("parameters") or {} for tool in body.get("tools") or [] if tool["type"] == "function"}
    items = body["input"]
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if item.get("type") == "function_call_output":
            asked.add("tool", text_of(item["output"]))
        elif "role" in item:
            asked.add(item["role"], text_of(item["content"]))
    return asked


# What Anthropic's server holds of the threads of its SDK's tool runner, by the id of the last message.
THREADS = {}


def read_messages(body):
    thread = body.get("thread") or {}
    asked = Conversation(system=text_of(body.get("system")) + "\n")
    asked.tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools") or []}
    if thread.get("type") == "continue":
        asked = copy.deepcopy(THREADS[thread["previous_message_id"]])
    for message in body["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] in ("text", "tool_result"):
                asked.add("tool" if part["type"] == "tool_result" else message["role"], text_of(part))
    return asked


def read_gemini(body):
    asked = Conversation(system=text_of((body.get("systemInstruction") or {}).get("parts")) + "\n")
    for tool in body.get("tools") or []:
        for declared in tool.get("functionDeclarations") or []:
            schemas = (declared.get(key) for key in ("parametersJsonSchema", "parameters_json_schema", "parameters"))
            asked.tools[declared["name"]] = next(filter(None, schemas), {})
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                asked.add("tool", text_of(part["functionResponse"]["response"]))
            elif "text" in part:
                asked.add(content.get("role", "user"), part["text"])
    return asked


# What the script replies -----------------------------------------------------------------------------------------------

@dataclass
class Reply:
    text: str = ""
    # Name and arguments of a called tool.
    call: tuple = ()
    model: str = ""
    id: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def arguments(self):
        return json.dumps(self.call[1], ensure_ascii=False)


def question_of(text):
    """The question in a prompt: its first line that ends with a question mark, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if line.endswith("?")), lines[-1] if lines else "")
    return re.sub(r"^(?:Question|Task): *", "", found)


def names_in(text):
    """Runs of capitalised words. A single word that begins a sentence is none."""
    return [match.group() for match in NAME.finditer(text) if " " in match.group() or re.search(r"[\w,] $", text[:match.start()])]


def query_for(question):
    """The longest name in the question."""
    names = names_in(question)
    return max(names, key=len) if names else " ".join(sorted(re.findall(r"\w+", question), key=len)[-3:])


def keyword_for(question):
    return max(re.findall(r"\b[a-z]+\b", question) or ["the"], key=len)


def answer_to(question, found):
    if re.match(r"(?:Is|Are|Was|Were|Do|Does|Did|Has|Have|Can) ", question):
        return "yes"
    number = re.search(r"\b\d{4}\b", found)
    if number and re.search(r"\b[Yy]ear\b|^When", question):
        return number.group()
    names = [name for name in names_in(found) if name not in question]
    return names[0] if names else " ".join(found.split()[:3]) or "unknown"


def arguments_for(schema, text):
    """`text` for each required text, and something fitting for the other required values."""
    properties = schema.get("properties") or {}
    fitting = {"integer": 3, "number": 0.5, "boolean": True, "array": [text]}
    return {
        name: fitting.get(str(properties[name].get("type")).lower(), text)
        for name in schema.get("required") or list(properties)[:1]
    }


def next_call(tools, question, done):
    """The call after `done` results: a search first, then a lookup if there is such a tool."""
    wanted = [("search", query_for(question)), ("lookup", keyword_for(question))]
    for word, text in wanted[done:done + 1]:
        for name, schema in tools.items():
            if word in name.lower():
                return name, arguments_for(schema, text)
    return None


def fields_of_dspy(asked):
    """DSPy's format: the fields that the end of the prompt asks for, each below its heading."""
    before, _, wanted = asked.user[-1].rpartition("Respond with the corresponding output fields")
    question = question_of(before.partition("[[ ## question ## ]]")[2])
    results = re.findall(r"\[\[ ## observation_\d+ ## ]]\n(.*?)(?=\n\[\[ ##|\Z)", before, re.DOTALL)
    offered = re.findall(r"^\s*\(\d+\) (\w+), .* It takes arguments \{'(\w+)'", asked.system, re.MULTILINE)
    tools = {name: {"required": [argument], "properties": {argument: {}}} for name, argument in offered}
    tool, arguments = next_call(tools, question, len(results)) or ("finish", {})
    known = {
        "next_thought": "I read on.",
        "next_tool_name": tool,
        "next_tool_args": json.dumps(arguments, ensure_ascii=False),
        "reasoning": "It is in the observations.",
        "answer": answer_to(question, "\n".join(results)),
    }
    names = [name for name in re.findall(r"\[\[ ## (\w+) ## ]]", wanted) if name != "completed"]
    return "".join(f"[[ ## {name} ## ]]\n{known.get(name, '')}\n\n" for name in names) + "[[ ## completed ## ]]\n"


def line_of_shell(asked):
    """The format of plain.sh: `SEARCH words` or `ANSWER text`."""
    prompt = "\n".join(asked.user)
    results = re.findall(r"^Observation: (.*)", prompt, re.MULTILINE)
    question = question_of(prompt)
    return f"ANSWER {answer_to(question, results[0])}" if results else f"SEARCH {query_for(question)}"


def script(asked):
    """The reply to a conversation, a text or the call of a tool."""
    prompt = asked.system + "\n".join(asked.user)
    if "[[ ## completed ## ]]" in prompt:
        return Reply(fields_of_dspy(asked))
    if "`SEARCH " in prompt:
        return Reply(line_of_shell(asked))
    question = question_of("\n".join(asked.user))
    call = next_call(asked.tools, question, len(asked.results))
    if call:
        return Reply(call=call)
    answer = answer_to(question, "\n".join(asked.results))
    final = next((name for name in asked.tools if name in FINAL_TOOLS), None)
    return Reply(call=(final, arguments_for(asked.tools[final], answer))) if final else Reply(answer)


# How each API writes a reply -------------------------------------------------------------------------------------------

def halves(text):
    """Two parts, as streams cut a text wherever they like."""
    return [part for part in (text[:len(text) // 2], text[len(text) // 2:]) if part]


def chat(reply, asked, body):
    calls = []
    if reply.call:
        function = {"name": reply.call[0], "arguments": reply.arguments}
        calls = [{"id": f"call_{reply.id}", "type": "function", "function": function}]
    usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens,
             "total_tokens": reply.input_tokens + reply.output_tokens}
    head = {"id": f"chatcmpl-{reply.id}", "created": 1700000000, "model": reply.model}
    reason = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": reply.text or None, "refusal": None} | ({"tool_calls": calls} if calls else {})
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}

    def chunk(delta, reason=None):
        return None, {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    events = [chunk({"role": "assistant", "content": None if calls else ""})]
    if calls:
        events.append(chunk({"tool_calls": [{"index": 0, **calls[0], "function": {**function, "arguments": ""}}]}))
        events += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}) for part in halves(reply.arguments)]
    events += [chunk({"content": part}) for part in halves(reply.text)]
    events.append(chunk({}, reason))
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append((None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    return [*events, (None, "[DONE]")]


def responses(reply, asked, body):
    if reply.call:
        item = {"type": "function_call", "id": f"fc_{reply.id}", "call_id": f"call_{reply.id}", "name": reply.call[0],
                "arguments": reply.arguments, "status": "completed"}
    else:
        item = {"type": "message", "id": f"msg_{reply.id}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}]}
    usage = {"input_tokens": reply.input_tokens, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "output_tokens": reply.output_tokens,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": reply.input_tokens + reply.output_tokens}
    begun = {"id": f"resp_{reply.id}", "object": "response", "created_at": 1700000000, "status": "in_progress", "error": None,
             "incomplete_details": None, "instructions": body.get("instructions"), "metadata": {}, "model": reply.model, "output": [],
             "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": body.get("tools") or [], "top_p": 1.0}
    done = {**begun, "status": "completed", "output": [item], "usage": usage}
    if not body.get("stream"):
        return done
    place = {"output_index": 0, "item_id": item["id"]}
    empty = {**item, "status": "in_progress"} | ({"arguments": ""} if reply.call else {"content": []})
    events = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun}),
              ("response.output_item.added", {"output_index": 0, "item": empty})]
    if reply.call:
        events += [("response.function_call_arguments.delta", {**place, "delta": part}) for part in halves(reply.arguments)]
        events.append(("response.function_call_arguments.done", {**place, "name": reply.call[0], "arguments": reply.arguments}))
    else:
        part = item["content"][0]
        place["content_index"] = 0
        events.append(("response.content_part.added", {**place, "part": {**part, "text": ""}}))
        events += [("response.output_text.delta", {**place, "delta": half, "logprobs": []}) for half in halves(reply.text)]
        events.append(("response.output_text.done", {**place, "text": reply.text, "logprobs": []}))
        events.append(("response.content_part.done", {**place, "part": part}))
    events += [("response.output_item.done", {"output_index": 0, "item": item}), ("response.completed", {"response": done})]
    return [(kind, {"type": kind, "sequence_number": number, **event}) for number, (kind, event) in enumerate(events)]


def messages(reply, asked, body):
    block = {"type": "text", "text": reply.text}
    if reply.call:
        block = {"type": "tool_use", "id": f"toolu_{reply.id}", "name": reply.call[0], "input": reply.call[1]}
    reason = "tool_use" if reply.call else "end_turn"
    message = {"id": f"msg_{reply.id}", "type": "message", "role": "assistant", "model": reply.model, "content": [block],
               "stop_reason": reason, "stop_sequence": None,
               "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}}
    if body.get("thread"):
        THREADS[message["id"]] = asked
    if not body.get("stream"):
        return message
    begun = {**message, "content": [], "stop_reason": None, "usage": {"input_tokens": reply.input_tokens, "output_tokens": 1}}
    deltas = [{"type": "text_delta", "text": part} for part in halves(reply.text)]
    if reply.call:
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in halves(reply.arguments)]
    events = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {**block, **({"input": {}} if reply.call else {"text": ""})}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": reply.output_tokens}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


def gemini(reply, asked, body):
    usage = {"promptTokenCount": reply.input_tokens, "candidatesTokenCount": reply.output_tokens,
             "totalTokenCount": reply.input_tokens + reply.output_tokens}

    def part_of_stream(part, last):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0} | ({"finishReason": "STOP"} if last else {})
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": reply.model, "responseId": reply.id}

    whole = {"functionCall": {"name": reply.call[0], "args": reply.call[1]}} if reply.call else {"text": reply.text}
    if not body.get("stream"):
        return part_of_stream(whole, True)
    parts = [whole] if reply.call else [{"text": part} for part in halves(reply.text)]
    return [(None, part_of_stream(part, part is parts[-1])) for part in parts]


APIS = {
    "/chat/completions": (read_chat, chat),
    "/responses": (read_responses, responses),
    "/messages": (read_messages, messages),
    ":generateContent": (read_gemini, gemini),
    ":streamGenerateContent": (read_gemini, gemini),
}


# The server ------------------------------------------------------------------------------------------------------------

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    counted = 0
    lock = threading.Lock()

    def handle_error(self, request, client_address):
        """A program that is killed in a test leaves its connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small writes go out at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/count":
            return self.send(200, {"requests": self.server.counted})
        if path.endswith("/models"):
            model = {"id": "scripted", "object": "model", "created": 1700000000, "owned_by": "scripts"}
            return self.send(200, {"object": "list", "data": [model]})
        return self.refuse(404, f"there is no {path}")

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        api = next((api for ending, api in APIS.items() if path.endswith(ending)), None)
        if api is None:
            return self.refuse(404, f"there is no {path}")
        with self.server.lock:
            self.server.counted += 1
        keys = {self.headers.get(name, "").removeprefix("Bearer ") for name in ("Authorization", "x-api-key", "x-goog-api-key")}
        if OPTIONS.key and keys - {""} != {OPTIONS.key}:
            return self.refuse(401, "this key is not valid here")
        try:
            body = json.loads(data)
            if "streamGenerateContent" in path:
                body["stream"] = True
            asked = api[0](body)
            reply = script(asked)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            return self.refuse(400, f"the request is not understood: {error!r}")
        time.sleep(OPTIONS.delay)
        reply.model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
        # Equal requests get equal replies.
        reply.id = hashlib.sha256(data).hexdigest()[:24]
        reply.input_tokens = len((asked.system + " ".join(asked.user + asked.results)).split())
        reply.output_tokens = len((reply.text or reply.arguments).split())
        answer = api[1](reply, asked, body)
        if isinstance(answer, dict):
            return self.send(200, answer)
        if "streamGenerateContent" in path and "alt=sse" not in query:
            return self.send(200, [event for _, event in answer])
        return self.stream(answer)

    def send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        # As the providers do.
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            data = gzip.compress(data, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, message):
        self.send(status, {"error": {"message": message, "type": "invalid_request_error", "code": status}})

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for kind, event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            data = ((f"event: {kind}\n" if kind else "") + f"data: {data}\n\n").encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--key")
    parser.add_argument("--delay", type=float, default=0)
    OPTIONS = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
