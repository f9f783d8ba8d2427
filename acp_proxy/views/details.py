"""One message as a page for people, or as an object with everything for programs."""

import base64
from typing import TYPE_CHECKING, Any

import orjson

from acp_proxy.views.jsonlines import message_object, rfc3339
from acp_proxy.views.preview import member_of, preview
from acp_proxy.views.safe_text import decode, visible, visible_lines
from acp_proxy.views.units import duration, since_start
from acp_proxy.wire import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import ConnectionRow, MessageRow

_LONGEST_PAGE = 1024 * 1024
_SHOWN = 64 * 1024


def message_page(
    connection: "ConnectionRow",
    row: "MessageRow",
    other: "MessageRow | None",
    offset: int,
    events: "Iterable[Event]",
) -> str:
    """Return a message with all that is known of it.

    Args:
        connection: Whose it is.
        row: The message, with its whole frame unless that is very long.
        other: The request that it answers, or its answer.
        offset: Where its frame begins in its stream.
        events: What it means.

    """
    facts = [
        ("message", f"{row.seq} of connection {connection.id} ({connection.uuid})"),
        ("from", row.stream),
        ("kind", row.kind),
        ("method", row.method),
        ("id", row.id),
        ("time", _time(row)),
        ("session", row.session_id),
        ("update", row.session_update),
        ("tool call", row.tool_call_id),
        ("terminal", row.terminal_id),
        _pairing(row, other),
        ("error code", row.error_code),
        ("flags", " ".join(row.flags) or None),
        ("reason", row.reason),
        ("batch", None if row.batch_index is None else f"member {row.batch_index} of a batch"),
        ("bytes", f"{row.size} at byte {offset} of what the {_writer(row)} wrote"),
    ]
    for event in events:
        facts.append(("event", type(event).__name__))
        facts += [("note", note) for note in event.notes]
    lines = [f"{name + ':':12}{visible(str(value))}" for name, value in facts if value is not None]
    return "\n".join([*lines, "", _body(row)])


def message_detail(
    row: "MessageRow", other: "MessageRow | None", events: "Iterable[Event]"
) -> dict[str, Any]:
    """Return a message as ``show --json`` does: with its exact bytes, other half, and events."""
    detail = message_object(row, preview(row))
    detail["events"] = [  # a note may quote what no JSON library writes: half of a surrogate pair
        {"event": type(event).__name__, "notes": [visible(note) for note in event.notes]}
        for event in events
    ]
    if row.kind == "request":
        detail["answerSeq"] = None if other is None else other.seq
    if len(row.raw) == row.size:
        try:
            detail["data"] = row.raw.decode()
        except UnicodeDecodeError:
            detail["dataBase64"] = base64.b64encode(row.raw).decode()
    if row.kind not in ("text", "invalid") and "unparsed" not in row.flags:
        text = member_of(row)
        try:
            text.decode()
            detail["message"] = orjson.Fragment(jsontext.compact(text))
        except UnicodeDecodeError:
            pass
    return detail


def _pairing(row: "MessageRow", other: "MessageRow | None") -> tuple[str, str | None]:
    if row.kind == "request":
        if other is None:
            return "answer", "none"
        took = duration(other.duration_ns)
        return "answer", f"{other.seq} ({other.kind}) after {took}: {preview(other, 100)}"
    if other is not None:
        return "answers", f"{other.seq} {other.method} after {duration(row.duration_ns)}"
    return "answers", "no request that was seen" if row.kind in ("result", "error") else None


def _time(row: "MessageRow") -> str | None:
    wall = rfc3339(row.time_ns)
    if row.elapsed_ns is None:
        return wall
    return f"{wall or 'unknown'}, {since_start(row.elapsed_ns)} s after the start"


def _writer(row: "MessageRow") -> str:
    return "agent on stderr" if row.stream == "stderr" else row.stream


def _body(row: "MessageRow") -> str:
    if row.size > _LONGEST_PAGE:
        shown = visible_lines(decode(row.raw[:_SHOWN]))
        return f"{shown}\n... {row.size - _SHOWN} bytes more; --raw gives them all"
    if row.kind in ("text", "invalid") and "unparsed" not in row.flags:
        return visible(decode(row.raw).removesuffix("\n"))
    return visible_lines(decode(jsontext.pretty(member_of(row))))
