"""A connection's state as a short readable page, from its JSON form; harmless text."""

import base64
from collections import Counter
from typing import TYPE_CHECKING, Any

from acp_proxy.events.labels import FINAL_STATUSES
from acp_proxy.state.stored import glance
from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import visible
from acp_proxy.views.state_json import as_it_is, session_counts, session_object

if TYPE_CHECKING:
    from acp_proxy.state.fold import State
    from acp_proxy.state.sessions import Session

_WIDTH = 100
_LAST = 10  # of messages, turns, and what there are many of, the last ones are shown
_MOST = 40
_WHOLE_SESSIONS = 8
_TITLES = {
    "turns": "turns",
    "toolCalls": "tool calls",
    "terminals": "terminals",
    "permissions": "permissions",
    "messages": "messages",
}


def state_page(state: "State", connection_id: int, session_id: str | None = None) -> str:
    """Return the page of a state.

    Of many sessions only those are told whole of which was spoken last, of many things only
    those that are open and the last ones.

    Args:
        state: What was true.
        connection_id: Of which connection.
        session_id: Only this session.

    """
    version = state.protocol_version
    spoken = "" if version is None else f", protocol version {_text(version)}"
    lines = [f"connection {connection_id} just after message {state.seq}{spoken}"]
    sessions = [
        one for one in glance(state.sessions) if session_id is None or one.session_id == session_id
    ]
    recent = sorted(sessions, key=lambda one: one.last_seq)[-_WHOLE_SESSIONS:]
    whole = {one.session_id for one in recent}
    if len(sessions) > len(whole):
        lines += ["", f"the {len(whole)} sessions that spoke last stand below, of the others:"]
    lines += [
        _in_short(one, session_counts(state, one))
        for one in sessions
        if one.session_id not in whole
    ]
    for one in sessions:
        if one.session_id in whole:
            known = state.sessions[one.session_id]
            lines += ["", *_session(session_object(known, as_it_is))]
    if not sessions:
        lines.append("no session")
    return "\n".join(lines)


def _in_short(session: "Session", counts: dict[str, int]) -> str:
    """Tell on a line how much of what a session has; ``--session`` tells it whole."""
    counted = [f"{count} {_TITLES[key]}" for key, count in counts.items() if count]
    return _line(
        f"  {_text(session.session_id)}",
        _text(session.title or ""),
        f"to message {session.last_seq}: {', '.join(counted) or 'nothing'}",
    )


def _session(session: dict[str, Any]) -> list[str]:
    lines = [_line("session", _text(session["sessionId"]), _text(session.get("title", "")))]
    facts = [f"{name} {_text(session[name])}" for name in ("cwd", "mode") if name in session] + [
        word for word in ("replaying", "closed") if word in session
    ]
    if "activity" in session:
        facts.append(_text(session["activity"]["state"]))
    if "usage" in session:
        facts.append(f"context {session['usage']['used']} of {session['usage']['size']}")
    if facts:
        lines.append("  " + clip(", ".join(facts), _WIDTH))
    rows = (_turn, _tool_call, _terminal, _permission, _message)
    for (key, title), row in zip(_TITLES.items(), rows, strict=True):
        lines += _section(title, session.get(key, []), row)
    if session["plans"]:
        lines.append(f"  plans: {len(session['plans'])}")
        lines += [f"    {line}" for plan in session["plans"] for line in _plan(plan)]
    return lines


def _section(title: str, things: list[Any], row: Any) -> list[str]:
    if not things:
        return []
    lines = [f"  {title}: {len(things)}"]
    shown = things
    if len(things) > _MOST or title in ("messages", "turns"):
        shown = [*filter(_is_open, things[:-_LAST]), *things[-_LAST:]]
    if len(shown) < len(things):
        is_more = len(shown) > _LAST
        lines.append(f"    ({'those that are open, and ' if is_more else ''}the last {_LAST})")
    return lines + [f"    {clip(row(thing), _WIDTH)}" for thing in shown]


def _is_open(thing: dict[str, Any]) -> bool:
    """Tell whether a tool call, terminal or permission is not over."""
    if "kind" in thing:
        return thing["status"] not in FINAL_STATUSES
    if "owner" in thing:
        return "exitStatus" not in thing and "released" not in thing
    return thing.get("status") == "pending"


def _turn(turn: dict[str, Any]) -> str:
    begun = f"from {turn['startedSeq']}"
    if "endedSeq" not in turn:
        return f"{begun}, running"
    how = _text(turn["stopReason"]) if "stopReason" in turn else "ended"
    return f"{begun} to {turn['endedSeq']}, {'failed' if 'error' in turn else how}"


def _tool_call(call: dict[str, Any]) -> str:
    title = call.get("title", call.get("name", ""))
    content = content_summary(call["content"])
    return _line(
        f"{_text(call['status']):<11} {_text(call['kind']):<7}",
        _text(call["toolCallId"]),
        _text(title),
        f"[{content}]" if content else "",
    )


def content_summary(content: list[Any]) -> str:
    """Return how many items of which kind there are."""
    items = Counter(_kind(item) for item in content)
    return ", ".join(f"{count} {kind}" for kind, count in items.items())


def exit_text(terminal: dict[str, Any]) -> str:
    """Return whether a terminal has exited, and how."""
    status = terminal.get("exitStatus")
    if status is None:
        return "not exited"
    told = [_text(status[key]) for key in ("exitCode", "signal") if status.get(key) is not None]
    return " ".join(["exited", *told])


def output_bytes(terminal: dict[str, Any]) -> bytes | None:
    """Return a terminal's output, None when it is unknown."""
    output = terminal.get("output")
    if output is None:
        return None
    data = output["data"]
    return base64.b64decode(data) if isinstance(data, str) else bytes(data)


def _terminal(terminal: dict[str, Any]) -> str:
    output = output_bytes(terminal)
    size = "output unknown" if output is None else f"{len(output)} bytes"
    words = [word for word in ("killed", "released") if word in terminal]
    return _line(
        f"{terminal['owner']:<6} {_text(terminal['terminalId'])}",
        ", ".join([exit_text(terminal), size, *words]),
        _text(terminal.get("command", "")),
    )


def _permission(permission: dict[str, Any]) -> str:
    request = f"request {_text(permission['requestId'])}"
    return _line(request, answer_text(permission), permission_title(permission))


def answer_text(permission: dict[str, Any]) -> str:
    """Return how a permission was answered."""
    if "optionId" in permission:
        return f"{permission['status']} {_text(permission['optionId'])}"
    return str(permission["status"])


def permission_title(permission: dict[str, Any]) -> str:
    """Return what a permission was asked for: its title, else that of its tool call or its id."""
    title = permission.get("title")
    call = asked_tool_call(permission)
    if title is None and call is not None:
        title = call.get("title", call.get("toolCallId"))
    return _text("" if title is None else title)


def asked_tool_call(permission: dict[str, Any]) -> dict[str, Any] | None:
    """Return the tool call that a permission is about, as it was sent with it (v1, v2)."""
    call = permission.get("toolCall")
    subject = permission.get("subject")
    if call is None and isinstance(subject, dict):
        call = subject.get("toolCall")
    return call if isinstance(call, dict) else None


def _message(message: dict[str, Any]) -> str:
    text = "".join(
        block["text"] if isinstance(block, dict) and isinstance(block.get("text"), str)
        else f"[{_kind(block)}]"
        for block in message["content"]
    )  # fmt: skip
    return _line(f"{message['role']:<7}", _text(text))


def _plan(plan: dict[str, Any]) -> list[str]:
    entries = plan.get("entries")
    if not isinstance(entries, list):
        return [_kind(plan)]
    return [
        clip(f"{_text(entry.get('status', '')):<11} {_text(entry.get('content', ''))}", _WIDTH)
        if isinstance(entry, dict)
        else "[no entry]"
        for entry in entries
    ]


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else None
    return clip(_text(kind), 40) if isinstance(kind, str) else "unknown"


def _text(value: Any) -> str:
    """Return a value on one line, with nothing in it that a terminal would obey."""
    text = value if isinstance(value, str) else str(value)
    return clip(visible(text[: 4 * _WIDTH]), _WIDTH)


def _line(*parts: str) -> str:
    return "  ".join(part for part in parts if part)
