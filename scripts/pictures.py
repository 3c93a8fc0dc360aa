"""Draws what commands print in a terminal of 80 columns: pictures.py FILE.svg COMMAND…, each command with its prompt before it."""

import os
import pty
import subprocess
import sys

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

COLUMNS = 80
# The lines of a command that the picture has room for.
LINES = 34

# rich's own template asks a server for its font; this one takes what the reader has.
TEMPLATE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>wikitrail in a terminal</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def printed(command):
    """What a command writes to a terminal."""
    reader, terminal = pty.openpty()
    environment = dict(os.environ, TERM="xterm-256color", COLUMNS=str(COLUMNS))
    with subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, env=environment) as process:
        os.close(terminal)
        pieces = []
        while True:
            try:
                piece = os.read(reader, 65536)
            except OSError:  # the end of a terminal, on Linux
                break
            if not piece:
                break
            pieces.append(piece)
    os.close(reader)
    if process.returncode != 0:
        sys.exit(f"{command}: status {process.returncode}\n{b''.join(pieces).decode()}")
    # A progress bar writes over its own line: what remains is what comes after the last carriage return.
    lines = b"".join(pieces).decode().replace("\r\n", "\n").split("\n")
    return [line.rsplit("\r", 1)[-1].removeprefix("\x1b[2K") for line in lines]


def main():
    file, *commands = sys.argv[1:]
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        for command in commands:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            lines = printed(command)
            while lines and not lines[-1]:
                lines.pop()
            for line in lines[:LINES] + (["…"] if len(lines) > LINES else []):
                console.print(Text.from_ansi(line), soft_wrap=False)
            console.print()
        console.save_svg(file, title="", theme=DIMMED_MONOKAI, code_format=TEMPLATE, unique_id="terminal")


main()
