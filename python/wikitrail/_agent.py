"""A Python function as the agent of a run: the program posts it each question, at an address of this process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import hmac
import inspect
import json
import secrets
import socket
import socketserver
import sys
import threading
import traceback
import urllib.parse
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Union

from . import _dataset
from ._question import Question

Answer = Union[str, float, Mapping[str, Any], None]
Agent = Callable[[Question], Union[Answer, Awaitable[Answer]]]

# What a record gets of an exception.
LINES = 5
CHARACTERS = 600

# Between two looks at whether the program still waits for a coroutine.
POLL_SECONDS = 1.0
# The program may close the connection this long after an exception that the end of the episode causes.
CLOSE_SECONDS = 0.2
# The run waits so long for coroutines that it cancels at its end.
CANCEL_SECONDS = 5.0


@contextmanager
def served(agent: Agent | str | None) -> Iterator[str | None]:
    """The value of `--agent`: a command or an address as it is, and for a function the address where it answers meanwhile."""
    if agent is None or isinstance(agent, str):
        yield agent
        return
    if not callable(agent):
        raise TypeError(f"agent is of type {type(agent).__name__}; expected a function of a question, a command or an address")
    with _event_loop() as loop, _Server(agent, loop) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="wikitrail-agent", daemon=True)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def _name(agent: Agent) -> str:
    """What records call the function, whose address is another one each time: its name, and a digest of its source."""
    name = f"{getattr(agent, '__module__', '')}.{getattr(agent, '__qualname__', type(agent).__qualname__)}"
    try:
        source = inspect.getsource(agent if inspect.isroutine(agent) else type(agent))
    except (OSError, TypeError):
        return name
    return f"{name}@{hashlib.sha256(source.encode()).hexdigest()[:12]}"


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in a thread of its own, for the coroutines of an async function."""
    begun: concurrent.futures.Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = concurrent.futures.Future()

    async def until_the_end() -> None:
        end = asyncio.Event()
        begun.set_result((asyncio.get_running_loop(), end))
        await end.wait()

    # At its end, `asyncio.run` cancels what is left.
    thread = threading.Thread(target=asyncio.run, args=(until_the_end(),), name="wikitrail-agent-loop", daemon=True)
    thread.start()
    loop, end = begun.result()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(CANCEL_SECONDS)


class _Server(ThreadingHTTPServer):
    # A function that does not return keeps neither the run nor the interpreter from its end.
    daemon_threads = True
    # All questions of a run may come at once.
    request_queue_size = 1024
    allow_reuse_address = False
    allow_reuse_port = False

    def __init__(self, agent: Agent, loop: asyncio.AbstractEventLoop) -> None:
        # Other programs of this machine can reach the port, but do not know the path.
        self.agent, self.loop, self.path = agent, loop, f"/{secrets.token_urlsafe(24)}"
        self.has_shown = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}{self.path}#{urllib.parse.quote(_name(agent))}"

    def server_bind(self) -> None:
        # That of HTTPServer asks for the name of this machine, which may take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Shows what is not the end of a connection."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def show(self, question: Question, lines: list[str]) -> None:
        """Shows the first exception, as a mistake in the function is one at each question."""
        if self.has_shown.acquire(blocking=False):
            said = "".join(lines)
            sys.stderr.write(f"the agent failed at question {question.id!r}; later exceptions are only recorded\n{said}")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    # Seconds for the arrival of a request, which comes at once.
    timeout = 60

    def do_POST(self) -> None:
        if not hmac.compare_digest(self.path.encode(), self.server.path.encode()):
            self._reply(404, "there is nothing here")
            return
        posted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = Question(
            id=posted["id"],
            question=posted["question"],
            tools=posted["tools"],
            models=posted["models"],
            key=posted["key"],
            model=posted.get("model"),
        )
        try:
            status, text = 200, json.dumps(_fields(self._answer(question)), ensure_ascii=False)
        except BaseException as error:  # A function that calls `sys.exit` has failed like any other.
            lines = _lines(error)
            status, text = 500, _last(lines)
            # After the end of its episode a function gets no more answers, and fails for that alone.
            if not self.server.has_shown.locked() and not self._is_left(CLOSE_SECONDS):
                self.server.show(question, lines)
        self._reply(status, text)

    def _answer(self, question: Question) -> Any:
        given = self.server.agent(question)
        if not inspect.isawaitable(given):
            return given
        coming = asyncio.run_coroutine_threadsafe(_awaited(given), self.server.loop)
        while not concurrent.futures.wait([coming], POLL_SECONDS).done:
            if self._is_left(0):
                coming.cancel()
                return None
        answer, end = coming.result()
        if end:
            raise end
        return answer

    def _is_left(self, within: float) -> bool:
        """Whether the program has closed the connection, as it does at the end of the episode."""
        self.connection.settimeout(within)
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(self.timeout)

    def _reply(self, status: int, text: str) -> None:
        # A model may write half of a pair of surrogates, which no encoding has.
        body = text.encode(errors="replace")
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status == 200 else "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # The program no longer waits for this answer.
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are in the run's folder."""


async def _awaited(given: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    try:
        return await given, None
    except (SystemExit, KeyboardInterrupt) as end:
        # Raised here, it would end the loop, and with it the other coroutines.
        return None, end


def _fields(given: Any) -> dict[str, Any]:
    """What a function returned, as the program reads it."""
    if isinstance(given, Mapping):
        if "answer" not in given:
            raise ValueError(f"the agent returned a dictionary without `answer`, with {list(given)!r}")
        fields = {name: _plain(given[name], name) for name in ("answer", "confidence") if name in given}
    else:
        fields = {"answer": _plain(given, "answer")}
    answer = fields["answer"]
    if isinstance(answer, (list, dict)):
        raise TypeError(f"the agent returned a {type(answer).__name__} as its answer; expected a text, a number or None")
    if isinstance(answer, bool):
        # As in the gold answers of a dataset.
        fields["answer"] = "yes" if answer else "no"
    return fields


def _plain(value: Any, name: str) -> Any:
    try:
        return _dataset.as_json(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the {name} that the agent returned: {error}") from None


def _lines(error: BaseException) -> list[str]:
    """The traceback, without the frames of this file that called the function."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [at for at, (frame, _) in enumerate(frames) if frame.f_code.co_filename == __file__]
    rest = error.__traceback__
    for _ in range(max(own, default=-1) + 1):
        rest = rest and rest.tb_next
    return traceback.format_exception(type(error), error, rest)


def _last(lines: list[str]) -> str:
    """The last lines, without the first one, which only says that lines follow, and the marks below a line of code."""
    texts = [line.strip() for line in "".join(lines).splitlines() if line.strip(" ~^") and not line.startswith("Traceback (")]
    return "\n".join(texts[-LINES:])[-CHARACTERS:]
