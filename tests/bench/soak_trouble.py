"""What goes on around the conversations of the soak: locks, a full disk, readers, and who watches.

Each is a thread that ends soon after ``stop`` is set. Violations go to the list that all share.
"""

import contextlib
import errno
import os
import random
import re
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.bench.routes import CONSOLE_SCRIPT
from tests.bench.soak_watch import Watched

COMMANDS = (
    "connections --json",
    "messages --limit 50",
    "messages --odd --limit 20 --json",
    "search smörgås --limit 3",
    "sessions --all",
    "state --json",
    "stats",
    "tail",
    "pending",
    "tool-calls",
    "transcript",
    "verify latest",
    "log info --json",
)
_LONG_LINE_KB = 256 * 1024
"""What a line of 20 MB takes while it is parsed."""
PATIENCE_S = 600
"""How long a command may take where all the rest of the soak has the processor, too."""
Stop = threading.Event
Complain = Callable[[str], None]


def hold_locks(logs: Callable[[], list[Path]], chance: random.Random, stop: Stop) -> None:
    """Lock a log for some time, again and again, as another program would."""
    while not stop.wait(chance.uniform(1, 8)):
        log = chance.choice(logs())
        with contextlib.suppress(sqlite3.Error), closing(_opened(log)) as db:
            db.execute(chance.choice(["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]))
            stop.wait(chance.choice([0.3, 1.5, 4]))
            db.execute("ROLLBACK")


def _opened(log: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{log}?mode=rw", uri=True, isolation_level=None, timeout=2)


class Disk:
    """A small disk that is full now and then."""

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"
        self._lock = threading.Lock()

    def fill(self, chance: random.Random, stop: Stop) -> None:
        """Fill it for a moment, again and again."""
        while not stop.wait(chance.uniform(1, 5)):
            with self.spared(), contextlib.suppress(OSError):
                self._write()
                stop.wait(chance.choice([0.2, 1, 2.5]))
                os.truncate(self._filler, chance.choice([0, 0, 1 << 20]))
                if chance.random() < 0.8:
                    self._filler.unlink()

    def spared(self) -> "contextlib.AbstractContextManager[object]":
        """In this context nobody else fills the disk."""
        return self._lock

    def clear(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    def _write(self) -> None:
        with self._filler.open("ab", buffering=0) as file:
            size = 1 << 20
            while size >= 1 << 10:
                try:
                    file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    size //= 4


class Readers:
    """Commands that look into the logs while they are written."""

    def __init__(self, complain: Complain) -> None:
        self._complain = complain
        self.asked = 0

    def ask(self, logs: Callable[[], list[Path]], chance: random.Random, stop: Stop) -> None:
        """Ask again and again; an answer may be that there is none, but never a traceback."""
        while not stop.wait(chance.uniform(0.2, 2)):
            command = chance.choice(COMMANDS)
            words = [str(CONSOLE_SCRIPT), *command.split(), "--log", str(chance.choice(logs()))]
            try:
                done = subprocess.run(words, capture_output=True, timeout=PATIENCE_S, check=False)
            except subprocess.TimeoutExpired:
                self._complain(f"{command}: no answer within {PATIENCE_S} s")
                continue
            self.asked += 1
            if b"Traceback" in done.stderr or done.returncode not in {0, 1}:
                self._complain(f"{command}: ended {done.returncode}: {done.stderr[-800:]!r}")


class Follower:
    """One long-lived reader: ``tail --all -f`` from the beginning to the end."""

    def __init__(self, log: Path, complain: Complain) -> None:
        self._complain = complain
        command = [str(CONSOLE_SCRIPT), "tail", "--all", "-f", "--log", str(log)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.watched = Watched("tail --all -f", lambda: self._process.pid, _LONG_LINE_KB)

    def end(self) -> None:
        """End it; it should have lived until now."""
        if self._process.poll() is not None:
            self._complain(f"tail --all -f ended with {self._process.returncode}")
        self._process.terminate()
        told = self._process.communicate(timeout=60)[1].decode(errors="replace")
        if re.search("Traceback|Error", told):
            self._complain(f"tail --all -f: {told[-800:]}")


def settle(log: Path, complain: Complain, limit_s: float = 150) -> None:
    """Wait until nothing waits beside a log, with a reader that looks after it."""
    end = time.monotonic() + limit_s
    while True:
        command = [str(CONSOLE_SCRIPT), "connections", "--log", str(log)]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        if not done.stderr:
            return
        if time.monotonic() > end:
            complain(f"{log.name}: still waiting: {done.stderr[-800:]!r}")
            return
