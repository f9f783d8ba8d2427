"""What the tee on the client's side of the proxy wrote down: the lines that went by, and the end.

The form of its files is that of ``tee.py`` in the rig. Nothing here knows the proxy or ACP.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

STREAMS = ("client", "agent", "stderr")


class Line(NamedTuple):
    """One line as it went by, with its terminator, if it had one."""

    sender: str
    raw: bytes


class Capture(NamedTuple):
    """One conversation; ``status`` is what the command ended with, minus the signal if by one."""

    lines: list[Line]
    status: int

    def stream(self, sender: str) -> bytes:
        """Return all bytes that one side sent."""
        return b"".join(line.raw for line in self.lines if line.sender == sender)


def read_lines(path: Path) -> list[Line]:
    """Read the lines of a capture; its first line tells about the capture itself."""
    lines = []
    for row in map(json.loads, path.read_text(encoding="utf-8").split("\n")[1:-1]):
        data = base64.b64decode(row["dataBase64"]) if "dataBase64" in row else row["data"].encode()
        lines.append(Line(row["from"], data + row["end"].encode()))
    return lines


def read_capture(path: Path) -> Capture:
    """Read a finished capture with the account of its end, which stands beside it."""
    told = json.loads(path.with_suffix(".meta.json").read_text())
    return Capture(read_lines(path), told["exit_code"])
