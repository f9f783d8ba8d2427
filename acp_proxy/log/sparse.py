"""Which messages have to be read to understand a few of many, asked of the index alone."""

import json
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.log import schema
from acp_proxy.log.rows import KINDS

if TYPE_CHECKING:
    from collections.abc import Collection

# Updates that no other message's meaning depends on, nor what is said of it.
_ASIDE = (
    "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "usage_update", "plan",
    "available_commands_update", "current_mode_update",
)  # fmt: skip
_UPDATE = f"(m.kind_code = {KINDS.index('notification')} AND m.session_update IS NOT NULL)"
_SPAN = "m.connection_id = :id AND m.seq BETWEEN :first AND :last"


class Needed(NamedTuple):
    """Messages to read.

    Attributes:
        seqs: In order.
        opens: Whether a connection is opened anew among them, which changes what updates mean.

    """

    seqs: list[int]
    opens: bool


def needed(
    path: str,
    db: sqlite3.Connection,
    connection_id: int,
    span: tuple[int, int],
    wanted: "Collection[int]",
    *,
    updates: bool,
) -> Needed:
    """Return the messages of a span that the wanted ones cannot be understood without.

    Args:
        path: The log, for errors.
        db: The log.
        connection_id: Whose.
        span: The first and the last.
        wanted: Those wanted.
        updates: Whether what was said before of the same sessions' things is needed too.

    """
    of_it = {"id": connection_id, "first": span[0], "last": span[1]}
    with schema.reading(path):
        sql = "SELECT session_id FROM messages WHERE connection_id = ? AND seq = ?"
        sessions = {row[0] for seq in wanted for row in db.execute(sql, (connection_id, seq))}
        rows = db.execute(
            f"SELECT m.seq, m.request_seq, m.session_id, m.method FROM messages m "
            f"WHERE {_SPAN} AND NOT {_UPDATE}",
            of_it,
        ).fetchall()
        seqs = {*wanted, *_sessions_begin(db, of_it), *_pairs(rows, {*sessions, None}, wanted)}
        if updates:
            ours = json.dumps(sorted(sessions - {None}))
            aside = ", ".join(f"'{kind}'" for kind in _ASIDE)
            some = db.execute(
                f"SELECT m.seq FROM messages m WHERE {_SPAN} AND {_UPDATE} "
                f"AND m.session_update NOT IN ({aside}) "
                "AND m.session_id IN (SELECT value FROM json_each(:sessions))",
                {**of_it, "sessions": ours},
            )
            seqs.update(seq for (seq,) in some)
    return Needed(sorted(seqs), any(method == "initialize" for *_, method in rows))


def _pairs(
    rows: list[tuple[int, int | None, str | None, str | None]],
    sessions: set[str | None],
    wanted: "Collection[int]",
) -> set[int]:
    """Return the requests and answers of which one is about some sessions, or wanted."""
    some = set(wanted)
    mine = {asked or seq for seq, asked, session, _ in rows if session in sessions or seq in some}
    return {seq for seq, asked, _, _ in rows if (asked or seq) in mine}


def _sessions_begin(db: sqlite3.Connection, values: dict[str, int]) -> set[int]:
    """Return the first message about any session, and the first about another one."""
    sql = f"SELECT m.seq, m.session_id FROM messages m WHERE {_SPAN} AND m.session_id {{}} ORDER BY m.seq LIMIT 1"
    first = db.execute(sql.format("IS NOT NULL"), values).fetchone()
    if first is None:
        return set()
    other = db.execute(sql.format("<> :session"), {**values, "session": first[1]}).fetchone()
    return {int(row[0]) for row in (first, other) if row is not None}
