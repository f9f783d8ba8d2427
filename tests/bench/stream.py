"""A one-way stream of 300-byte updates, as fast as it goes.

The rate is the client's, from its first byte to its last; what the recorder does
meanwhile competes for the machine, as in life, but is not waited for.
"""

from collections.abc import Iterator

from tests.bench.conversation import updates_block
from tests.bench.report import PER_SECOND, Row, Runs, Spread, Target, compared
from tests.bench.routes import BenchError, Peer, Settings, command, script

LINE = 300


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the rate of messages on each route."""
    block, lines = updates_block(LINE, 1 << 20)
    file = settings.folder / "stream-block"
    file.write_bytes(block)
    repeats = settings.pick(300_000, 1_000_000) // lines
    runs: Runs = {route: [] for route in settings.routes}
    for _ in settings.rounds(3, 7):
        for route in settings.routes:
            agent = script("block_agent.py", file, repeats)
            with settings.log() as log, Peer(command(route, agent, log)) as peer:
                total, first, last = peer.read_to_end()
            if total != repeats * len(block):
                raise BenchError(f"{total} bytes came on the {route} route, not all")
            runs[route].append(repeats * lines / (last - first))
    yield compared("stream of 300 B updates", runs, PER_SECOND, _target)


def _target(spreads: dict[str, Spread]) -> Target:
    proxy = spreads["proxy"]
    fast = proxy.median >= 300_000 and proxy.against(spreads["direct"]).median >= 0.35
    return Target("≥ 0.35 x direct, ≥ 300 k/s", fast)
