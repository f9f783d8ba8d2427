"""Round trips of one line to an echoing agent and back, back to back.

The client's view: nothing is known here of what lies between. What happens in the first
moments, while processes still load themselves, is told apart from the steady state.
"""

import statistics
import time
from collections.abc import Iterator

from tests.bench.report import SECONDS, Row, Runs, Spread, Target, at_most, compared
from tests.bench.routes import Peer, Settings, command, script, wait_recorded

EARLY_S = 0.15
SETTLED_S = 0.5


def measure(settings: Settings) -> Iterator[Row]:
    """Yield p50 and p99 for a short and for a long line."""
    short = _Line(settings, 200, settings.pick(5000, 20_000))
    yield compared("round trip 200 B, p50", short.median, SECONDS, _p50_target)
    yield compared("round trip 200 B, p99", short.slow, SECONDS, _p99_target)
    yield compared(f"... p99 in the first {EARLY_S} s", short.early, SECONDS)
    long = _Line(settings, 1_000_000, settings.pick(50, 200))
    yield compared("round trip 1 MB, p50", long.median, SECONDS)
    yield compared("round trip 1 MB, p99", long.slow, SECONDS)


class _Line:
    """The runs with one length of line, taken at once."""

    def __init__(self, settings: Settings, size: int, count: int) -> None:
        self.early: Runs = {route: [] for route in settings.routes}
        self.median: Runs = {route: [] for route in settings.routes}
        self.slow: Runs = {route: [] for route in settings.routes}
        self._line = _notification(size)
        with settings.log() as log:
            for _ in settings.rounds(3, 7):
                for route in settings.routes:
                    with Peer(command(route, script("echo_agent.py"), log)) as peer:
                        self._run(route, peer, count)
                    if route == "proxy":
                        wait_recorded(log)

    def _run(self, route: str, peer: Peer, count: int) -> None:
        self._trip(peer)  # the agent is there; how long that takes is told by startup
        start = time.perf_counter()
        early = self._trips_until(peer, start + EARLY_S)
        self._trips_until(peer, start + SETTLED_S)
        samples = [self._trip(peer) for _ in range(count)]
        peer.finish()
        self.early[route].append(_percentile_99(early))
        self.median[route].append(statistics.median(samples))
        self.slow[route].append(_percentile_99(samples))

    def _trips_until(self, peer: Peer, end: float) -> list[float]:
        samples = []
        while time.perf_counter() < end:
            samples.append(self._trip(peer))
        return samples

    def _trip(self, peer: Peer) -> float:
        start = time.perf_counter()
        peer.write(self._line)
        peer.read(len(self._line))
        return time.perf_counter() - start


def _notification(size: int) -> bytes:
    head = b'{"jsonrpc":"2.0","method":"_bench/echo","params":{"text":"'
    tail = b'"}}\n'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def _percentile_99(samples: list[float]) -> float:
    return sorted(samples)[min(len(samples) - 1, len(samples) * 99 // 100)]


def _p50_target(spreads: dict[str, Spread]) -> Target:
    ratio = spreads["proxy"].against(spreads["bare"]).median
    return at_most(ratio, 2.0, "≤ 2.0 x bare")


def _p99_target(spreads: dict[str, Spread]) -> Target:
    ratio = spreads["proxy"].against(spreads["bare"]).median
    return at_most(ratio, 3.0, "≤ 3 x bare")
