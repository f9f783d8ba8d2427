"""A connection's state as a short readable page, from its JSON form; harmless text."""

import base64
from collections import Counter
from typing import Any

from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import visible

_WIDTH = 100
_LAST = 10  # of messages, the last ones are shown


def state_page(document: dict[str, Any]) -> str:
    """Return the page of a document that ``state_document`` gave."""
    version = document.get("protocolVersion")
    spoken = "" if version is None else f", protocol version {_text(version)}"
    lines = [f"connection {document['connection']} just after message {document['at']}{spoken}"]
    for session in document["sessions"]:
        lines += ["", *_session(session)]
    if not document["sessions"]:
        lines.append("no session")
    return "\n".join(lines)


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
    for title, key, row in (
        ("turns", "turns", _turn),
        ("tool calls", "toolCalls", _tool_call),
        ("terminals", "terminals", _terminal),
        ("permissions", "permissions", _permission),
        ("messages", "messages", _message),
    ):
        lines += _section(title, session.get(key, []), row)
    if session["plans"]:
        lines.append(f"  plans: {len(session['plans'])}")
        lines += [f"    {line}" for plan in session["plans"] for line in _plan(plan)]
    return lines


def _section(title: str, things: list[Any], row: Any) -> list[str]:
    if not things:
        return []
    lines = [f"  {title}: {len(things)}"]
    shown = things[-_LAST:] if title in ("messages", "turns") else things
    if len(shown) < len(things):
        lines.append(f"    (the last {len(shown)})")
    return lines + [f"    {clip(row(thing), _WIDTH)}" for thing in shown]


def _turn(turn: dict[str, Any]) -> str:
    begun = f"from {turn['startedSeq']}"
    if "endedSeq" not in turn:
        return f"{begun}, running"
    how = _text(turn["stopReason"]) if "stopReason" in turn else "ended"
    return f"{begun} to {turn['endedSeq']}, {'failed' if 'error' in turn else how}"


def _tool_call(call: dict[str, Any]) -> str:
    title = call.get("title", call.get("name", ""))
    items = Counter(_kind(item) for item in call["content"])
    content = ", ".join(f"{count} {kind}" for kind, count in items.items())
    return _line(
        f"{_text(call['status']):<11} {_text(call['kind']):<7}",
        _text(call["toolCallId"]),
        _text(title),
        f"[{content}]" if content else "",
    )


def _terminal(terminal: dict[str, Any]) -> str:
    status = terminal.get("exitStatus")
    if status is None:
        how = "not exited"
    else:
        how = " ".join(
            ["exited"]
            + [_text(status[key]) for key in ("exitCode", "signal") if status.get(key) is not None]
        )
    output = terminal.get("output")
    size = "output unknown"
    if output is not None:
        size = f"{len(base64.b64decode(output['data']))} bytes"
    words = [word for word in ("killed", "released") if word in terminal]
    return _line(
        f"{terminal['owner']:<6} {_text(terminal['terminalId'])}",
        ", ".join([how, size, *words]),
        _text(terminal.get("command", "")),
    )


def _permission(permission: dict[str, Any]) -> str:
    answer = permission["status"]
    if "optionId" in permission:
        answer = f"{answer} {_text(permission['optionId'])}"
    call = permission.get("toolCall")
    title = permission.get("title")
    if title is None and isinstance(call, dict):
        title = call.get("title", call.get("toolCallId"))
    return _line(f"request {_text(permission['requestId'])}", answer, _text(title or ""))


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
