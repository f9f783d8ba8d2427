"""Sound logs to be damaged, and what each command says of them."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.state import checkpoints
from tests.fuzz import conversations
from tests.trusting import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

SMALL_SPACING = 6000
"""How far apart checkpoints are here, in bytes, so that small logs have some."""
USUAL_SPACING = checkpoints.SPACING
LIMIT_SECONDS = 20
_SUFFIXES = ("", "-wal")
_MOST_LINES = 60
_IMPORTED = ("04-claude-v1.jsonl", "v1.jsonl", "v2.jsonl")


class Said(NamedTuple):
    """What a command said; ``fault`` is what should never happen."""

    code: int
    out: str
    err: str
    fault: str = ""


class Sample(NamedTuple):
    """A sound log.

    Attributes:
        path: Its file; there may be a ``-wal`` beside it.
        said: What each command says of it.
        owners: Which table or index each page of the file belongs to.

    """

    path: Path
    said: dict[tuple[str, ...], Said]
    owners: dict[int, str]


class HangError(Exception):
    """A command takes too long."""


def samples(folder: Path) -> list[Sample]:
    """Make the logs: imported conversations, the same in a ``-wal``, and one by the real proxy."""
    checkpoints.SPACING = SMALL_SPACING  # type: ignore[misc]
    folder.mkdir(parents=True, exist_ok=True)
    imported, recorded = _imported(folder), _recorded(folder)
    for path in (imported, recorded):
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return [_sample(path) for path in (imported, _in_wal(folder), recorded)]


def trial_of(folder: Path) -> Path:
    """Return where copies of logs stand: what commands say names it."""
    return folder / "trial.db"


def copy(sample: Sample, to: Path) -> None:
    """Copy a log and its side file."""
    for suffix in (*_SUFFIXES, "-shm"):
        Path(f"{to}{suffix}").unlink(missing_ok=True)
    for suffix in _SUFFIXES:
        if Path(f"{sample.path}{suffix}").exists():
            shutil.copyfile(f"{sample.path}{suffix}", f"{to}{suffix}")
    trusted(to)


def ask(words: Sequence[str], log: Path) -> Said:
    """Run a command in this process, for a bounded time."""
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(LIMIT_SECONDS)
    try:
        result = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)])
    finally:
        signal.alarm(0)
    error = result.exception
    fault = ""
    if isinstance(error, HangError):
        fault = "hangs"
    elif error is not None and not isinstance(error, SystemExit):
        fault = f"raises {error!r}"
    return Said(result.exit_code, result.stdout, result.stderr, fault)


def _hangs(_number: int, _frame: FrameType | None) -> None:
    raise HangError


def _imported(folder: Path) -> Path:
    log = folder / "imported.db"
    for name, lines in conversations.recordings():
        if name in _IMPORTED:
            import_lines(log, name, [x for x in lines if len(x[1]) < 20_000][:_MOST_LINES])
    return log


def _in_wal(folder: Path) -> Path:
    """Return a log of which most stands in the ``-wal``, as a machine that lost power leaves it."""
    log, made = folder / "in-wal.db", folder / "made.db"
    import_lines(made, "first", conversations.recordings()[-1][1])
    with contextlib.closing(sqlite3.connect(made)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM frames").fetchall()  # so that nothing is moved
        for name, lines in conversations.recordings():
            if name in ("v1.jsonl", "v2.jsonl"):
                import_lines(made, name, list(lines))
        for suffix in _SUFFIXES:
            shutil.copyfile(f"{made}{suffix}", f"{log}{suffix}")
    return trusted(log)


def _recorded(folder: Path) -> Path:
    log = folder / "recorded.db"
    command = [sys.executable, "-P", "-m", "acp_proxy", "demo", "--log", str(log)]
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=120, check=True)
    return log


def import_lines(log: Path, name: str, lines: Sequence[tuple[str, bytes]]) -> None:
    """Import the lines of a conversation into a log."""
    header = {"acp-proxy": 1, "connection": {"label": name, "command": ["agent"], "cwd": "/w"}}
    body = [
        {
            "from": stream,
            "data": raw.decode(errors="replace").rstrip("\n"),
            "elapsed_ns": seq * 10**7,
        }
        | {"time": f"2026-03-01T09:{seq // 60 % 60:02}:{seq % 60:02}Z"}
        for seq, (stream, raw) in enumerate(lines)
    ]
    text = "\n".join(json.dumps(line) for line in [header, *body])
    arguments = ["import", "-", "--log", str(log)]
    result = CliRunner().invoke(acp_proxy, arguments, input=text.encode())
    assert result.exit_code == 0, result.output


def _sample(path: Path) -> Sample:
    trial = trial_of(path.parent)
    sample = Sample(path, {}, {})
    copy(sample, trial)
    for words in _commands(trial):
        said = ask(words, trial)
        assert not said.fault, (words, said)
        assert said.code < 2, (words, said)
        sample.said[words] = said
    with contextlib.closing(sqlite3.connect(path)) as db:
        if path.name != "in-wal.db":
            sample.owners.update(db.execute("SELECT pageno, name FROM dbstat"))
    return sample


def _commands(log: Path) -> Iterator[tuple[str, ...]]:
    """Yield the commands that read, with all their forms."""
    yield from (("connections",), ("connections", "--json"), ("log", "info"), ("sessions", "--all"))
    yield from (("search", "the"), ("search", "tool", "--json"))
    for row in json.loads(ask(["connections", "--json"], log).out):
        id_, last = str(row["id"]), row["messages"]
        yield from _of_connection(id_, last, log)


def _of_connection(id_: str, last: int, log: Path) -> Iterator[tuple[str, ...]]:
    for name in ("messages", "state", "sessions", "tool-calls", "permissions", "terminals"):
        yield name, id_
        yield name, id_, "--json"
    for name in ("pending", "stats", "timeline"):
        yield name, id_, "--json"
    yield from (("tail", id_, "-n", "1000"), ("tail", id_, "--json"))
    yield "diff", id_, "--at", str(last // 2), "--at", str(last), "--json"
    yield from (("messages", id_, "--odd"), ("messages", id_, "--method", "session/*"))
    yield from (("export", id_, "--jsonl"), ("export", id_, "--jsonl", "--raw"))
    yield from (("transcript", id_), ("transcript", id_, "--format", "html"))
    yield from (("export", id_, "--stream", stream) for stream in ("client", "agent", "stderr"))
    for seq in (1, last // 2, last):
        yield "show", id_, str(seq)
        yield "state", id_, "--at", str(seq), "--json"
    document = json.loads(ask(["state", id_, "--json"], log).out)
    for session in document["sessions"][:2]:
        for call in session["toolCalls"][:1]:
            yield "tool-call", id_, call["toolCallId"]
            yield "tool-call", id_, call["toolCallId"], "--history"
        for terminal in session["terminals"][:1]:
            yield "terminal", id_, terminal["terminalId"]
            yield "terminal", id_, terminal["terminalId"], "--raw"
