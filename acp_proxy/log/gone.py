"""What a log says of the connections that were deleted from it: the table ``pruned``."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.log import schema

if TYPE_CHECKING:
    import sqlite3


class Pruned(NamedTuple):
    """What a row of ``pruned`` says."""

    connection_id: int
    uuid: str
    added_ns: int
    frames: int
    messages: int
    bytes: int
    pruned_ns: int
    why: str
    finished: bool


def unfinished(db: "sqlite3.Connection") -> list[Pruned]:
    """Return the connections that are half deleted."""
    return [one for one in pruned(db) if not one.finished]


def pruned(db: "sqlite3.Connection") -> list[Pruned]:
    """Return what is said of the connections that were deleted, in the order of their ids."""
    if not schema.has_column(db, "pruned", "why"):  # an older log
        return []
    sql = f"SELECT {', '.join(Pruned._fields)} FROM pruned ORDER BY connection_id"
    return [Pruned(*row)._replace(finished=bool(row[-1])) for row in db.execute(sql)]


def told_of(db: "sqlite3.Connection", reference: str) -> str | None:
    """Return what became of a connection that somebody looks for in vain; None when nothing is known.

    Args:
        db: The log.
        reference: Its id, or the beginning of its uuid.

    """
    for one in pruned(db):
        if reference == str(one.connection_id) or one.uuid.startswith(reference.lower()):
            day = datetime.fromtimestamp(one.pruned_ns / 1e9, UTC).strftime("%Y-%m-%d")
            return f"connection {one.connection_id} was deleted on {day} by {one.why}"
    return None
