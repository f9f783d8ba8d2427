"""How large a log is, what takes how much of it, and how it grows."""

import contextlib
import sqlite3
from typing import Final, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.gone import Pruned, pruned

_MESSAGE_BYTES = 160
"""What a message takes beside its frame's bytes: its row in the index, its frame's numbers."""
_DERIVED_SHARE = 0.4
"""What texts, their index and checkpoints take, as a part of the frames' bytes."""
_DAY_NS: Final = 86400 * 1_000_000_000
_PARTS: Final = {
    "frames": "frames",
    "packs": "compacted frames",
    "messages": "index of messages",
    "checkpoint": "checkpoints",
    "dictionaries": "checkpoints",
    "texts": "texts for search",
    "search": "search index",
}
"""What the tables whose names begin so are for."""
_REST: Final = "state in tables and the rest"


class Pages(NamedTuple):
    """The file.

    Attributes:
        file: Its bytes.
        used: Of these in use.
        free: Of these free: they are used before the file grows.

    """

    file: int
    used: int
    free: int


def pages(db: sqlite3.Connection) -> Pages:
    """Return how much of the file is in use."""
    [(size,)] = db.execute("PRAGMA page_size")
    [(count,)] = db.execute("PRAGMA page_count")
    [(free,)] = db.execute("PRAGMA freelist_count")
    return Pages(count * size, (count - free) * size, free * size)


def shares(db: sqlite3.Connection) -> dict[int, int]:
    """Return how many bytes of the file each connection takes, about; all of them take all of it.

    Reads the rows of connections, and of their packs.
    """
    saved: dict[int, int] = {}
    if schema.has_column(db, "packs", "bytes"):
        sql = "SELECT frame_id >> 32, sum(bytes - length(data)) FROM packs GROUP BY 1"
        saved = dict(db.execute(sql))
    weights = {}
    for id_, relayed, messages in db.execute(
        "SELECT id, client_bytes + agent_bytes + stderr_bytes, messages FROM connections"
    ):
        stored = max(0, relayed - saved.get(id_, 0))
        weights[id_] = stored + _DERIVED_SHARE * relayed + _MESSAGE_BYTES * messages + 1
    total = sum(weights.values())
    used = pages(db).used
    return {id_: int(used * weight / total) for id_, weight in weights.items()}


class Day(NamedTuple):
    """What was added on a day.

    Attributes:
        day: In days since 1970, UTC.
        connections: How many began, or were imported.
        messages: Theirs.
        bytes: What they relayed.

    """

    day: int
    connections: int
    messages: int
    bytes: int


class Space(NamedTuple):
    """How large a log is, and why.

    Attributes:
        pages: The file.
        parts: How much what takes, the most first; None when this SQLite cannot tell.
        days: What was added, the first day first.
        largest: What connections take, about, the largest first.
        relayed: The bytes that all connections relayed, and how many of these are compacted.
        older: For some ages in days: how many connections are older, and what they take, about.
        pruned: What is said of connections that were deleted.

    """

    pages: Pages
    parts: dict[str, int] | None
    days: list[Day]
    largest: list[tuple[int, int]]
    relayed: tuple[int, int]
    older: dict[int, tuple[int, int]]
    pruned: list[Pruned]


AGES: Final = (7, 30, 90, 365)
"""Ages in days of which is told how much is older."""


def survey(path: str, *, now_ns: int) -> Space:
    """Return how large a log is; reads all of its pages, 1 s for each GB or so.

    Raises:
        LogError: It cannot be read.

    """
    with contextlib.closing(schema.open_for_reading(path)) as db, schema.explaining(path):
        db.execute("BEGIN")
        takes = shares(db)
        relayed = 0
        days: dict[int, Day] = {}
        older = dict.fromkeys(AGES, (0, 0))
        for id_, added_ns, last_ns, messages, size in db.execute(
            "SELECT id, added_ns, "
            "CASE WHEN status <> 'running' THEN max(added_ns, coalesce(ended_ns, 0)) END, "
            "messages, client_bytes + agent_bytes + stderr_bytes FROM connections"
        ):
            relayed += size
            number = added_ns // _DAY_NS
            day = days.get(number, Day(number, 0, 0, 0))
            days[number] = Day(
                number, day.connections + 1, day.messages + messages, day.bytes + size
            )
            for age in AGES:
                if last_ns is not None and now_ns - last_ns > age * _DAY_NS:
                    count, taken = older[age]
                    older[age] = count + 1, taken + takes[id_]
        compacted = 0
        if schema.has_column(db, "packs", "bytes"):
            [(compacted,)] = db.execute("SELECT coalesce(sum(bytes), 0) FROM packs")
        return Space(
            pages(db),
            None if db.notice else _parts(db),  # nothing bounds dbstat in a hostile file
            [days[number] for number in sorted(days)],
            sorted(takes.items(), key=lambda pair: (-pair[1], pair[0])),
            (relayed, compacted),
            older,
            pruned(db),
        )


def _parts(db: sqlite3.Connection) -> dict[str, int] | None:
    sql = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
    try:
        rows = db.execute(sql).fetchall()
    except sqlite3.OperationalError:  # this SQLite is built without
        return None
    found: dict[str, int] = {}
    for name, size in rows:
        what = next((what for begin, what in _PARTS.items() if name.startswith(begin)), _REST)
        found[what] = found.get(what, 0) + size
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
