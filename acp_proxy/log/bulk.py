"""Many rows of frames and messages in two statements, as the recorder writes them.

A statement runs without Python's lock, so that a thread can write one batch while the
next is parsed; row by row the lock would change hands for each. SQLite pays half as
much again for taking the rows out of JSON.
"""

import sqlite3
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAME_COLUMNS: Final = ("id", "stream_code", "offset", "time_ns", "elapsed_ns", "crc")
_NUL: Final = b"\\u0000"
"""SQLite ends a text of JSON there."""


def _cells(count: int, within: str = "$") -> str:
    return ", ".join(f"json_extract(value, '{within}[{place}]')" for place in range(count))


_INSERT_FRAMES: Final = (
    f"INSERT INTO frames ({', '.join(_FRAME_COLUMNS)}, raw) "
    f"SELECT {_cells(len(_FRAME_COLUMNS), '$[0]')}, "
    "coalesce(substr(?, json_extract(value, '$[1]'), json_extract(value, '$[2]')), x'') "
    "FROM json_each(?)"
)


class Bulk(NamedTuple):
    """What is to be written.

    Attributes:
        raws: The bytes of the frames, one after the other.
        frames: Their other columns, place (from 1) and length in ``raws`` of each, as JSON.
        messages: The rows of ``messages`` as JSON.

    """

    raws: bytes
    frames: str
    messages: str


def bulk_of(
    frames: "Sequence[tuple[Any, ...]]", entries: "Sequence[tuple[Any, ...]]"
) -> Bulk | None:
    """Return rows as one piece, None when they cannot be written in that way.

    Args:
        frames: Rows for ``frames``; ``raw`` is the last.
        entries: Rows for ``messages``.

    """
    rows, at = [], 1
    for row in frames:
        size = len(row[-1])
        rows.append((row[:-1], at, size))
        at += size
    messages = orjson.dumps(entries)
    if _NUL in messages:
        return None
    return Bulk(
        b"".join([row[-1] for row in frames]), orjson.dumps(rows).decode(), messages.decode()
    )


def insert(
    db: sqlite3.Connection, connection_id: int, columns: "Sequence[str]", bulk: Bulk
) -> None:
    """Write the rows, inside a transaction.

    Args:
        db: The log.
        connection_id: Whose they are.
        columns: Of ``messages`` after ``connection_id``.
        bulk: From ``bulk_of``.

    """
    db.execute(_INSERT_FRAMES, (bulk.raws, bulk.frames))
    db.execute(
        f"INSERT INTO messages (connection_id, {', '.join(columns)}) "
        f"SELECT ?, {_cells(len(columns))} FROM json_each(?)",
        (connection_id, bulk.messages),
    )
