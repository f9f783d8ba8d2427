"""Builds the redactor of a recorded connection: its frames are read once or twice, and this machine's secrets."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from acp_proxy.advance import Advance, counted, unwatched
from acp_proxy.own_secrets import own_secrets
from acp_proxy.redaction.redactor import Redactor, Rules
from acp_proxy.views.jsonlines import header_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.log.reader import LogReader
    from acp_proxy.log.rows import ConnectionRow


def redactor_of(
    log: "LogReader",
    row: "ConnectionRow",
    rules: Rules | None = None,
    advance: Advance = unwatched,
) -> Redactor:
    """Return what blanks the secrets of a connection.

    Args:
        log: The log.
        row: The connection.
        rules: What somebody wants blanked beside.
        advance: Is told of each frame twice; of those that need not be read again at the end.

    Raises:
        LogError: The log cannot be read.

    """
    redactor = Redactor(rules)
    for text in own_secrets(os.environ, _home(), _projects(row)):
        redactor.learn_text(text)
    if redactor.learn(lambda: _whole_frames(log, row, advance)) == 1:
        advance(row.frames)
    return redactor


def _projects(row: "ConnectionRow") -> tuple[Path, ...]:
    """Return the folder that the agent worked in; only where it worked on this machine."""
    return (Path(row.cwd),) if row.cwd and row.status != "imported" else ()


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # nobody says where it is
        return None


def _whole_frames(
    log: "LogReader", row: "ConnectionRow", advance: Advance
) -> "Iterator[tuple[int, str, bytes]]":
    yield 0, "client", header_line(row).encode()  # the agent's arguments may hold secrets
    for frame in counted(log.frames(row.id), advance):
        yield frame.seq, frame.stream, b"".join(log.pieces(frame))
