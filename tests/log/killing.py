"""Killing a process that keeps a log in order, at a point that SQLite's own steps count."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.trusting import trusted

_SCRIPT = """
import os, signal, sys
from acp_proxy.log.upkeep import Upkeep

path, point = sys.argv[1], int(sys.argv[2])
ticks = 0

def tick():
    global ticks
    ticks += 1
    if ticks == point:
        os.kill(os.getpid(), signal.SIGKILL)

with Upkeep(path) as upkeep:
    upkeep.db.set_progress_handler(tick, 200)
{work}
print(ticks)
"""


def copied(log: Path, to: Path) -> Path:
    """Copy a log."""
    with closing(sqlite3.connect(log)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = WAL")
    return trusted(to)


def points(log: Path, work: str, folder: Path, count: int) -> list[int]:
    """Return so many points, spread over the whole of a work that is done once on a copy."""
    done = _run(copied(log, folder / "whole.db"), work, 0)
    assert done.returncode == 0, done.stderr
    ticks = int(done.stdout)
    assert ticks > count
    return [max(1, ticks * place // count) for place in range(count)]


def kill_at(log: Path, copy: Path, work: str, point: int) -> None:
    """Do a work on a copy of a log, and be killed at a point of it."""
    done = _run(copied(log, copy), work, point)
    assert done.returncode == -9, done.stderr


def _run(log: Path, work: str, point: int) -> "subprocess.CompletedProcess[str]":
    indented = "".join(f"    {line}\n" for line in work.splitlines())
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(work=indented), str(log), str(point)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
