"""A tool call or a terminal as a page for people, from the JSON form of state; harmless text."""

from typing import Any

from acp_proxy.views.diffs import diff_lines
from acp_proxy.views.parts import Thing, took
from acp_proxy.views.safe_text import decode, visible, visible_lines
from acp_proxy.views.state_json import state_text
from acp_proxy.views.state_page import (
    answer_text,
    asked_tool_call,
    output_bytes,
    permission_title,
)
from acp_proxy.views.state_tables import (
    Times,
    options_text,
    output_size,
    terminal_command,
    terminal_state,
)
from acp_proxy.views.units import duration
from acp_proxy.wire import jsontext

_LONGEST = 64 * 1024  # bytes of one value on a page


def _belongings(session: Thing, call: Thing) -> tuple[list[Thing], list[Thing]]:
    """Return a tool call's permissions and terminals, of those of its session.

    A terminal belongs to a call whose content embeds it; equal ids mean nothing by
    themselves (three owners, three spaces of ids), so all owners' come.
    """
    id_ = call["toolCallId"]
    asked = [
        permission
        for permission in session["permissions"]
        if (asked_tool_call(permission) or {}).get("toolCallId") == id_
    ]
    embedded = {
        item.get("terminalId")
        for item in call["content"]
        if isinstance(item, dict)
        and item.get("type") == "terminal"
        and isinstance(item.get("terminalId"), str)
    }
    terminals = [one for one in session["terminals"] if one["terminalId"] in embedded]
    return asked, terminals


def with_belongings(document: Thing, id_: str) -> Thing:
    """Return a document with one tool call of each session, its permissions and its terminals."""
    sessions = []
    for session in document["sessions"]:
        for call in session["toolCalls"]:
            if call["toolCallId"] == id_:
                asked, terminals = _belongings(session, call)
                one = {"sessionId": session["sessionId"], "toolCalls": [call]}
                sessions.append({**one, "permissions": asked, "terminals": terminals})
    return {**document, "sessions": sessions}


def tool_call_page(session: Thing, times: Times) -> str:
    """Return the one tool call of a session that ``with_belongings`` gave."""
    [call] = session["toolCalls"]
    lines = facts(
        ("tool call", call["toolCallId"]),
        ("session", session["sessionId"]),
        ("title", call.get("title")),
        ("name", call.get("name")),
        ("kind", call["kind"]),
        ("status", call["status"]),
        ("messages", _span(call, times)),
        *[("location", _location(location)) for location in call["locations"]],
    )
    for title, key in (
        ("input", "rawInput"),
        ("output", "rawOutput"),
        ("capabilities", "capabilities"),
        ("_meta", "_meta"),
    ):
        if key in call:
            lines += ["", f"{title}:", *_indented(_value(call[key]))]
    for number, item in enumerate(call["content"], 1):
        lines += ["", *_content(number, item)]
    for permission in session["permissions"]:
        lines += ["", *_permission(permission, times)]
    for terminal in session["terminals"]:
        lines += ["", *terminal_lines(None, terminal, times)]
    return "\n".join(lines)


def terminal_page(session_id: str, terminal: Thing, times: Times) -> str:
    """Return a terminal with its output, control sequences made visible."""
    return "\n".join(terminal_lines(session_id, terminal, times))


def terminal_lines(session_id: str | None, terminal: Thing, times: Times) -> list[str]:
    """Return the lines of a terminal; the session is not told when it is None."""
    lines = terminal_facts(session_id, terminal, times)
    output = output_bytes(terminal)
    if output:
        lines += ["", *_indented(output_text(output))]
    return lines


def terminal_facts(session_id: str | None, terminal: Thing, times: Times) -> list[str]:
    """Return the lines of a terminal that stand before its output."""
    return facts(
        ("terminal", terminal["terminalId"]),
        ("session", session_id),
        ("owner", terminal["owner"]),
        ("command", terminal_command(terminal) or None),
        ("cwd", terminal.get("cwd")),
        ("state", terminal_state(terminal)),
        ("messages", _span(terminal, times)),
        ("output", output_size(terminal)),
    )


def output_text(output: bytes) -> str:
    r"""Return a terminal's output made harmless; CR before LF, which terminals write, is left out.

    >>> output_text(b"\x1b[31mred\x1b[0m\r\nten%\rall \xff")
    '\\e[31mred\\e[0m\nten%\\rall \\xff'
    """
    return visible_lines(decode(output.replace(b"\r\n", b"\n")))


def _content(number: int, item: Any) -> list[str]:
    kind = item.get("type") if isinstance(item, dict) else None
    head = f"content {number}:"
    if kind == "terminal":
        return [f"{head} terminal {_one(item.get('terminalId'))}"]
    if kind == "diff":
        return [f"{head} diff", *_indented("\n".join(diff_lines(item)))]
    block = item.get("content") if kind == "content" else None
    if isinstance(block, dict) and block.get("type") == "text" and type(block.get("text")) is str:
        return [f"{head} text", *_indented(block["text"])]
    named = block.get("type") if isinstance(block, dict) else kind
    return [f"{head} {_one(named)}", *_indented(_value(item))]


def _permission(permission: Thing, times: Times) -> list[str]:
    waited = duration(took(times, permission["seq"], permission.get("answeredSeq")))
    after = f" after {waited}" if waited else ""
    by = f", message {permission['answeredSeq']}" if "answeredSeq" in permission else ""
    return facts(
        ("permission", f"asked in message {permission['seq']}"),
        ("for", permission_title(permission) or None),
        ("because", permission.get("description")),
        ("options", options_text(permission) or None),
        ("answer", f"{answer_text(permission)}{after}{by}"),
    )


def _location(location: Any) -> str:
    if not isinstance(location, dict) or not isinstance(location.get("path"), str):
        return state_text(location)
    line = location.get("line")
    return location["path"] if line is None else f"{location['path']}:{line}"


def _span(thing: Thing, times: Times) -> str:
    long = duration(took(times, thing["firstSeq"], thing["lastSeq"]))
    return f"{thing['firstSeq']} to {thing['lastSeq']}" + (f", {long}" if long else "")


def _value(value: Any) -> str:
    """Return a value laid out, a text as it is."""
    if isinstance(value, str):
        return value
    return decode(jsontext.pretty(state_text(value).encode()))


def _indented(text: str) -> list[str]:
    more = len(text) - _LONGEST
    if more > 0:
        text = f"{text[:_LONGEST]}\n... {more} characters more; --json gives them all"
    return [f"  {line}".rstrip() for line in visible_lines(text).rstrip("\n").split("\n")]


def facts(*told: tuple[str, Any]) -> list[str]:
    """Return a line for each fact that has a value, harmless."""
    return [f"{name + ':':12}{_one(value)}" for name, value in told if value is not None]


def _one(value: Any) -> str:
    return visible(value if isinstance(value, str) else state_text(value))
