"""Journals made by hand, for tests of what the recorder makes of them."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from acp_proxy.journal import spool
from acp_proxy.journal.append import JournalWriter
from acp_proxy.journal.records import Facts, Stream

UUID = "0b6c5a1e-4c7c-4a52-9c0e-1f0a2b3c4d5e"
STREAMS = {"client": Stream.CLIENT, "agent": Stream.AGENT, "stderr": Stream.STDERR}

Chunks = Iterable[tuple[str, bytes]]


def begin(log: Path, uuid: str = UUID, **facts: str | int | list[str]) -> JournalWriter:
    """Return the journal of a new connection, with its first record."""
    start: Facts = {
        "event": "start",
        "uuid": uuid,
        "log": str(log),
        "command": ["agent", "--x"],
        **facts,
    }
    writer = spool.create(str(log), uuid, start)
    assert writer is not None
    return writer


def append(writer: JournalWriter, chunks: Chunks) -> None:
    """Append chunks of streams."""
    for stream, data in chunks:
        writer.append(STREAMS[stream], data)


def abandon(writer: JournalWriter) -> None:
    """Let go of a journal as a killed proxy does."""
    os.close(writer._fd)


def record(path: str) -> subprocess.CompletedProcess[bytes]:
    """Run a recorder on a left-over journal to its end."""
    return subprocess.run(
        [sys.executable, "-c", "from acp_proxy.recorder import main; main()", path],
        capture_output=True,
        timeout=120,
        check=False,
    )
