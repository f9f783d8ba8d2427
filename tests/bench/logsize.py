"""The size of a finished log against the bytes that travelled.

The checkpoints, the texts and their index are told apart: the target is for what is recorded, not for
what is derived. Nothing is timed here.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tests.bench.conversation import updates_block
from tests.bench.report import MEGABYTES, NO_TARGET, TIMES, Row, Target, at_most
from tests.bench.routes import (
    Peer,
    Settings,
    command,
    recorders,
    script,
    wait_recorded,
    wait_until,
)

DERIVED = {
    "checkpoints": ("checkpoint",),
    "texts and their index": ("texts", "search", "sqlite_autoindex_texts"),
}  # what is told apart, by how the names of its tables and indexes begin


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the ratio for short and for long messages."""
    small, large = settings.pick(15_000_000, 150_000_000), settings.pick(40_000_000, 200_000_000)
    yield _size(settings, "300 B", [300], small, 1.7)
    yield _size(settings, "4 KB", [4096], large, 1.15)
    yield _size(settings, "2 to 6 KB", range(2048, 6145, 32), large)


def _size(
    settings: Settings, name: str, lines: Sequence[int], wire: int, limit: float | None = None
) -> Row:
    figure = f"log / wire, {name} messages"
    text = f"≤ {limit} x wire" if limit else ""
    if not settings.has_proxy:
        return Row(figure, target=Target(text, None))
    block = b"".join(updates_block(line, (1 << 20) // len(lines))[0] for line in lines)
    file = settings.folder / f"size-block-{lines[0]}"
    file.write_bytes(block)
    repeats = wire // len(block)
    wire = repeats * len(block)
    with settings.log() as log:
        with Peer(command("proxy", script("block_agent.py", file, repeats), log)) as peer:
            peer.read_to_end()
            peer.finish()
        wait_recorded(log, 120)
        wait_until(lambda: not recorders(log.parent), 30, "the recorder's end")
        whole = sum(path.stat().st_size for path in _files(log))
        derived = _derived(log)
    rest = whole - sum(derived.values())
    apart = "".join(f" + {MEGABYTES.show(size)} {what}" for what, size in derived.items())
    return Row(
        figure,
        direct=MEGABYTES.show(wire),
        proxy=MEGABYTES.show(rest) + apart,
        to_direct=f"{TIMES.show(rest / wire)}, all {TIMES.show(whole / wire)}",
        target=at_most(rest / wire, limit, text) if limit else NO_TARGET,
    )


def _files(log: Path) -> list[Path]:
    beside = [log, log.with_name(log.name + "-wal")]
    return [path for path in beside if path.exists()]


def _derived(log: Path) -> dict[str, int]:
    """Return the bytes of the pages that hold what is derived.

    Raises:
        sqlite3.OperationalError: This SQLite is built without dbstat.

    """
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as connection:
        sizes = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    return {
        what: sum(size for name, size in sizes.items() if name.startswith(beginnings))
        for what, beginnings in DERIVED.items()
    }
