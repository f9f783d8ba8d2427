"""Tool calls, terminals, permissions and sessions as tables, from the JSON form of state."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.parts import Thing, things, took
from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import visible
from acp_proxy.views.state_page import (
    answer_text,
    content_summary,
    exit_text,
    output_bytes,
    permission_title,
)
from acp_proxy.views.tables import table
from acp_proxy.views.units import duration, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acp_proxy.log.rows import SessionRow

Times = dict[int, int | None]
"""When messages came, in ns since the connection began."""

_CELL = 60


def tool_calls_table(document: Thing, times: Times) -> str:
    """Return the tool calls, one a line."""
    return table(
        ("ID", "NAME", "KIND", "STATUS", "FIRST", "LAST", "TOOK", "CONTENT", "TITLE", "SESSION"),
        (
            (
                _cell(call["toolCallId"]),
                _cell(call.get("name")),
                _cell(call["kind"]),
                _cell(call["status"]),
                call["firstSeq"],
                call["lastSeq"],
                duration(took(times, call["firstSeq"], call["lastSeq"])),
                content_summary(call["content"]),
                _cell(call.get("title")),
                _cell(session),
            )
            for session, call in things(document, "toolCalls")
        ),
        right="FIRST LAST TOOK",
    )


def terminals_table(document: Thing, times: Times) -> str:
    """Return the terminals, one a line."""
    return table(
        ("ID", "OWNER", "STATE", "OUTPUT", "FIRST", "LAST", "TOOK", "COMMAND", "SESSION"),
        (
            (
                _cell(terminal["terminalId"]),
                terminal["owner"],
                terminal_state(terminal),
                output_size(terminal),
                terminal["firstSeq"],
                terminal["lastSeq"],
                duration(took(times, terminal["firstSeq"], terminal["lastSeq"])),
                _cell(terminal_command(terminal)),
                _cell(session),
            )
            for session, terminal in things(document, "terminals")
        ),
        right="OUTPUT FIRST LAST TOOK",
    )


def permissions_table(document: Thing, times: Times) -> str:
    """Return the permissions, one a line."""
    return table(
        ("SEQ", "ASKED FOR", "ANSWER", "TOOK", "OPTIONS", "SESSION"),
        (
            (
                permission["seq"],
                permission_title(permission),
                answer_text(permission),
                duration(took(times, permission["seq"], permission.get("answeredSeq"))),
                options_text(permission),
                _cell(session),
            )
            for session, permission in things(document, "permissions")
        ),
        right="SEQ TOOK",
    )


def sessions_table(document: Thing, counted: "Mapping[str, SessionRow] | None" = None) -> str:
    """Return the sessions of a connection, one a line.

    Args:
        document: Of their state.
        counted: What is in them, in numbers, when it is not in the document.

    """

    def numbers(session: Thing) -> tuple[int, int, int, int, int]:
        row = (counted or {}).get(session["sessionId"])
        if row is not None:
            return row.turns, row.tool_calls, row.terminals, row.permissions, row.messages
        turns = len(session.get("turns", ()))
        calls, terminals = len(session["toolCalls"]), len(session["terminals"])
        return turns, calls, terminals, len(session["permissions"]), len(session["messages"])

    def is_running(session: Thing) -> bool:
        row = (counted or {}).get(session["sessionId"])
        if row is not None:
            return row.running > 0
        return any("endedSeq" not in turn for turn in session.get("turns", ()))

    return table(
        ("SESSION", "NOW", "MODE", "TURNS", "CALLS", "TERMS", "PERMS", "MESSAGES", "CWD", "TITLE"),
        (
            (
                _cell(session["sessionId"]),
                session_state(session, is_running=is_running(session)),
                _cell(session.get("mode")),
                *numbers(session),
                _cell(session.get("cwd")),
                _cell(session.get("title")),
            )
            for session in document["sessions"]
        ),
        right="TURNS CALLS TERMS PERMS MESSAGES",
    )


def all_sessions_table(rows: "Iterable[SessionRow]") -> str:
    """Return the sessions of all connections, one a line."""
    return table(
        (
            "CONNECTION", "SESSION", "NOW", "MODE", "TURNS", "CALLS", "TERMS", "PERMS", "MESSAGES",
            "CWD", "TITLE",
        ),
        (
            (
                row.connection_id,
                _cell(row.session_id),
                _now(row),
                _cell(row.mode),
                row.turns,
                row.tool_calls,
                row.terminals,
                row.permissions,
                row.messages,
                _cell(row.cwd),
                _cell(row.title),
            )
            for row in rows
        ),
        right="CONNECTION TURNS CALLS TERMS PERMS MESSAGES",
    )  # fmt: skip


def session_summary(row: "SessionRow") -> dict[str, Any]:
    """Return a session as ``sessions --all --json`` shows it."""
    text = {
        "sessionId": row.session_id,
        "cwd": row.cwd,
        "title": row.title,
        "mode": row.mode,
        "updatedAt": row.updated_at,
        "activity": row.activity,
    }
    return {
        "connection": row.connection_id,
        **{name: value for name, value in text.items() if value is not None},
        **({"closed": True} if row.closed else {}),
        "turns": row.turns,
        "toolCalls": row.tool_calls,
        "terminals": row.terminals,
        "permissions": row.permissions,
        "messages": row.messages,
        "firstSeq": row.first_seq,
        "lastSeq": row.last_seq,
    }


def _now(row: "SessionRow") -> str:
    words = ["closed"] if row.closed else []
    if row.activity is not None:
        words.append(_cell(row.activity))
    elif row.running:
        words.append("running")
    return " ".join(words) or "idle"


def session_state(session: Thing, *, is_running: bool) -> str:
    """Return what goes on in a session, in a word or two."""
    words: list[str] = [word for word in ("closed", "replaying") if word in session]
    activity = session.get("activity")
    if activity is not None:
        words.append(_cell(activity.get("state")))
    elif is_running:
        words.append("running")
    return " ".join(words) or "idle"


def terminal_state(terminal: Thing) -> str:
    """Return how a terminal stands."""
    words = [word for word in ("killed", "released") if word in terminal]
    return " ".join([exit_text(terminal), *words])


def terminal_command(terminal: Thing) -> str:
    """Return a terminal's command with its arguments, near enough to recognise it."""
    args = terminal.get("args", [])
    return " ".join(map(str, [terminal.get("command", ""), *args]))


def output_size(terminal: Thing) -> str:
    """Return how much output there is, and whether it is all."""
    output = output_bytes(terminal)
    if output is None:
        return "unknown"
    return size(len(output)) + (" cut" if terminal.get("truncated") else "")


def options_text(permission: Thing) -> str:
    """Return what could be answered."""
    options = permission.get("options")
    if not isinstance(options, list):
        return ""
    return _cell(", ".join(_option(option) for option in options))


def _option(option: Any) -> str:
    if not isinstance(option, dict):
        return "?"
    return f"{option.get('optionId', '?')} ({option.get('kind', '?')})"


def _cell(value: Any) -> str:
    return "" if value is None else clip(visible(str(value)[: 4 * _CELL]), _CELL)
