"""A question as an agent gets it, with its models and tools."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The program listens on this machine, and a proxy of the environment cannot reach it.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True)
class Question:
    """A question for an agent. What it asks of these models and tools is recorded as the question's episode.

    Methods wait for the tool; an `async` agent calls `await asyncio.to_thread(question.search, "Ada Lovelace")`, so that the
    others go on meanwhile. If a tool refuses, as for the id of no document, they raise a `ValueError` with its words.
    """

    id: str
    question: str
    # Addresses of the tools: `tool` (plain HTTP), `retrieve` and, if the program has it, `mcp`.
    tools: Mapping[str, str] = field(repr=False)
    # Addresses of the APIs `openai`, `anthropic` and `gemini`.
    models: Mapping[str, str] = field(repr=False)
    # The key of this episode, which these addresses take instead of a provider's.
    key: str = field(repr=False)
    # The name of the run's model; `None` if the agent chooses.
    model: str | None = None

    @property
    def openai(self) -> dict[str, Any]:
        """Arguments of a client: `openai.OpenAI(**question.openai)`, or `AsyncOpenAI`."""
        return {"base_url": self.models["openai"], "api_key": self.key}

    @property
    def anthropic(self) -> dict[str, Any]:
        """Arguments of a client: `anthropic.Anthropic(**question.anthropic)`."""
        return {"base_url": self.models["anthropic"], "api_key": self.key}

    @property
    def gemini(self) -> dict[str, Any]:
        """Arguments of a client: `google.genai.Client(**question.gemini)`."""
        return {"http_options": {"base_url": self.models["gemini"]}, "api_key": self.key}

    def search(self, query: str) -> str:
        """Opens the page of this title, and returns its beginning or similar titles."""
        return self._observation("search", {"query": query})

    def lookup(self, keyword: str) -> str:
        """The next sentence with this keyword on the open page."""
        return self._observation("lookup", {"keyword": keyword})

    def passages(self, query: str, k: int | None = None) -> str:
        """The best passages for a query: `k`, or as many as the run's `passages`."""
        return self._observation("passages", {"query": query, "k": k})

    def document(self, id: str) -> str:
        """The whole document of this id."""
        return self._observation("document", {"id": id})

    def _observation(self, tool: str, given: Mapping[str, Any]) -> str:
        body = json.dumps({name: value for name, value in given.items() if value is not None}).encode()
        request = urllib.request.Request(f"{self.tools['tool']}/{tool}", body, {"Content-Type": "application/json"})
        try:
            with _open(request) as answer:
                return str(json.load(answer)["observation"])
        except urllib.error.HTTPError as refused:
            with refused:
                raise ValueError(f"{tool}: {_words(refused.read())}") from None


def _words(body: bytes) -> str:
    text = body.decode(errors="replace")
    try:
        return str(json.loads(text)["error"])
    except (ValueError, LookupError, TypeError):
        return text
