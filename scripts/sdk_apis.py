"""The APIs of scripts/sdk.py, from the types of the official Python SDKs: what a request's body may be, and what answers are.

Nothing about bodies or reasons is written here that the SDKs say; what is written here is what docs/models.md promises about them.
"""

import base64
import json
import re
import sys
import typing
from dataclasses import dataclass, field
from pathlib import Path

import pydantic
import typing_extensions

# `Iterable` is checked when it is read, so never; a list is checked at once. The SDKs see this while they are imported.
typing.Iterable, iterable = typing.List, typing.Iterable
import anthropic.types as messages
import openai.types as completions
import openai.types.chat as chat
import openai.types.chat.chat_completion as chat_whole
import openai.types.chat.chat_completion_chunk as chat_piece
import openai.types.responses as responses
import openai.types.responses.response_create_params as response_params
from google import genai
from google.genai import models as gemini_wire
from google.genai import types as gemini
typing.Iterable = iterable


@dataclass
class Reply:
    """What the model answers once: the scenario, and what is to be recorded of it."""
    text: str = ""
    reasoning: str = ""
    # (name, arguments as the model wrote them)
    calls: list = field(default_factory=list)
    # Why it ended, as the SDK says it; the usual one unless said.
    reason: str = ""
    refusal: str = ""
    # The content as a list of parts.
    parts: bool = False
    # The reasoning as text between <think> and </think>, or not shown but counted.
    inside: bool = False
    hidden: bool = False
    cached: int = 0
    # An error in place of the answer: the SDK's name of it. It is sent once.
    error: str = ""

    @property
    def tokens(self):
        """Prompt, completion with reasoning, reasoning."""
        thought = 30 if self.reasoning or self.hidden else 0
        return 100 + self.cached, 20 + thought, thought


def literals(annotation):
    """The values of a Literal, inside of Optional or not."""
    if typing.get_origin(annotation) is typing.Literal:
        return list(typing.get_args(annotation))
    return [value for part in typing.get_args(annotation) for value in literals(part)]


def finish_reasons():
    """The table of docs/models.md, which a test of the program holds to the code: (API, reason) to (recorded, outcome)."""
    text = (Path(__file__).resolve().parent.parent / "docs/models.md").read_text(encoding="utf-8")
    section = text.split("\n## Finish reasons\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([\w.]+) \| `([^`]+)` \| (none|`[^`]+`) \| ([^|]+) \| <https:", section, re.MULTILINE)
    return {(api, reason): (None if recorded == "none" else recorded.strip("`"), outcome) for api, reason, recorded, outcome in rows}


FINISH_REASONS = finish_reasons()


def lacking(api, table):
    """The reasons of an SDK's types that a table lacks."""
    return [reason for reason in api.reasons if (api.name, reason) not in table]


def closed(package):
    """Forbids extra fields in every TypedDict of a package."""
    for name, module in list(sys.modules.items()):
        if module is not None and (name == package or name.startswith(package + ".")):
            for value in list(vars(module).values()):
                if typing_extensions.is_typeddict(value):
                    value.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def closed_models(package):
    """The same for its pydantic models: Anthropic's requests may hold the blocks of its answers."""
    for name, module in list(sys.modules.items()):
        if module is not None and name.startswith(package + "."):
            for value in list(vars(module).values()):
                if isinstance(value, type) and issubclass(value, pydantic.BaseModel) and value.__module__ == name:
                    value.model_config["extra"] = "forbid"
                    value.model_rebuild(force=True)


closed("openai.types")
closed("anthropic.types")
closed_models("anthropic.types")


def pieces(text, size=7):
    return [text[at:at + size] for at in range(0, len(text), size)]


def sse(event, name=""):
    text = event if isinstance(event, str) else json.dumps(event)
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


def dumped(value, **options):
    return json.loads(value.model_dump_json(**options))


def errors_of(adapter, body):
    """The faults of a body, as `(path, words)`; of a union, those of the member that fits best."""
    try:
        adapter.validate_json(json.dumps(body), strict=True)
        return []
    except pydantic.ValidationError as error:
        return [(".".join(str(part) for part in one["loc"]), f"{one['type']}: {one['msg']}") for one in error.errors()]


class Api:
    """One endpoint: `flags` of the program, below `base` of the server."""
    reasons = []
    # The reason of an ordinary end, and of one with calls.
    usual, calling = "stop", "tool_calls"
    tools = prefill = reasoning = True

    def errors(self, body, stream):
        """The faults of a body."""
        return errors_of(self.streamed if stream else self.unstreamed, body)

    def finish(self, reason):
        """What is recorded of a reason, as docs/models.md says."""
        return FINISH_REASONS.get((self.name, reason), (reason, ""))[0]

    def outcome(self, reason):
        """What the program makes of a reason, as docs/models.md says; a reason that it lacks is a fault of its own."""
        return FINISH_REASONS.get((self.name, reason), (reason, "not known"))[1]

    def ended(self, reply):
        return reply.reason or (self.calling if reply.calls else self.usual)

    def wants_stream(self, path, body):
        return body.get("stream", False)

    def error_event(self, reply):
        """The error as an event of a stream."""
        return self.error(reply)

    def sent_back(self, reply):
        """What of a reply with calls has to be in the next request, unchanged."""
        return []

    def expected(self, reply):
        prompt, completion, thought = reply.tokens
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": reply.cached, "reasoning_tokens": thought}
        shown = reply.reasoning or ("" if reply.hidden else None)
        return {"completion": reply.text or reply.refusal, "calls": reply.calls, "reasoning": shown, "usage": usage,
                "finish_reason": "refusal" if reply.refusal else self.finish(self.ended(reply))}


class OpenAi(Api):
    base, key = "/openai/v1", ("authorization", "Bearer {key}")

    def usage(self, reply):
        prompt, completion, thought = reply.tokens
        return completions.CompletionUsage(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion,
            prompt_tokens_details={"cached_tokens": reply.cached}, completion_tokens_details={"reasoning_tokens": thought})

    def error(self, reply):
        error = completions.shared.ErrorObject(type=reply.error, message=f"The server says {reply.error}", code=reply.error, param=None)
        return {"error": dumped(error)}

    def refuse(self, name):
        """As GPT-5 does."""
        words = f"Unsupported parameter: '{name}' is not supported with this model."
        return {"error": dumped(completions.shared.ErrorObject(type="invalid_request_error", message=words, code="unsupported_parameter",
                                                               param=name))}


class Chat(OpenAi):
    name, tail, provider, flags = "chat", "/chat/completions", "openai", []
    types = chat.completion_create_params
    unstreamed = pydantic.TypeAdapter(types.CompletionCreateParamsNonStreaming)
    streamed = pydantic.TypeAdapter(types.CompletionCreateParamsStreaming)
    reasons = literals(chat_whole.Choice.model_fields["finish_reason"].annotation)

    def call(self, at, name, arguments):
        return {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}

    def sent_back(self, reply):
        # OpenAI has no field for it; DeepSeek and others want it.
        back = [reply.reasoning] if reply.reasoning and reply.calls else []
        return back + [arguments for _, arguments in reply.calls]

    def whole(self, reply, model):
        thinks = {"reasoning_content": reply.reasoning} if reply.reasoning and not reply.inside else {}
        text = (f"<think>\n{reply.reasoning}\n</think>\n\n" if reply.inside else "") + reply.text
        content = [{"type": "text", "text": piece} for piece in pieces(text)] if reply.parts else text or None
        message = chat.ChatCompletionMessage.model_construct(
            role="assistant", content=content, refusal=reply.refusal or None, **thinks,
            tool_calls=[chat.ChatCompletionMessageFunctionToolCall(**self.call(at, *call)) for at, call in enumerate(reply.calls)] or None)
        choice = chat_whole.Choice.model_construct(index=0, finish_reason=self.ended(reply), message=message, logprobs=None)
        return dumped(chat.ChatCompletion.model_construct(
            id="chatcmpl-1", object="chat.completion", created=1, model=model, choices=[choice], usage=self.usage(reply)), warnings=False)

    def events(self, reply, model, body):
        def event(reason=None, **delta):
            choice = chat_piece.Choice(index=0, delta=chat_piece.ChoiceDelta(**delta), finish_reason=reason)
            return sse(dumped(chat.ChatCompletionChunk(id="1", object="chat.completion.chunk", created=1, model=model, choices=[choice]),
                              exclude_unset=True))

        text = (f"<think>\n{reply.reasoning}\n</think>\n\n" if reply.inside else "") + reply.text
        yield event(role="assistant", content="")
        for piece in pieces("" if reply.inside else reply.reasoning):
            yield event(reasoning_content=piece)
        for piece in pieces(text):
            yield event(content=piece)
        for piece in pieces(reply.refusal):
            yield event(refusal=piece)
        for at, (name, arguments) in enumerate(reply.calls):
            start = self.call(at, name, "")
            yield event(tool_calls=[{"index": at, **start}])
            for piece in pieces(arguments):
                yield event(tool_calls=[{"index": at, "function": {"arguments": piece}}])
        yield event(self.ended(reply))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield sse(dumped(chat.ChatCompletionChunk(id="1", object="chat.completion.chunk", created=1, model=model, choices=[],
                                                      usage=self.usage(reply))))
        yield sse("[DONE]")


class Completions(OpenAi):
    name, tail, provider, flags = "completions", "/completions", "openai", ["--completions"]
    unstreamed = pydantic.TypeAdapter(completions.completion_create_params.CompletionCreateParamsNonStreaming)
    streamed = pydantic.TypeAdapter(completions.completion_create_params.CompletionCreateParamsStreaming)
    reasons = literals(completions.CompletionChoice.model_fields["finish_reason"].annotation)
    tools = prefill = reasoning = False

    def answer(self, model, choices, **rest):
        return dumped(completions.Completion.model_construct(id="cmpl-1", object="text_completion", created=1, model=model, choices=choices,
                                                             **rest), warnings=False)

    def choice(self, text, reason):
        return completions.CompletionChoice.model_construct(index=0, text=text, finish_reason=reason, logprobs=None)

    def whole(self, reply, model):
        return self.answer(model, [self.choice(reply.text, self.ended(reply))], usage=self.usage(reply))

    def events(self, reply, model, body):
        for piece in pieces(reply.text):
            yield sse(self.answer(model, [self.choice(piece, None)]))
        yield sse(self.answer(model, [self.choice("", self.ended(reply))]))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield sse(self.answer(model, [], usage=self.usage(reply)))
        yield sse("[DONE]")


class Responses(OpenAi):
    name, tail, provider, flags = "responses", "/responses", "openai", ["--responses"]
    unstreamed = pydantic.TypeAdapter(response_params.ResponseCreateParamsNonStreaming)
    streamed = pydantic.TypeAdapter(response_params.ResponseCreateParamsStreaming)
    usual = calling = "completed"
    reasons = [usual, *literals(responses.response.IncompleteDetails.model_fields["reason"].annotation)]
    # Why one has failed, and states that are not the end.
    failures = literals(responses.ResponseError.model_fields["code"].annotation)
    unfinished = [status for status in literals(responses.Response.model_fields["status"].annotation) if status not in ("completed", "incomplete")]
    prefill = False

    def expected(self, reply):
        wanted = super().expected(reply)
        if reply.calls and self.ended(reply) == "completed":
            wanted["finish_reason"] = "tool_calls"
        return wanted

    def usage(self, reply):
        prompt, completion, thought = reply.tokens
        return {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion,
                "input_tokens_details": {"cached_tokens": reply.cached, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": thought}}

    def items(self, reply):
        if reply.reasoning or reply.hidden:
            summary = [{"type": "summary_text", "text": reply.reasoning}] if reply.reasoning else []
            yield responses.ResponseReasoningItem(id="rs_1", type="reasoning", summary=summary, encrypted_content="c2VjcmV0")
        parts = [responses.ResponseOutputText(type="output_text", text=piece, annotations=[])
                 for piece in (pieces(reply.text) if reply.parts else [reply.text]) if piece]
        if reply.refusal:
            parts.append(responses.ResponseOutputRefusal(type="refusal", refusal=reply.refusal))
        if parts:
            yield responses.ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=parts)
        for at, (name, arguments) in enumerate(reply.calls):
            yield responses.ResponseFunctionToolCall(id=f"fc_{at}", call_id=f"call_{at}", type="function_call", name=name,
                                                     arguments=arguments, status="completed")

    def sent_back(self, reply):
        """All items as they came, if there is reasoning among them."""
        whole = [dumped(item, exclude_unset=True) for item in self.items(reply)] if reply.calls else []
        return whole if reply.reasoning or reply.hidden else [arguments for _, arguments in reply.calls]

    def response(self, model, status, **rest):
        fields = {"id": "resp_1", "created_at": 1, "object": "response", "model": model, "output": [], "parallel_tool_calls": True,
                  "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "status": status}
        return responses.Response(**{**fields, **rest})

    def ending(self, reply, model):
        reason = self.ended(reply)
        status = "completed" if reason == "completed" else "incomplete"
        details = {"reason": reason} if status == "incomplete" else None
        return self.response(model, status, output=list(self.items(reply)), usage=self.usage(reply), incomplete_details=details)

    def whole(self, reply, model):
        return dumped(self.ending(reply, model), exclude_unset=True)

    def events(self, reply, model, body):
        numbers = iter(range(10_000))

        def event(kind, **fields):
            name = literals(kind.model_fields["type"].annotation)[0]
            return sse(dumped(kind(**{"type": name, "sequence_number": next(numbers), **fields}), exclude_unset=True), name)

        def within(kind, at, **fields):
            return event(kind, item_id=f"item_{at}", output_index=at, **fields)

        begun = self.response(model, "in_progress")
        yield event(responses.ResponseCreatedEvent, response=begun)
        yield event(responses.ResponseInProgressEvent, response=begun)
        for at, item in enumerate(self.items(reply)):
            yield event(responses.ResponseOutputItemAddedEvent, output_index=at, item=item)
            if item.type == "reasoning":
                for part in item.summary:
                    yield within(responses.ResponseReasoningSummaryPartAddedEvent, at, summary_index=0, part={"type": "summary_text", "text": ""})
                    for piece in pieces(part.text):
                        yield within(responses.ResponseReasoningSummaryTextDeltaEvent, at, summary_index=0, delta=piece)
                    yield within(responses.ResponseReasoningSummaryTextDoneEvent, at, summary_index=0, text=part.text)
            elif item.type == "message":
                for n, part in enumerate(item.content):
                    yield within(responses.ResponseContentPartAddedEvent, at, content_index=n, part=part)
                    if part.type == "output_text":
                        for piece in pieces(part.text):
                            yield within(responses.ResponseTextDeltaEvent, at, content_index=n, delta=piece, logprobs=[])
                        yield within(responses.ResponseTextDoneEvent, at, content_index=n, text=part.text, logprobs=[])
                    else:
                        for piece in pieces(part.refusal):
                            yield within(responses.ResponseRefusalDeltaEvent, at, content_index=n, delta=piece)
                    yield within(responses.ResponseContentPartDoneEvent, at, content_index=n, part=part)
            else:
                for piece in pieces(item.arguments):
                    yield within(responses.ResponseFunctionCallArgumentsDeltaEvent, at, delta=piece)
                yield within(responses.ResponseFunctionCallArgumentsDoneEvent, at, arguments=item.arguments)
            yield event(responses.ResponseOutputItemDoneEvent, output_index=at, item=item)
        ending = self.ending(reply, model)
        kind = responses.ResponseCompletedEvent if ending.status == "completed" else responses.ResponseIncompleteEvent
        yield event(kind, response=ending)

    def error(self, reply):
        if reply.error in self.failures:
            error = {"code": reply.error, "message": f"The server says {reply.error}"}
            return dumped(self.response("m", "failed", error=error), exclude_unset=True)
        return dumped(self.response("m", reply.error), exclude_unset=True)

    def error_event(self, reply):
        kind = responses.ResponseFailedEvent
        return {"type": literals(kind.model_fields["type"].annotation)[0], "sequence_number": 0, "response": self.error(reply)}


class Messages(Api):
    name, provider, flags, base, tail = "messages", "anthropic", [], "/anthropic", "/v1/messages"
    key = ("x-api-key", "{key}")
    # The version before that of the SDK, which has the same answers, and where models that take a temperature still take it.
    headers = {"anthropic-version": "2023-06-01"}
    unstreamed = pydantic.TypeAdapter(messages.message_create_params.MessageCreateParamsNonStreaming)
    streamed = pydantic.TypeAdapter(messages.message_create_params.MessageCreateParamsStreaming)
    reasons = literals(messages.Message.model_fields["stop_reason"].annotation)
    usual, calling = "end_turn", "tool_use"
    failures = {literals(error.model_fields["type"].annotation)[0]: error for error in typing.get_args(typing.get_args(messages.ErrorObject)[0])}

    def blocks(self, reply):
        if reply.hidden:
            yield messages.RedactedThinkingBlock(type="redacted_thinking", data="c2VjcmV0")
        if reply.reasoning:
            yield messages.ThinkingBlock(type="thinking", thinking=reply.reasoning, signature="c2lnbmVk" * 3)
        for piece in [reply.text[:9], reply.text[9:]] if reply.parts else [reply.text]:
            if piece:
                yield messages.TextBlock(type="text", text=piece, citations=None)
        for at, (name, arguments) in enumerate(reply.calls):
            # There is no other way than an object here.
            yield messages.ToolUseBlock(type="tool_use", id=f"toolu_{at}", name=name, input=json.loads(arguments))

    def sent_back(self, reply):
        return [dumped(block, exclude_none=True) for block in self.blocks(reply)] if reply.calls and reply.reasoning else []

    def usage(self, reply):
        prompt, completion, thought = reply.tokens
        return {"input_tokens": prompt - reply.cached, "output_tokens": completion, "cache_read_input_tokens": reply.cached,
                "cache_creation_input_tokens": 0, "output_tokens_details": {"thinking_tokens": thought}}

    def message(self, model, **rest):
        return messages.Message(**{"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
                                   "stop_reason": None, "stop_sequence": None, **rest})

    def whole(self, reply, model):
        return dumped(self.message(model, content=list(self.blocks(reply)), stop_reason=self.ended(reply), usage=self.usage(reply)))

    def events(self, reply, model, body):
        def event(kind, **fields):
            return sse(dumped(kind(**fields), exclude_unset=True), fields["type"])

        def delta(at, **fields):
            return event(messages.RawContentBlockDeltaEvent, type="content_block_delta", index=at, delta=fields)

        begun = {**self.usage(reply), "output_tokens": 1}
        yield event(messages.RawMessageStartEvent, type="message_start", message=self.message(model, usage=begun))
        yield sse({"type": "ping"}, "ping")
        for at, block in enumerate(self.blocks(reply)):
            empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}.get(block.type, {})
            start = {**dumped(block, exclude_none=True), **empty}
            yield event(messages.RawContentBlockStartEvent, type="content_block_start", index=at, content_block=start)
            if block.type == "text":
                yield from (delta(at, type="text_delta", text=piece) for piece in pieces(block.text))
            elif block.type == "thinking":
                yield from (delta(at, type="thinking_delta", thinking=piece) for piece in pieces(block.thinking))
                yield delta(at, type="signature_delta", signature=block.signature)
            elif block.type == "tool_use":
                yield from (delta(at, type="input_json_delta", partial_json=piece) for piece in pieces(json.dumps(block.input)))
            yield event(messages.RawContentBlockStopEvent, type="content_block_stop", index=at)
        yield event(messages.RawMessageDeltaEvent, type="message_delta", delta={"stop_reason": self.ended(reply), "stop_sequence": None},
                    usage=self.usage(reply))
        yield event(messages.RawMessageStopEvent, type="message_stop")

    def error(self, reply):
        error = self.failures[reply.error].model_construct(type=reply.error, message=f"The server says {reply.error}")
        return dumped(messages.ErrorResponse.model_construct(type="error", error=error, request_id=None), warnings=False)

    def refuse(self, name):
        error = messages.InvalidRequestError(type="invalid_request_error", message=f"`{name}` is deprecated for this model.")
        return dumped(messages.ErrorResponse(type="error", error=error, request_id=None))


class Gemini(Api):
    name, provider, flags, base, tail = "gemini", "gemini", [], "/gemini", "/v1beta/models/"
    key = ("x-goog-api-key", "{key}")
    reasons = [reason.value for reason in gemini.FinishReason]
    blocked = [reason.value for reason in gemini.BlockedReason]
    usual = calling = "STOP"
    prefill = False
    client = genai.Client(api_key="x")._api_client

    def wants_stream(self, path, body):
        return ":streamGenerateContent" in path and "alt=sse" in path

    def errors(self, body, stream):
        """The SDK's models forbid extra fields; the body has to be what the SDK would write of them."""
        shapes = [(name, body.get(name, kind()), kind) for name, kind in (("contents", list), ("generationConfig", dict))]
        if wrong := [(name, f"is no {kind.__name__}") for name, value, kind in shapes if not isinstance(value, kind)]:
            return wrong
        config = body.get("generationConfig", {})
        rest = {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
        faults = [(f"generationConfig.{name}", "is in two places") for name in config if name in rest]
        try:
            contents = [gemini.Content.model_validate(content) for content in body.get("contents", [])]
            parameters = gemini._GenerateContentParameters(model="m", contents=contents, config=gemini.GenerateContentConfig(**config, **rest))
        except pydantic.ValidationError as error:
            return faults + [(".".join(str(part) for part in one["loc"]), f"{one['type']}: {one['msg']}") for one in error.errors()]
        written = gemini_wire._GenerateContentParameters_to_mldev(self.client, parameters)
        del written["_url"]
        return faults + list(differing(json.loads(json.dumps(written, default=plain)), body))

    def parts(self, reply, streamed):
        cut = pieces if streamed else lambda text: [text] if text else []
        for piece in cut(reply.reasoning):
            yield gemini.Part(text=piece, thought=True)
        for piece in pieces(reply.text) if reply.parts else cut(reply.text):
            yield gemini.Part(text=piece)
        for name, arguments in reply.calls:
            yield gemini.Part(function_call=gemini.FunctionCall(name=name, args=json.loads(arguments)), thought_signature=b"signed")

    def sent_back(self, reply):
        signature = base64.b64encode(b"signed").decode()
        return [{"functionCall": {"name": name, "args": json.loads(arguments)}, "thoughtSignature": signature}
                for name, arguments in reply.calls]

    def response(self, model, parts, reason, reply):
        prompt, completion, thought = reply.tokens
        usage = gemini.GenerateContentResponseUsageMetadata(
            prompt_token_count=prompt, candidates_token_count=completion - thought, thoughts_token_count=thought or None,
            cached_content_token_count=reply.cached or None, total_token_count=prompt + completion)
        content = gemini.Content(role="model", parts=parts)
        candidate = gemini.Candidate(index=0, content=content, finish_reason=reason)
        return dumped(gemini.GenerateContentResponse(candidates=[candidate], usage_metadata=usage, model_version=model),
                      by_alias=True, exclude_none=True)

    def whole(self, reply, model):
        return self.response(model, list(self.parts(reply, False)), self.ended(reply), reply)

    def events(self, reply, model, body):
        for part in self.parts(reply, True):
            yield sse(self.response(model, [part], None, reply))
        yield sse(self.response(model, [gemini.Part(text="")], self.ended(reply), reply))

    def error(self, reply):
        if reply.error in self.blocked:
            feedback = gemini.GenerateContentResponsePromptFeedback(block_reason=reply.error)
            return dumped(gemini.GenerateContentResponse(prompt_feedback=feedback), by_alias=True, exclude_none=True)
        # google.rpc.Status in JSON; the SDK has no class for it.
        code = {"UNAVAILABLE": 503, "RESOURCE_EXHAUSTED": 429, "PERMISSION_DENIED": 403}[reply.error]
        return {"error": {"code": code, "message": f"The server says {reply.error}", "status": reply.error}}


def plain(value):
    """A value of the SDK as it writes it into a request."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def differing(written, sent, path=""):
    """Where two JSON values differ; the letters' case of names of types is not told apart by the server."""
    if isinstance(written, dict) and isinstance(sent, dict):
        for name in sorted({*written, *sent}):
            inside = f"{path}.{name}" if path else name
            if name not in written:
                yield inside, "the SDK does not write it"
            elif name not in sent:
                yield inside, f"the SDK writes {json.dumps(written[name])}"
            else:
                yield from differing(written[name], sent[name], inside)
    elif isinstance(written, list) and isinstance(sent, list) and len(written) == len(sent):
        for at, (one, other) in enumerate(zip(written, sent)):
            yield from differing(one, other, f"{path}.{at}")
    elif written != sent and not (path.endswith(".type") and str(written).lower() == str(sent).lower()):
        yield path, f"the SDK writes {json.dumps(written)}, not {json.dumps(sent)}"


APIS = {api.name: api for api in (Chat(), Completions(), Responses(), Messages(), Gemini())}
