"""``python -m tests.bench.many``: many proxies at once into one log, each with steady traffic.

By default 32 agents say 1,000 messages a second each, for 60 s: first directly to their client,
then through a bare relay each, then through a proxy each, all into one log. Prints how long a
message took on its way, how far the recorders were behind over time, and what they took; ends
with 1 when the log does not hold exactly what the client got.
"""

import argparse
import hashlib
import os
import re
import select
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.paced_agent import SIZE
from tests.bench.report import machine
from tests.bench.routes import command, end_recorders, recorders, script

LIMIT_S = 600
_MOMENT = re.compile(rb'[":](\d{19}) ')


class Load(NamedTuple):
    """How much is asked for."""

    connections: int
    rate: int
    seconds: float

    @property
    def messages(self) -> int:
        """Messages of each agent after its first."""
        return int(self.rate * self.seconds)


class Traffic(NamedTuple):
    """What the client saw."""

    took_s: list[float]
    elapsed_s: float
    hashes: list[str]


class Lag(NamedTuple):
    """How far behind the recorders were at a moment: bytes of journals that are not in the log."""

    at_s: float
    journals: int
    total: int
    largest: int


class Conversations:
    """The agents of one route, and their one client."""

    def __init__(self, route: str, load: Load, log: Path) -> None:
        self._load = load
        agent = [*script("paced_agent.py"), str(load.messages), str(load.rate)]
        pipe = subprocess.PIPE
        self.processes = [
            subprocess.Popen(command(route, agent, log), stdin=pipe, stdout=pipe, bufsize=0)
            for _ in range(load.connections)
        ]
        self._got = [0] * load.connections
        self._hashes = [hashlib.sha256() for _ in self.processes]
        self._poll = select.epoll()
        self._numbers = {}
        for number, process in enumerate(self.processes):
            assert process.stdout
            self._poll.register(process.stdout.fileno(), select.EPOLLIN)
            self._numbers[process.stdout.fileno()] = number
        self._took: list[float] = []

    def __enter__(self) -> "Conversations":
        self._read_until(SIZE, lambda: None)
        self._took.clear()
        return self

    def __exit__(self, *exc: object) -> None:
        self._poll.close()
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream
                stream.close()

    def run(self, watch: "Watch | None") -> Traffic:
        """Let all speak, and read what they say to the end."""
        start = time.monotonic()
        for process in self.processes:
            assert process.stdin
            process.stdin.write(b"\n")
        look = watch.look if watch is not None else lambda: None
        self._read_until((self._load.messages + 1) * SIZE, look)
        elapsed = time.monotonic() - start
        for process in self.processes:
            assert process.stdin
            process.stdin.close()
            process.wait(60)
        return Traffic(self._took, elapsed, [one.hexdigest() for one in self._hashes])

    def _read_until(self, size: int, look: "object") -> None:
        assert callable(look)
        end = time.monotonic() + LIMIT_S
        while min(self._got) < size:
            if time.monotonic() > end:
                raise SystemExit(f"only {min(self._got)} of {size} bytes came in {LIMIT_S} s")
            for fd, _ in self._poll.poll(0.2):
                self._read(fd)
            look()

    def _read(self, fd: int) -> None:
        data = os.read(fd, 1 << 20)
        now = time.monotonic_ns()
        number = self._numbers[fd]
        if not data:
            raise SystemExit(f"agent {number} ended early")
        self._got[number] += len(data)
        self._hashes[number].update(data)
        if found := _MOMENT.search(data):
            self._took.append((now - int(found[1])) / 1e9)


class Watch:
    """Looks each second how far the recorders are, and what they take."""

    def __init__(self, log: Path, every_s: float = 1) -> None:
        self.lags: list[Lag] = []
        self.memory: dict[int, int] = {}
        self.cpu_s: dict[int, float] = {}
        self._log = log
        self._every_s = every_s
        self._start = self._next = time.monotonic()

    def look(self) -> None:
        """Look, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every_s
        positions = dict(_ask(self._log, "SELECT uuid, journal_position FROM connections"))
        behind = []
        for path in self._log.with_name(f"{self._log.name}.journals").glob("*"):
            if not path.suffix:
                with suppress(FileNotFoundError):
                    behind.append(path.stat().st_size - positions.get(path.name, 0))
        self.lags.append(Lag(now - self._start, len(behind), sum(behind), max(behind, default=0)))
        for pid in recorders(self._log.parent):
            with suppress(OSError, IndexError):
                status = Path(f"/proc/{pid}/status").read_text()
                self.memory[pid] = int(status.partition("VmHWM:")[2].split()[0])
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                self.cpu_s[pid] = ticks / os.sysconf("SC_CLK_TCK")

    def until_empty(self) -> float:
        """Go on until no journal is left; return how long that took."""
        start = time.monotonic()
        while not self.lags or self.lags[-1].journals:
            if time.monotonic() - start > LIMIT_S:
                raise SystemExit(f"{self.lags[-1].journals} journals left after {LIMIT_S} s")
            time.sleep(0.05)
            self.look()
        return time.monotonic() - start


def _ask(log: Path, sql: str) -> list[tuple[Any, Any]]:
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True, timeout=60)) as db:
        return db.execute(sql).fetchall()


def run_proxies(load: Load, folder: Path) -> tuple[Traffic, list[str]]:
    """Let the agents speak through proxies; return what the client saw, and what is wrong."""
    log = folder / "log.db"
    with Conversations("proxy", load, log) as conversations:
        _wait_all_recorded(log, load.connections)
        watch = Watch(log)
        traffic = conversations.run(watch)
        after_s = watch.until_empty()
    _print_watch(watch, after_s, load)
    sql = "SELECT agent_sha256, messages FROM connections WHERE status = 'exited'"
    found = sorted(_ask(log, sql))
    # The client's one line, and the agent's.
    expected = sorted((hash_, load.messages + 2) for hash_ in traffic.hashes)
    return traffic, [] if found == expected else [f"{len(found)} connections, not what was said"]


def _wait_all_recorded(log: Path, count: int) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with suppress(sqlite3.Error):
            if _ask(log, "SELECT count(*), 0 FROM connections WHERE messages > 0")[0][0] == count:
                return
        time.sleep(0.1)
    raise SystemExit("the recorders do not come up")


def _print_watch(watch: Watch, after_s: float, load: Load) -> None:
    print("    s  journals  behind, all  behind, most")
    step = max(1, len(watch.lags) // 20)
    for lag in [*watch.lags[::step], watch.lags[-1]]:
        print(
            f"{lag.at_s:5.0f}  {lag.journals:8}  {lag.total / 1e6:8.1f} MB  {lag.largest / 1e6:9.2f} MB"
        )
    cpu_s = sum(watch.cpu_s.values())
    total = load.messages * load.connections
    print(f"all is in the log {after_s:.1f} s after the last byte")
    print(
        f"recorders: peak {max(watch.memory.values()) / 1024:.0f} MB each at most, "
        f"{sum(watch.memory.values()) / 1024:.0f} MB all; CPU {cpu_s:.1f} s, "
        f"{total / max(cpu_s, 0.01):,.0f} messages a second of CPU"
    )


def show(route: str, load: Load, traffic: Traffic) -> None:
    """Print what the client saw on a route."""
    took = sorted(traffic.took_s)
    marks = ", ".join(
        f"{name} {1e3 * took[min(len(took) - 1, int(len(took) * part))]:.2f} ms"
        for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1))
    )
    rate = load.messages * load.connections / traffic.elapsed_s
    print(f"{route:>6}: {rate:,.0f} messages/s; on the way {marks}", flush=True)


def main() -> int:
    """Measure; return 1 when something was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.many", description=__doc__)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--rate", type=int, default=1000, help="messages a second of each")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--quick", action="store_true", help="3 s")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    seconds = 3 if options.quick else options.seconds
    load = Load(options.connections, options.rate, seconds)
    wrong: list[str] = []
    p99: dict[str, list[float]] = {"direct": [], "bare": [], "proxy": []}
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="acp-proxy-bench-"))
        folder = Path(name)
        print(f"many: {load}; {machine(folder)}", flush=True)
        for turn in range(options.rounds):
            here = folder / str(turn)
            here.mkdir()
            stack.callback(end_recorders, here)
            for route, slow in p99.items():
                if route == "proxy":
                    traffic, problems = run_proxies(load, here)
                    wrong += problems
                else:
                    with Conversations(route, load, here / "log.db") as conversations:
                        traffic = conversations.run(None)
                show(route, load, traffic)
                slow.append(statistics.quantiles(traffic.took_s, n=100)[-1])
    print(f"p99, proxy to bare: {p99['proxy'][-1] / p99['bare'][-1]:.2f} x")
    print(*(wrong or ["nothing is lost: counts and hashes are those of what the client got"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
