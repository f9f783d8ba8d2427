"""The latest state of sessions and things in plain columns, for people who ask the log in SQL.

Only what fits in a column: what is long (content, output) is told by its size. The
columns are those of the tables of migrations m0002; docs/log.md says what they mean.
"""

from collections.abc import Callable
from typing import Any, Final

import orjson

from acp_proxy.state.growing import Packed, unpacked
from acp_proxy.state.permissions import Permission
from acp_proxy.state.sessions import Session
from acp_proxy.state.terminals import Terminal
from acp_proxy.state.tool_calls import ToolCall
from acp_proxy.state.turns import Turn
from acp_proxy.wire.exact_json import write

TABLES: Final[dict[str, tuple[str, ...]]] = {
    "sessions": (
        "session_id", "first_seq", "last_seq", "cwd", "title", "mode", "activity", "closed", "messages",
        "context_used", "context_size", "cost", "updated_at",
    ),
    "turns": (
        "session_id", "started_seq", "prompt_seq", "ended_seq", "stop_reason", "error", "message_id",
    ),
    "tool_calls": (
        "session_id", "tool_call_id", "first_seq", "last_seq", "name", "kind", "status", "title",
        "locations", "raw_input", "content_items",
    ),
    "terminals": (
        "session_id", "owner", "terminal_id", "first_seq", "last_seq", "command", "args", "cwd",
        "output_bytes", "truncated", "exited", "exit_code", "signal", "killed", "released",
    ),
    "permissions": (
        "session_id", "seq", "request_id", "status", "tool_call_id", "title", "option_id",
        "answered_seq",
    ),
}  # fmt: skip
"""The columns of each table after ``connection_id``."""
_MAX_INTEGER = 2**63 - 1
LONGEST_INPUT: Final = 64 * 1024
"""The longest ``raw_input`` that stands in a column."""

Row = tuple[Any, ...]


def row_of(session: Session, thing: Any) -> tuple[str, Row] | None:
    """Return the table and the row of a session or thing, None when it has no table.

    Args:
        session: Itself, or that of the thing.
        thing: What was changed.

    """
    if thing is session:
        return "sessions", _session(session)
    found = _ROWS.get(type(thing))
    return None if found is None else (found[0], (_text(session.session_id), *found[1](thing)))


def _session(session: Session) -> Row:
    usage = session.usage or {}
    activity = (session.activity or {}).get("state")
    return (
        _text(session.session_id),
        session.first_seq,
        session.last_seq,
        _text(session.cwd),
        _text(session.title),
        _text(session.mode),
        _text(activity),
        int(session.closed),
        len(session.messages),
        _integer(usage.get("used")),
        _integer(usage.get("size")),
        _json(usage.get("cost")),
        _text(session.updated_at),
    )


def _turn(turn: Turn) -> Row:
    return (
        turn.started_seq,
        turn.prompt_seq,
        turn.ended_seq,
        _text(turn.stop_reason),
        _json(turn.error),
        _text(turn.message_id),
    )


def _tool_call(call: ToolCall) -> Row:
    return (
        _text(call.tool_call_id),
        call.first_seq,
        call.last_seq,
        _text(call.name),
        _text(call.kind),
        _text(call.status),
        _text(call.title),
        _json(call.locations),
        _short(_json(call.raw_input)),
        len(call.content),
    )


def _terminal(terminal: Terminal) -> Row:
    status = terminal.exit_status
    return (
        terminal.owner,
        _text(terminal.terminal_id),
        terminal.first_seq,
        terminal.last_seq,
        _text(terminal.command),
        _json(terminal.args),
        _text(terminal.cwd),
        None if terminal.output is None else len(terminal.output),
        _integer(terminal.truncated),
        int(status is not None),
        _integer((status or {}).get("exitCode")),
        _text((status or {}).get("signal")),
        int(terminal.killed),
        int(terminal.released),
    )


def _permission(permission: Permission) -> Row:
    call, subject = unpacked(permission.tool_call), unpacked(permission.subject)
    if call is None and type(subject) is dict:
        call = subject.get("toolCall")
    call = call if type(call) is dict else {}
    title = permission.title if type(permission.title) is str else call.get("title")
    return (
        permission.seq,
        _json(permission.request_id) or "null",
        permission.status,
        _text(call.get("toolCallId")),
        _text(title),
        _text(permission.option_id),
        permission.answered_seq,
    )


_ROWS: Final[dict[type[Any], tuple[str, Callable[[Any], Row]]]] = {
    Turn: ("turns", _turn),
    ToolCall: ("tool_calls", _tool_call),
    Terminal: ("terminals", _terminal),
    Permission: ("permissions", _permission),
}


def _text(value: Any) -> str | None:
    """Return a string as one that SQLite can hold, None for anything else."""
    if not isinstance(value, str) or value.isascii():
        return value if isinstance(value, str) else None
    return value.encode(errors="backslashreplace").decode()


def _short(text: str | None) -> str | None:
    """Return JSON text, None when it is long: the row is written anew with each change."""
    return text if text is None or len(text) <= LONGEST_INPUT else None


def _integer(value: Any) -> int | None:
    if type(value) is bool:
        return int(value)
    return value if type(value) is int and abs(value) <= _MAX_INTEGER else None


def _json(value: Any) -> str | None:
    """Return a value as JSON text, None for no value."""
    if value is None or isinstance(value, Packed):
        return None if value is None else value.json
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, RecursionError):
        return write(value)
