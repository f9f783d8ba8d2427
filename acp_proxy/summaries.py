"""States as the rows that the log would have of them, for connections of an older log."""

from typing import TYPE_CHECKING

from acp_proxy.log.rows import SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.state.fold import State


def session_rows(state: "State", connection_id: int) -> "Iterator[SessionRow]":
    """Yield what the sessions of a state came to, as the log's tables tell it."""
    for session in state.sessions.values():
        yield SessionRow(
            connection_id,
            session.session_id,
            session.first_seq,
            session.last_seq,
            session.cwd,
            session.title,
            session.mode,
            session.updated_at,
            (session.activity or {}).get("state"),
            session.closed,
            len(session.turns),
            sum(turn.ended_seq is None for turn in session.turns),
            len(session.tool_calls),
            len(session.terminals),
            len(session.permissions),
            len(session.messages),
        )
