"""Running commands at a terminal that draw progress bars at once, and what was drawn."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.harness import LIMIT, PROXY, environment
from tests.terminals import Terminal

AT_ONCE = [
    sys.executable,
    "-c",
    "from acp_proxy.cli import main, progress; progress._PATIENCE_SECONDS = 0; main()",
]
"""Our command line without its patience."""
ERASE = b"\r\x1b[K"
_SHOWN = re.compile(
    r"(?P<label>\w+): +(?P<percent>\d+)%\|.*\| (?P<done>[\d.]+[kM]?)/(?P<total>[\d.]+[kM]?)(?P<unit>\D+), "
    r"(?:\?|[\d.]+[kM]?)\D+/s, (?:\?|[\d:]+) left"
)


class Drawn(NamedTuple):
    """What a terminal was shown, taken apart: bars, and all the rest."""

    bars: list[str]
    rest: str


def drawn(shown: bytes) -> Drawn:
    """Take apart what a terminal was shown, of which only bars do not end with a line."""
    first, *pieces = shown.split(ERASE)
    bars, rest = [], first.decode()
    for piece in pieces:
        bar, newline, after = piece.decode().partition("\r\n")
        if newline:
            rest += bar + newline + after
        elif bar:
            bars.append(bar)
    return Drawn(bars, rest.replace("\r\n", "\n"))


def run(
    *words: object,
    log: Path,
    output: Path | None = None,
    columns: int = 100,
    variables: dict[str, str] | None = None,
) -> tuple[Drawn, str, int]:
    """Run a command that draws at once; return what was drawn, the last screen, and the exit code."""
    command = [*AT_ONCE, *map(str, words), "--log", str(log)]
    if output is not None:
        command = ["sh", "-c", 'exec "$@" > "$0"', str(output), *command]
    with Terminal(command, columns, **(variables or {})) as terminal:
        shown = terminal.end()
        return drawn(shown), terminal.screen(shown), terminal.process.wait()


def plainly(*words: object, log: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command that has no terminal."""
    return subprocess.run(
        [str(PROXY), *map(str, words), "--log", str(log)],
        env=environment(TERM="xterm"),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )


def assert_truthful(bars: list[str], *labels: str) -> None:
    """Fail unless there were bars of these labels, each of which went forwards and to its end."""
    found: dict[str, list[re.Match[str]]] = {}
    for bar in bars:
        if match := _SHOWN.fullmatch(bar):
            found.setdefault(match["label"], []).append(match)
    assert list(found) == list(labels)
    for of_label in found.values():
        percents = [int(match["percent"]) for match in of_label]
        assert all(before <= after for before, after in pairwise(percents))
        assert percents[-1] == 100
        assert of_label[-1]["done"] == of_label[-1]["total"]
        assert len({match["total"] for match in of_label}) == 1
