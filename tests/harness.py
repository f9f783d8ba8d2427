"""Real processes around acp-proxy: start one, talk to it, look at it, and ask its log.

Nothing here sleeps to let something happen: a test waits for bytes, for a process to end, or
asks a condition again and again, always for a bounded time that no healthy machine needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

import pytest

from tests.transparency.pipes import LIMIT, Collector, Sender, receive, send, wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "AGENTS",
    "LIMIT",
    "PIPE",
    "PROXY",
    "Collector",
    "Log",
    "Process",
    "Sender",
    "Way",
    "agent",
    "assert_holds",
    "children",
    "end_process",
    "environment",
    "is_gone",
    "needs_linux",
    "peak_memory_kib",
    "process_state",
    "receive",
    "send",
    "uncovered",
    "wait_gone",
    "wait_until",
]

PROXY = Path(sys.executable).parent / "acp-proxy"
AGENTS = Path(__file__).parent / "agents"
PIPE = subprocess.PIPE

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def agent(name: str, *arguments: str | int | Path) -> list[str]:
    """Return the command of one of the programs in ``tests/agents``."""
    return [sys.executable, "-I", "-S", str(AGENTS / f"{name}.py"), *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """Return our environment without what would steer the proxy, and with the changes."""
    ours = ("ACP_PROXY_", "COLUMNS", "LINES")  # the last two as pytest's workers have them
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return kept | {"ACP_PROXY_CONFIG": os.devnull} | changes


def uncovered(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without coverage measurement, for tests about memory or silence."""
    return {k: v for k, v in env.items() if not k.startswith(("COVERAGE_", "COV_"))}


# Processes, as /proc shows them.


def process_state(pid: int) -> str:
    """Return the state letter of a process (R, S, T, Z ...), or nothing when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def is_gone(pid: int) -> bool:
    """Tell whether a process has died; a corpse that nobody collects counts as dead."""
    return process_state(pid) in {"", "Z", "X"}


def wait_gone(pid: int, what: str) -> None:
    """Wait until the process has died."""
    wait_until(lambda: is_gone(pid), f"{what} (pid {pid}) has ended")


def children(pid: int) -> list[int]:
    """Return the living children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid and fields[0] not in "ZX":
                    found.append(int(entry.name))
    return found


def peak_memory_kib(pid: int) -> int:
    """Return the peak resident size of a living process, in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} shows no peak memory; has it ended?")


def end_process(pid: int) -> None:
    """Kill a process that this test started or found to be its own, if it still lives."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)


# A client's view of the process it started.


class Options(TypedDict, total=False):
    """What may differ when a process is started."""

    cwd: Path
    env: Mapping[str, str]
    stdin: int
    stdout: int
    stderr: int
    pass_fds: Sequence[int]
    process_group: int
    umask: int


class Process:
    """A started command, and our ends of those of its streams that are pipes.

    Standard output and standard error are collected from the start, unless ``read_stdout`` or
    ``read_stderr`` is false: then nobody reads them until :meth:`collect_stdout`. With ``keep``
    false standard output is only counted and hashed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        read_stdout: bool = True,
        read_stderr: bool = True,
        keep: bool = True,
        **options: Unpack[Options],
    ) -> None:
        settings: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
        settings |= {"env": environment()} | options
        self._popen = subprocess.Popen(command, bufsize=0, **settings)
        self.pid = self._popen.pid
        self._keep = keep
        self._collectors: list[Collector] = []
        if read_stdout and self._popen.stdout:
            self.collect_stdout()
        if read_stderr and self._popen.stderr:
            self.stderr = self._collect(self._popen.stderr.fileno(), keep=True)

    def _collect(self, fd: int, *, keep: bool) -> Collector:
        collector = Collector(os.dup(fd), keep=keep)
        self._collectors.append(collector)
        return collector

    def collect_stdout(self) -> Collector:
        """Begin to read standard output."""
        self.stdout = self._collect(self.stdout_fd, keep=self._keep)
        return self.stdout

    @property
    def stdin_fd(self) -> int:
        """Our end of its standard input."""
        assert self._popen.stdin
        return self._popen.stdin.fileno()

    @property
    def stdout_fd(self) -> int:
        """Our end of its standard output."""
        assert self._popen.stdout
        return self._popen.stdout.fileno()

    def send(self, data: bytes) -> None:
        """Write all of ``data`` to its standard input."""
        send(self.stdin_fd, data)

    def close_stdin(self) -> None:
        """Let it see the end of its input."""
        assert self._popen.stdin
        self._popen.stdin.close()

    def close_stdout(self) -> None:
        """Let it see that nobody reads its output (only when we do not collect it)."""
        assert self._popen.stdout
        self._popen.stdout.close()

    def close_stderr(self) -> None:
        """Let it see that nobody reads its stderr (only when we do not collect it)."""
        assert self._popen.stderr
        self._popen.stderr.close()

    def signal(self, number: int) -> None:
        """Send it a signal: to this process alone."""
        self._popen.send_signal(number)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._popen.poll() is None

    def wait(self, seconds: float = LIMIT) -> int:
        """Return its exit code, or minus the signal that killed it."""
        return self._popen.wait(seconds)

    def child(self) -> int:
        """Return the process that a proxy started as its agent: the one child in its group."""

        def find() -> int:
            group = os.getpgid(self.pid)
            for pid in children(self.pid):
                with contextlib.suppress(ProcessLookupError):
                    if os.getpgid(pid) == group:
                        return pid
            return 0

        return wait_until(find, "the agent has been started")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        family = [*children(self.pid), self.pid] if self.running else []
        for pid in family:
            end_process(pid)
        self._popen.wait(LIMIT)
        for collector in self._collectors:
            collector.close()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream:
                stream.close()


# What was recorded.


@dataclass(frozen=True)
class Log:
    """A log file, asked only through the program's own commands."""

    path: Path

    def ask(self, *arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[bytes]:
        """Run one reading command on the log."""
        command = [str(PROXY), *arguments, "--log", str(self.path)]
        return subprocess.run(
            command, env=environment(), capture_output=True, timeout=seconds, check=False
        )

    def _answer(self, *arguments: str) -> bytes:
        done = self.ask(*arguments)
        assert done.returncode == 0, f"{arguments} ended {done.returncode}: {done.stderr!r}"
        assert done.stderr == b"", f"{arguments} complained: {done.stderr!r}"
        return done.stdout

    def connections(self) -> list[dict[str, Any]]:
        """Return all recorded connections, newest first."""
        found: list[dict[str, Any]] = json.loads(self._answer("connections", "--json"))
        return found

    def connection(self) -> dict[str, Any]:
        """Return the only recorded connection."""
        (only,) = self.connections()
        return only

    def recorded(self) -> int:
        """Return how many messages of the latest connection are recorded; 0 before there is a log.

        The file is there before its tables are, so its existence tells nothing.
        """
        done = self.ask("connections", "--json")
        assert done.returncode == 0, f"connections ended {done.returncode}: {done.stderr!r}"
        return sum(row["messages"] for row in json.loads(done.stdout)[:1])

    def messages(self, connection: str = "latest") -> list[dict[str, Any]]:
        """Return the recorded messages of a connection."""
        lines = self._answer("messages", connection, "--jsonl").splitlines()
        return [json.loads(line) for line in lines]

    def export(self, stream: str, connection: str = "latest") -> bytes:
        """Return the exact recorded bytes of a stream."""
        return self._answer("export", connection, "--stream", stream)

    def info(self) -> dict[str, Any]:
        """Return what ``log info`` tells."""
        found: dict[str, Any] = json.loads(self._answer("log", "info", "--json"))
        return found

    def assert_clean(self) -> None:
        """Fail unless ``verify`` finds nothing wrong."""
        done = self.ask("verify")
        assert done.returncode == 0, f"verify: {done.stdout.decode()}{done.stderr.decode()}"

    @property
    def journals_path(self) -> Path:
        """The folder of the journals, beside the log."""
        return self.path.with_name(self.path.name + ".journals")

    def journals(self) -> list[Path]:
        """Return the journals that are there now (a file with a suffix is none)."""
        there = self.journals_path.iterdir() if self.journals_path.is_dir() else ()
        return sorted(path for path in there if not path.suffix)

    def recorders(self) -> list[int]:
        """Return the processes that record into this log, found by their command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    line = (entry / "cmdline").read_bytes()
                    if b"acp_proxy.recorder" in line and os.fsencode(self.path) in line:
                        found.append(int(entry.name))
        return [pid for pid in found if not is_gone(pid)]


def assert_holds(connection: Mapping[str, Any], **streams: bytes) -> None:
    """Fail unless the connection recorded exactly these bytes for client, agent and stderr."""
    for stream, data in streams.items():
        assert connection["bytes"][stream] == len(data), f"length of {stream}"
        assert connection["sha256"][stream] == hashlib.sha256(data).hexdigest(), f"hash of {stream}"
    assert connection["gaps"] == []


@dataclass(frozen=True)
class Way:
    """How a client reaches its agent: directly, or through the proxy into a log."""

    log: Log | None

    def command(self, command: Sequence[str], *options: str) -> list[str]:
        """Return what the client has to start."""
        if self.log is None:
            return [*command]
        return [str(PROXY), "run", "--log", str(self.log.path), *options, "--", *command]

    def start(
        self,
        command: Sequence[str],
        *,
        read_stdout: bool = True,
        read_stderr: bool = True,
        keep: bool = True,
        **options: Unpack[Options],
    ) -> Process:
        """Start the agent as this client would."""
        return Process(
            self.command(command),
            read_stdout=read_stdout,
            read_stderr=read_stderr,
            keep=keep,
            **options,
        )

    def assert_recorded(self, **streams: bytes) -> None:
        """Fail unless the log's only connection holds exactly these bytes (directly: nothing)."""
        if self.log is not None:
            assert_holds(self.log.connection(), **streams)
