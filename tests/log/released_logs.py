"""Logs of released steps, unpacked; what a log answers; and a reader that goes on asking."""

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.recording import Recording, open_recording
from acp_proxy.state.fold import State
from acp_proxy.views.state_json import state_pieces
from tests.cli.commands import invoke
from tests.harness import Process, environment
from tests.trusting import trusted

RELEASED = Path(__file__).parent / "released"
STREAMS = ("client", "agent", "stderr")
Told = dict[str, dict[str, dict[str, Any]]]

READER = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.log.released_logs import keep_asking
keep_asking(sys.argv[1])
"""


def unpack(step: str, folder: Path, *, waiting: bool = False) -> tuple[Path, Told]:
    """Return a released log, and what was said in it; the journal that waits beside it if wanted."""
    if not (RELEASED / f"{step}.tar.xz").is_file():
        pytest.skip(f"{step} has no log yet")  # another test fails of it
    with tarfile.open(RELEASED / f"{step}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    if not waiting:
        for journal in (folder / "log.db.journals").iterdir():
            journal.unlink()
    told: Told = json.loads((folder / "told.json").read_text())
    return trusted(folder / "log.db"), told


def ids(log: Path) -> dict[str, int]:
    """Return the connections by their labels."""
    with closing(sqlite3.connect(log)) as db:
        return dict(db.execute("SELECT label, id FROM connections ORDER BY id"))


def answers(log: Path, labels: Collection[str] = ()) -> dict[str, str]:
    """Return what a log answers to each question, but for search, about some connections or all."""
    questions = [["connections", "--json"], ["sessions", "--all", "--json"]]
    for label, one in ids(log).items():
        if label in labels or not labels:
            questions += _about(log, one)
    return {" ".join(words): _ask(log, words) for words in questions}


def _about(log: Path, connection: int) -> Iterator[list[str]]:
    one = str(connection)
    for command in (
        *("messages", "sessions", "state", "tool-calls", "terminals", "permissions"),
        *("stats", "timeline"),
    ):
        yield [command, one, "--json"]
    count = len(json.loads(_ask(log, ["messages", one, "--json"])))
    yield ["state", one, "--at", str(count * 2 // 3), "--json"]
    if '"status":"running"' not in _ask(log, ["stats", one, "--json"]):  # else it tells the time
        yield ["pending", one, "--json"]
    yield ["show", one, str(count // 2), "--json"]
    yield ["diff", one, str(count // 3), str(count), "--json"]
    yield ["tail", one, "--lines", "400"]
    yield ["messages", one, "--odd"]
    yield ["transcript", one, "--format", "json"]
    yield ["export", one, "--jsonl", "--raw"]
    for session in json.loads(_ask(log, ["state", one, "--json"]))["sessions"]:
        here = ["--session", session["sessionId"], "--json"]
        for call in session.get("toolCalls", [])[:3]:
            yield ["tool-call", one, call["toolCallId"], *here]
        for terminal in session.get("terminals", [])[:2]:
            yield ["terminal", one, terminal["terminalId"], *here]


def _ask(log: Path, words: list[str]) -> str:
    done = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout + (f"\n{done.exit_code}: {done.stderr}" if done.exit_code else "")


def imported_anew(log: Path, new: Path, scratch: Path) -> None:
    """Import all that was said in a log into a new one, and tell that of the same runs.

    Only facts about the runs that an import does not take are copied: how they ended, gaps.
    """
    for connection in ids(log).values():
        text = invoke("export", connection, "--jsonl", "--raw", "--log", log).stdout_bytes
        scratch.write_bytes(text)
        if new.exists():
            _give_next(new, connection)
        invoke("import", scratch, "--log", new)
    with closing(sqlite3.connect(new)) as db:
        db.execute("ATTACH ? AS old", (str(log),))
        facts = [
            *("label", "added_ns", "proxy_pid", "agent_pid", "recorded_by", "started_ns"),
            *("ended_ns", "duration_ns", "status", "exit_code", "signal", "gaps", "notes", "facts"),
            *(f"{stream}_bytes" for stream in STREAMS),
        ]
        sets = ", ".join([*(f"{name} = o.{name}" for name in facts), "crc = NULL"])
        db.execute(f"UPDATE connections AS c SET {sets} FROM old.connections o WHERE o.id = c.id")
        db.execute(
            "UPDATE frames SET offset = o.offset, crc = NULL FROM old.frames o "
            "WHERE o.id = frames.id AND o.offset <> frames.offset"
        )
        db.commit()
    invoke("log", "reindex", "--log", new)


def _give_next(log: Path, number: int) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'connections'", (number - 1,))
        db.commit()


def schema_of(log: Path) -> list[Any]:
    """Return all that a log's schema says."""
    with closing(sqlite3.connect(log)) as db:
        return db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()


def keep_asking(path: str) -> None:
    """Ask an opened log the same again and again, and as often a log opened anew.

    The first line of input is awaited in the middle of an answer. Prints a line for each
    round, ends with the input, and fails as soon as an answer is another one.
    """
    with open_recording(path) as kept:
        ended = [row.id for row in kept.connections() if row.status != "running"]
        expected = _what_it_says(kept, ended)
        steps = [_told(state) for state, _ in kept.steps(ended[-1])]
        going = (_told(state) for state, _ in kept.steps(ended[-1]))
        begun = list(islice(going, 10))
        print("began", flush=True)
        sys.stdin.readline()
        assert begun + list(going) == steps, "an answer that had begun before"
        while True:
            assert _what_it_says(kept, ended) == expected, "in the log that was open"
            with open_recording(path) as fresh:
                assert _what_it_says(fresh, ended) == expected, "in a log opened now"
            print("round", flush=True)
            if sys.stdin.readline() == "":
                return


def _what_it_says(recording: Recording, connections: Collection[int]) -> list[str]:
    found = [repr(row) for row in recording.sessions() if row.connection_id in connections]
    for one in connections:
        found += [repr(row) for row in recording.messages(one)]
        found += [repr(recording.connection(one))]
        found += [_told(recording.state(one)), _told(recording.state(one, at=3))]
    return found


def _told(state: State) -> str:
    return b"".join(state_pieces(state, 0)).decode()


def reader(log: Path) -> Process:
    """Start a process that goes on asking."""
    root = str(Path(__file__).resolve().parents[2])
    return Process([sys.executable, "-c", READER, str(log), root], env=environment())


def run_command(log: Path) -> None:
    """Record a connection with no more to it than one line."""
    command = [sys.executable, "-m", "acp_proxy", "run", "--log", str(log), "--", "echo", "hello"]
    subprocess.run(command, env=environment(), check=True, capture_output=True, timeout=120)


def is_waiting(log: Path) -> bool:
    """Tell whether a journal waits."""
    return bool(os.listdir(f"{log}.journals"))
