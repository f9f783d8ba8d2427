"""Deleting connections from a log, safely beside whoever records and reads.

Theory of operation. The first transaction takes the connection's row out and writes one
into ``pruned``: from then on nobody finds the connection, so nobody sees half of it. What
belongs to it goes in slices afterwards. Whoever was killed in between left a row in
``pruned`` that says so, and the next one to prune or vacuum goes on there.
"""

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.advance import Advance, unwatched
from acp_proxy.clock import wall_clock_ns
from acp_proxy.journal import spool
from acp_proxy.log import schema, space
from acp_proxy.log.gone import Pruned, unfinished
from acp_proxy.log.retention import Candidate, Choice, Limits, choose
from acp_proxy.log.rows import frame_range

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from acp_proxy.log.upkeep import Upkeep

_KEYED_BY_FRAME = {"frames": "id", "packs": "frame_id"}
_APART = {"connections", "pruned"}
_MUCH = 10
"""One part in so many of the log is much."""
_MERGE_PAGES = 64
_MERGED_WHEN = 2
"""FTS5 says so of a merge that found nothing to do: fewer changes than this."""


class Freed(NamedTuple):
    """What a pruning came to.

    Attributes:
        gone: The connections that went.
        bytes: By how much what the file holds has become less.
        completed: Connections that somebody had left half deleted.

    """

    gone: list[Candidate]
    bytes: int
    completed: list[int]


class Survey(NamedTuple):
    """What a log holds, for whoever chooses what goes.

    Attributes:
        candidates: All its connections, with why one may not go.
        used_bytes: What all of it takes.
        unfinished: Connections that are half deleted.

    """

    candidates: list[Candidate]
    used_bytes: int
    unfinished: list[Pruned]


def survey(path: str) -> Survey:
    """Return what a log holds.

    Raises:
        LogError: It cannot be read.

    """
    with contextlib.closing(schema.open_for_reading(path)) as db, schema.explaining(path):
        db.text_factory = schema.text_or_bytes
        return Survey(_candidates(db, path), space.pages(db).used, unfinished(db))


def chosen(
    path: str, limits: Limits, named: "Collection[int] | None" = None
) -> tuple[Survey, Choice]:
    """Return what a log holds, and which connections go now (``retention.choose``).

    Raises:
        LogError: It cannot be read.

    """
    found = survey(path)
    now_ns = wall_clock_ns()
    return found, choose(
        found.candidates, limits, now_ns=now_ns, used_bytes=found.used_bytes, named=named
    )


def _candidates(db: "sqlite3.Connection", path: str) -> list[Candidate]:
    shares = space.shares(db)
    rows = db.execute(
        "SELECT status, host, proxy_pid, id, uuid, added_ns, max(added_ns, coalesce(ended_ns, 0)), "
        "frames, messages FROM connections"
    ).fetchall()
    # Asked after the log: a journal that has gone by now was in the log, all of it, before.
    waiting = {spool.uuid_of(journal) for journal in spool.waiting(path)}
    return [
        Candidate(
            id_,
            uuid,
            _number(added),
            _number(last),
            _number(frames),
            _number(messages),
            shares.get(id_, 0),
            _why_it_stays(status, waits=uuid in waiting, is_lost=_is_lost(host, pid)),
            status,
        )
        for status, host, pid, id_, uuid, added, last, frames, messages in rows
    ]


def _number(value: object) -> int:
    """Return a number of a row; one that cannot be read is 0, so that its connection goes early."""
    return value if isinstance(value, int) else 0


def _text(value: object) -> str:
    """Return a text of a row; of one that cannot be read, what there is of it."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value or "")


def _why_it_stays(status: str, *, waits: bool, is_lost: bool) -> str | None:
    if status == "running" and (waits or not is_lost):
        return "it is running"
    return "its journal waits to be recorded" if waits else None


def _is_lost(host: object, proxy_pid: object) -> bool:
    """Tell whether a proxy is sure to have ended: it ran on this machine, and nothing has its pid.

    Where its journal is gone too, nobody will ever tell the end of its connection.
    """
    if host != os.uname().nodename or not isinstance(proxy_pid, int) or proxy_pid <= 0:
        return False
    try:
        os.kill(proxy_pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's process
        pass
    return False


def prune(
    upkeep: "Upkeep",
    going: "Sequence[Candidate]",
    why: str,
    *,
    thoroughly: bool = False,
    advance: Advance = unwatched,
) -> Freed:
    """Delete connections, and what others left half deleted.

    Args:
        upkeep: The log.
        going: Which. One that stands otherwise by now stays.
        why: Who wants it, for ``pruned``.
        thoroughly: Whether words of theirs are to go from the full-text index in any case: takes as
            long as the index is large. Else they go now when much of the log goes, or bit by bit, when
            the index grows.
        advance: Is told of each row that goes (``rows_to_delete``).

    Raises:
        LogError: The log cannot be written. What was deleted stays deleted.

    """
    before = upkeep.used_bytes()
    completed = [one.connection_id for one in unfinished(upkeep.db)]
    for id_ in completed:
        _delete_rest(upkeep, id_, advance)
    gone = []
    for one in going:
        if _take_out(upkeep, one, why):
            _delete_rest(upkeep, one.id, advance)
            gone.append(one)
    much = sum(one.bytes for one in gone) > before // _MUCH
    if thoroughly or much or completed:
        _merge_index(upkeep)
    return Freed(gone, max(0, before - upkeep.used_bytes()), completed)


def rows_to_delete(upkeep: "Upkeep", going: "Sequence[Candidate]") -> int:
    """Return how many rows ``prune`` will delete; takes some hundredth of its time.

    Raises:
        LogError: The log cannot be read.

    """
    db = upkeep.db
    with schema.explaining(upkeep.path):
        ids = [*(one.connection_id for one in unfinished(db)), *(one.id for one in going)]
        counts = [
            db.execute(f"SELECT count(*) FROM {table} WHERE {_of(id_, table, key)}").fetchone()[0]
            for table, key in _tables(db).items()
            for id_ in ids
        ]
    return sum(counts)


def _take_out(upkeep: "Upkeep", one: Candidate, why: str) -> bool:
    """Take a connection's row out, unless it has gone by now, or stands otherwise than it did."""
    with upkeep.transaction():
        cursor = upkeep.db.execute(
            "DELETE FROM connections WHERE id = ? AND CAST(uuid AS BLOB) IS CAST(? AS BLOB) "
            "AND CAST(status AS BLOB) IS CAST(? AS BLOB)",
            (one.id, one.uuid, one.status),
        )
        if cursor.rowcount == 0:
            return False
        upkeep.db.execute(
            f"INSERT INTO pruned ({', '.join(Pruned._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                one.id,
                _text(one.uuid),
                one.added_ns,
                one.frames,
                one.messages,
                one.bytes,
                wall_clock_ns(),
                why,
            ),
        )
    return True


def delete_connection(db: "sqlite3.Connection", connection_id: int) -> None:
    """Delete all rows of a connection, inside a transaction, and leave no word of it."""
    for table, key in _tables(db).items():
        db.execute(f"DELETE FROM {table} WHERE {_of(connection_id, table, key)}")
    db.execute("DELETE FROM connections WHERE id = ?", (connection_id,))


def _delete_rest(upkeep: "Upkeep", connection_id: int, advance: Advance) -> None:
    for table, key in _tables(upkeep.db).items():
        where = _of(connection_id, table, key)
        sql = f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {where} LIMIT ?)"

        def step(amount: int, sql: str = sql) -> int:
            gone = upkeep.db.execute(sql, (amount,)).rowcount
            advance(gone)
            return gone

        upkeep.in_slices(step)
    with upkeep.transaction():
        upkeep.db.execute(
            "UPDATE pruned SET finished = 1 WHERE connection_id = ?", (connection_id,)
        )


def _of(connection_id: int, table: str, key: str) -> str:
    """Return the condition of a connection's rows in a table with this key."""
    if table in _KEYED_BY_FRAME:
        first, last = frame_range(connection_id)
        return f"{key} BETWEEN {first} AND {last}"
    return f"connection_id = {connection_id}"


def _tables(db: "sqlite3.Connection") -> dict[str, str]:
    """Return the tables in which connections have rows, and the columns of their keys.

    All that have a ``connection_id``: also those that some later step will add.
    """
    names = db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    ).fetchall()
    found = {}
    for (name,) in names:
        columns = db.execute(f"PRAGMA table_xinfo({name})").fetchall()
        if name in _APART or not any(column[1] == "connection_id" for column in columns):
            continue
        keys = sorted((column[5], column[1]) for column in columns if column[5])
        if name in _KEYED_BY_FRAME:
            found[name] = _KEYED_BY_FRAME[name]
        elif _is_without_rowid(db, name):
            found[name] = ", ".join(key for _, key in keys)
        else:
            found[name] = "rowid"
    return found


def _is_without_rowid(db: "sqlite3.Connection", table: str) -> bool:
    [(sql,)] = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
    return "WITHOUT ROWID" in sql


def _merge_index(upkeep: "Upkeep") -> None:
    """Take out of the full-text index what its deleted texts left there, page by page."""
    db = upkeep.db
    merge = "INSERT INTO search (search, rank) VALUES ('merge', ?)"
    pages = -_MERGE_PAGES  # the first begins to merge all, the others go on

    def step(_: int) -> int:
        nonlocal pages
        before = db.total_changes
        db.execute(merge, (pages,))
        pages = _MERGE_PAGES
        return int(db.total_changes - before >= _MERGED_WHEN)

    upkeep.in_slices(step)
