"""Peak memory (VmHWM) of the proxy and its recorder in the cases that could swell them.

The bare relay's peak stands beside it. Linux only: /proc is where the figures come from.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from tests.bench.conversation import updates_block
from tests.bench.report import MEGABYTES, NO_TARGET, Row, Spread, Target, at_most
from tests.bench.routes import Peer, Settings, command, recorders, script, wait_recorded

PROXY_LIMIT = 40e6
RECORDER_LIMIT = 150e6
STUCK_S = 3


class Watch:
    """Follows the peak memory of a process and of its log's recorder, and that one's CPU time.

    It samples; the kernel keeps the peak, so only growth in the last moment is missed.
    """

    def __init__(self, pid: int, log: Path, every_s: float = 0.01) -> None:
        self.proxy = 0.0
        self.recorder = 0.0
        self.recorder_cpu_s = 0.0
        self._pid = pid
        self._folder = log.parent
        self._every_s = every_s
        self._over = Event()
        self._thread = Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        pids: list[int] = []
        next_search = 0.0
        while not self._over.wait(self._every_s):
            self.proxy = max(self.proxy, _peak(self._pid))
            if time.monotonic() > next_search:
                pids = recorders(self._folder)
                next_search = time.monotonic() + 0.25
            self.recorder = max([self.recorder, *map(_peak, pids)])
            self.recorder_cpu_s = max([self.recorder_cpu_s, *map(_cpu_seconds, pids)])


def _peak(pid: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024
    return 0.0


def _cpu_seconds(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


@dataclass(frozen=True)
class Case:
    """A kind of traffic: what the agent sends, and how the client reads it."""

    name: str
    agent: list[str]
    read: Callable[[Peer], object]
    is_judged: bool = False
    """Whether the recorder has a target here."""


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the peaks of both processes for each kind of traffic."""
    for case in _cases(settings):
        relay = [_relay_peak(settings, case) for _ in settings.rounds(1, 5)]
        peaks = (
            [_peaks(settings, case) for _ in settings.rounds(1, 5)] if settings.has_proxy else []
        )
        yield _row(f"peak of proxy, {case.name}", relay, [proxy for proxy, _ in peaks], PROXY_LIMIT)
        limit = RECORDER_LIMIT if case.is_judged else None
        yield _row(f"peak of recorder, {case.name}", [], [it for _, it in peaks], limit)


def _cases(settings: Settings) -> list[Case]:
    block, lines = updates_block(300, 1 << 20)
    stream = settings.folder / "memory-stream"
    stream.write_bytes(block)
    long, longer = (_long_line(settings.folder / f"line-{size}", size) for size in (120, 200))
    repeats = settings.pick(200_000, 1_000_000) // lines
    return [
        Case(
            "stream of updates", script("block_agent.py", stream, repeats), Peer.read_to_end, True
        ),
        Case("a 200 MB line", script("block_agent.py", longer, 1), Peer.read_to_end),
        Case("a 120 MB line", script("block_agent.py", long, 1), Peer.read_to_end),
        Case(
            "client stuck, 100 MB to come",
            script("block_agent.py", stream, 100_000_000 // len(block)),
            _read_late,
        ),
    ]


def _long_line(file: Path, megabytes: int) -> Path:
    with file.open("wb") as line:
        line.write(b'{"jsonrpc":"2.0","method":"_bench/blob","params":{"data":"')
        for _ in range(megabytes):
            line.write(b"x" * 1_000_000)
        line.write(b'"}}\n')
    return file


def _read_late(peer: Peer) -> None:
    time.sleep(STUCK_S)
    peer.read_to_end()


def _relay_peak(settings: Settings, case: Case) -> float:
    with settings.log() as log, Peer(command("bare", case.agent, log)) as peer:
        with Watch(peer.pid, log) as watch:
            case.read(peer)
            peer.finish()
        return watch.proxy


def _peaks(settings: Settings, case: Case) -> tuple[float, float]:
    with settings.log() as log, Peer(command("proxy", case.agent, log)) as peer:
        with Watch(peer.pid, log) as watch:
            case.read(peer)
            peer.finish()
            wait_recorded(log, 120)
        return watch.proxy, watch.recorder


def _row(figure: str, relay: list[float], peaks: list[float], limit: float | None) -> Row:
    bare = Spread(tuple(relay)).show(MEGABYTES) if relay else ""
    text = f"≤ {limit / 1e6:.0f} MB" if limit else ""
    if not peaks:
        return Row(figure, bare=bare, target=Target(text, None))
    shown = Spread(tuple(peaks)).show(MEGABYTES)
    target = at_most(max(peaks), limit, text) if limit else NO_TARGET
    return Row(figure, bare=bare, proxy=shown, target=target)
