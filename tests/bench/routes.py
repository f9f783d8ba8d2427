"""The three ways to an agent: direct, through the bare relay, through acp-proxy.

Starts, times out and ends the processes of a measurement, and finds their recorder. It
touches no process that it did not start or that does not work on its own scratch log.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import TracebackType

HERE = Path(__file__).parent
CONSOLE_SCRIPT = Path(sys.executable).parent / "acp-proxy"
CHUNK = 65536
ROUTES = ("direct", "bare", "proxy")


class BenchError(Exception):
    """A measurement that could not be taken; its row says why."""


@dataclass(frozen=True)
class Settings:
    """How much is measured; ``folder`` is the scratch folder of the whole invocation."""

    quick: bool
    folder: Path
    routes: tuple[str, ...]

    def pick(self, quick: int, full: int) -> int:
        """Return the amount for this kind of invocation."""
        return quick if self.quick else full

    @property
    def has_proxy(self) -> bool:
        return "proxy" in self.routes

    @contextmanager
    def log(self) -> Iterator[Path]:
        """Give the path of a fresh log; end its recorder and delete it all afterwards."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield folder / "log.db"
        finally:
            end_recorders(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def rounds(self, quick: int, full: int, *, limit_s: float = 300) -> Iterator[int]:
        """Count the rounds of a measurement, fewer when they take too long."""
        end = time.monotonic() + limit_s
        for number in range(self.pick(quick, full)):
            if number and time.monotonic() > end:
                return
            yield number


def script(name: str, *arguments: object) -> list[str]:
    """Return the command of one of our small agents, with an interpreter that starts fast."""
    return [sys.executable, "-I", "-S", str(HERE / name), *map(str, arguments)]


def command(route: str, agent: Sequence[str], log: Path) -> list[str]:
    """Return what a client runs to reach the agent on that route."""
    if route == "direct":
        return list(agent)
    if route == "bare":
        return [*script("bare_relay.py"), *agent]
    return [str(CONSOLE_SCRIPT), "run", "--log", str(log), "--", *agent]


class Peer:
    """A process seen as its client sees it: two raw descriptors and an end.

    It is killed, with what it started in its own session, when the time is over; the
    read or write that waited then fails with BenchError.
    """

    def __init__(self, arguments: Sequence[str], *, limit_s: float = 60) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._timer = Timer(limit_s, self.kill)
        self._timer.daemon = True
        self._timer.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> "Peer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def write(self, data: bytes) -> None:
        """Write all of it."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._stdin.fileno(), rest) :]
        except BrokenPipeError as error:
            raise BenchError("the peer stopped reading") from error

    def read(self, size: int) -> None:
        """Read exactly that many bytes and drop them."""
        descriptor = self._stdout.fileno()
        while size > 0:
            got = len(os.read(descriptor, min(size, CHUNK)))
            if not got:
                raise BenchError("the peer ended early, or was too slow")
            size -= got

    def read_to_end(self) -> tuple[int, float, float]:
        """Read until EOF; return the bytes and when the first and the last came."""
        descriptor = self._stdout.fileno()
        total = len(os.read(descriptor, CHUNK))
        first = last = time.perf_counter()
        while got := len(os.read(descriptor, CHUNK)):
            total += got
            last = time.perf_counter()
        return total, first, last

    def finish(self) -> int:
        """Close its stdin and wait for its end; return the exit status."""
        self._stdin.close()
        return self._process.wait()  # not with a timeout: that polls, and ours is running

    def kill(self) -> None:
        """Kill it, and what it started in its session, if it is still there."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def recorders(folder: Path) -> list[int]:
    """Return the pids of the recorders that work on a log in that folder."""
    wanted = str(folder).encode() + b"/"
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes()
            if b"acp_proxy.recorder" in line and wanted in line:
                found.append(int(entry.name))
    return found


def end_recorders(folder: Path) -> None:
    """Kill the recorders of a log that is not needed any more."""
    for _ in range(5):  # a proxy still alive may start another one
        pids = recorders(folder)
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def wait_until(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Poll until the condition holds; return the moment."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise BenchError(f"{what} took more than {limit_s:.0f} s")
        time.sleep(0.005)
    return time.perf_counter()


def wait_recorded(log: Path, limit_s: float = 60) -> float:
    """Wait until no journal waits beside the log; return the moment."""
    journals = log.with_name(log.name + ".journals")
    return wait_until(lambda: _is_empty(journals), limit_s, "recording")


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except FileNotFoundError:
        return True
