"""Finding the program, and starting it."""

from __future__ import annotations

import json
import numbers
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

Flag = Union[None, bool, str, int, float, "os.PathLike[str]", Sequence[Union[str, int, float, "os.PathLike[str]"]]]

# Ended, but something was not measured.
INCOMPLETE = 4


class WikitrailError(Exception):
    """The program refused or failed; `message` and `hint` are what it said.

    `code` is its exit code: 2 for arguments that make no sense, 3 for a file or folder that is missing or invalid, 5 for a
    check that found a difference, 1 for anything unexpected. `output` is what it had written to its standard output, such as
    the comparison whose condition holds.
    """

    def __init__(self, code: int, said: str, output: str = "") -> None:
        lines = [line for line in said.splitlines() if line.strip()]
        after = next((at for at, line in enumerate(lines) if line.startswith("error: ")), None)
        told = lines[after:] if after is not None else lines[-1:]
        self.code = code
        self.output = output
        self.hint = next((line[len("hint: ") :] for line in told if line.startswith("hint: ")), None)
        self.message = "\n".join(line for line in told if not line.startswith("hint: ")).removeprefix("error: ")
        super().__init__("\n".join(told) or f"wikitrail ended with code {code}")


class WikitrailWarning(UserWarning):
    """Something was not measured, such as an episode whose model did not answer."""


def program() -> str:
    """The path of the program: the one installed with this package, else the first `wikitrail` on the PATH."""
    name = "wikitrail" + (sysconfig.get_config_var("EXE") or "")
    schemes = [None, sysconfig.get_preferred_scheme("user")]
    folders = [sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts") for scheme in schemes]
    # An installation with --target has it beside the package.
    folders.append(str(Path(__file__).parent.parent / "bin"))
    for folder in folders:
        found = Path(folder) / name
        if found.is_file():
            return str(found)
    on_path = shutil.which("wikitrail")
    if on_path is None:
        raise FileNotFoundError("the program `wikitrail` is neither beside this package nor on the PATH")
    return on_path


def arguments(flags: Mapping[str, Flag]) -> list[str]:
    """Flags of the program from names and values: `max_steps=5` is `--max-steps=5`, `True` is the bare flag, and a list gives
    the flag once for each of its values.

    >>> arguments({"max_steps": 5, "resume": True, "metric": ["em", "f1"], "model": None})
    ['--max-steps=5', '--resume', '--metric=em', '--metric=f1']
    """
    given: list[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            given.append(flag)
        elif isinstance(value, (str, int, float, numbers.Number, os.PathLike)):
            given.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        else:
            given.extend(f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in value)
    return given


def refuse(flags: Mapping[str, Flag], names: Sequence[str], why: str) -> None:
    """Refuses flags whose effect would not be that of the function."""
    for name in names:
        if flags.get(name) not in (None, False):
            raise ValueError(f"{name} is not an argument here: {why}")


def path(value: str | os.PathLike[str]) -> str:
    """A path that cannot be read as a flag."""
    text = os.fspath(value)
    return f"./{text}" if text.startswith("-") else text


def call(args: Sequence[str]) -> str:
    """What the program writes to its standard output; its other messages appear on ours as they come."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
        with subprocess.Popen([program(), *args], stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace") as child:
            assert child.stderr is not None
            said: list[str] = []
            # A Ctrl-C, which interrupts this thread, would lose the line that is read.
            showing = threading.Thread(target=_show, args=(child.stderr, said), daemon=True)
            showing.start()
            try:
                child.wait()
            except KeyboardInterrupt:
                # The program has got the signal too, and says what it still waits for; another one ends it at once.
                child.wait()
                raise
            finally:
                showing.join()
        if child.returncode == INCOMPLETE:
            warnings.warn("not everything was measured: see the messages above", WikitrailWarning, stacklevel=3)
        elif child.returncode != 0:
            out.seek(0)
            raise WikitrailError(child.returncode, "".join(said), out.read())
        out.seek(0)
        return out.read()


def _show(messages: Iterable[str], said: list[str]) -> None:
    for line in messages:
        said.append(line)
        sys.stderr.write(line)


def lines(args: Sequence[str]) -> Iterator[Any]:
    """The JSON objects that the program writes, one for each line, as they come; its other messages appear on our standard
    error at the end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        with subprocess.Popen([program(), *args], stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8") as child:
            assert child.stdout is not None
            try:
                for line in child.stdout:
                    yield json.loads(line)
            finally:
                # A reader that has seen enough.
                child.stdout.close()
        said.seek(0)
        messages = said.read()
        if child.returncode != 0:
            raise WikitrailError(child.returncode, messages)
        sys.stderr.write(messages)
