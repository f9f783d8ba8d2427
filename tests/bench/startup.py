"""What a start costs: of a program that ends at once, and until an agent's first byte.

The log exists already, as it does for every start but the first; the recorder of one
start is waited for before the next.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.report import SECONDS, Row, Runs, Spread, Target, at_most, compared
from tests.bench.routes import BenchError, Peer, Settings, command, wait_recorded

ANSWER = '{"jsonrpc":"2.0","id":0,"result":{}}'
FAST_AGENT = ["/bin/sh", "-c", f"echo '{ANSWER}'; exec cat"]


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the time to run ``true``, and the time to a first byte."""
    wall: Runs = {route: [] for route in settings.routes}
    first: Runs = {route: [] for route in settings.routes}
    with settings.log() as log:
        if settings.has_proxy:
            _run_true(command("proxy", ["true"], log))
            wait_recorded(log)
        for _ in settings.rounds(7, 21):
            for route in settings.routes:
                wall[route].append(_run_true(command(route, ["true"], log)))
                _settle(route, log)
                first[route].append(_first_byte(command(route, FAST_AGENT, log)))
                _settle(route, log)
    yield compared("run true, wall", wall, SECONDS, lambda it: _later(it, 0.2, "true"))
    yield compared("first byte of an answer", first, SECONDS, lambda it: _later(it, 0.1, "direct"))


def _settle(route: str, log: Path) -> None:
    if route == "proxy":
        wait_recorded(log)


def _run_true(arguments: list[str]) -> float:
    with Peer(arguments) as peer:
        if peer.finish() != 0:
            raise BenchError(f"{arguments[0]} did not end with 0")
        return time.perf_counter() - peer.started


def _first_byte(arguments: list[str]) -> float:
    with Peer(arguments) as peer:
        peer.read(1)
        moment = time.perf_counter()
        peer.read(len(ANSWER))
        peer.finish()
        return moment - peer.started


def _later(spreads: dict[str, Spread], limit_s: float, base: str) -> Target:
    later = spreads["proxy"].minus(spreads["direct"])
    text = f"≤ {limit_s} s more than {base}: {later.show(SECONDS)}"
    return at_most(later.median, limit_s, text)
