"""What a person is shown of the wire: requests, notifications, changes, lines, heads of sessions."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.transcript.blocks import generic, pretty, value_part
from acp_proxy.views.transcript.parts import Code, Line, Part, Shown
from acp_proxy.views.units import count, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_proxy.views.transcript.entries import Entry

_TELLS = {
    "session/cancel": "cancels the turn",
    "$/cancel_request": "takes back a request",
    "elicitation/complete": "says that the user is done",
}
_ASKS = {
    "initialize": "introduces itself",
    "session/new": "makes a session",
    "session/load": "asks for the session's history",
    "session/fork": "forks a session",
    "session/resume": "resumes the session",
    "session/close": "closes the session",
    "session/set_mode": "sets the mode",
    "session/set_config_option": "sets option",
    "fs/read_text_file": "reads",
    "fs/write_text_file": "writes",
    "tool_call/cancel": "cancels a tool call",
    "terminal/cancel": "cancels a terminal",
}
_NAMED = ("path", "modeId", "configId", "toolCallId", "terminalId", "methodId")


def outcome_parts(entry: "Entry") -> list[Part]:
    """Return what was answered; nothing for an empty result."""
    parts: list[Part] = []
    if entry.get("result") not in (None, {}):
        parts.append(value_part("answer", entry["result"]))
    if "error" in entry:
        parts.append(generic("error", entry["error"]))
    return parts


def error_text(error: Any) -> str:
    """Return an error's message."""
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else "error"


def _request(entry: "Entry") -> Shown:
    method, params = str(entry["method"]), entry.get("params")
    named = params if isinstance(params, dict) else {}
    verb = _ASKS.get(method)
    about = next((named[key] for key in _NAMED if isinstance(named.get(key), str)), None)
    words = [method] if verb is None else [verb]
    words += [about] if verb is not None and about is not None else []
    if "configId" in named and isinstance(named.get("value"), str | bool):
        words.append(f"to {pretty(named['value'])}")
    shown = Shown("request", entry["from"].capitalize(), " ".join(words), is_quiet=True)
    if verb is not None:
        shown.tags.append(method)
    if "error" in entry:
        shown.tags.append("failed")
        shown.facts.append(("error", error_text(entry["error"])))
    elif "answerSeq" not in entry:
        shown.tags.append("no answer")
    if "duration_ns" in entry:
        shown.tags.append(duration(entry["duration_ns"]))
    if "text" in entry:
        shown.parts.append(Code("as sent", entry["text"]))
    rest = {key: value for key, value in named.items() if key != "sessionId"} or params
    if rest not in (None, {}) and not (named and rest is params):
        shown.parts.append(value_part("asked", rest))
    shown.parts += outcome_parts(entry)
    return shown


def _notification(entry: "Entry") -> Shown:
    method, params = str(entry["method"]), entry.get("params")
    verb = _TELLS.get(method)
    shown = Shown(
        "request", entry["from"].capitalize(), verb or method, is_quiet=method != "session/cancel"
    )
    shown.tags += [] if verb is None else [method]
    shown.tags += _alike(entry)
    named = params if isinstance(params, dict) else {}
    rest = {key: value for key, value in named.items() if key != "sessionId"}
    if rest or not isinstance(params, dict | None):
        shown.parts.append(generic("told", rest or params))
    if "text" in entry:
        shown.parts.append(Code("as sent", entry["text"]))
    return shown


def _alike(entry: "Entry") -> list[str]:
    times = entry["messages"]
    return [f"{times} in a row, the last is shown"] if times > 1 else []


def _update(entry: "Entry") -> Shown:
    update = entry.get("update")
    tag = update.get("sessionUpdate") if isinstance(update, dict) else None
    shown = Shown("odd", "Update", str(tag or "without a kind"), ["not understood", *_alike(entry)])
    shown.parts.append(Code("as sent", entry["text"]) if "text" in entry else generic("", update))
    return shown


def _change(entry: "Entry") -> Shown:
    update = entry.get("update")
    told = update if isinstance(update, dict) else {}
    shown = Shown("change", "Session", is_quiet=True)
    tag = told.get("sessionUpdate")
    if tag == "current_mode_update":
        shown.title = f"is now in mode {told.get('currentModeId')}"
    elif tag == "session_info_update":
        title = told.get("title")
        shown.title = "has no title now" if title is None else f"is now called: {title}"
    elif tag == "config_option_update":
        shown.title = f"options: {options_text(told.get('configOptions'))}"
    elif tag == "plan_removed":
        shown.title = f"plan {told.get('planId')} is gone"
    else:
        shown.title = str(tag)
        shown.parts.append(generic("", update))
    return shown


def options_text(options: Any) -> str:
    """Return options of a session with their values."""
    words = []
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict):
            id_ = option.get("configId", option.get("id", "?"))
            words.append(f"{id_} = {pretty(option.get('currentValue'))}")
    return ", ".join(words) or "none"


def _answer(entry: "Entry") -> Shown:
    shown = Shown("odd", entry["from"].capitalize(), f"answers {pretty(entry['id'])}")
    shown.tags.append("nobody asked")
    if "text" in entry:
        shown.parts.append(Code("as sent", entry["text"]))
    shown.parts += outcome_parts(entry)
    return shown


def _lines(entry: "Entry") -> Shown:
    stream, kind = entry["from"], entry["kind"]
    who = "stderr" if stream == "stderr" else f"{stream.capitalize()} wrote"
    shown = Shown("lines" if stream == "stderr" else "odd", who, is_quiet=stream == "stderr")
    if stream != "stderr":
        shown.title = "what is no message" if kind == "text" else "what is no valid message"
    if entry["messages"] > 1:
        shown.tags.append(count(entry["messages"], "line"))
    if "reason" in entry:
        shown.facts.append(("why", entry["reason"]))
    if entry["text"]:
        shown.parts.append(Code("", entry["text"]))
    else:
        shown.parts.append(Line("(an empty line)"))
    return shown


WIRE: "dict[str, Callable[[Entry], Shown]]" = {
    "request": _request,
    "notification": _notification,
    "update": _update,
    "change": _change,
    "answer": _answer,
    "lines": _lines,
}
"""The shapes of what stands beside the conversation."""


def head_facts(head: "Entry") -> list[tuple[str, str]]:
    """Return what is known of a session as a whole."""
    facts: list[tuple[str, str]] = [
        (key, str(head[key])) for key in ("title", "cwd", "mode") if key in head
    ]
    usage = head.get("usage")
    if isinstance(usage, dict):
        facts.append(("context", f"{usage.get('used')} of {usage.get('size')} tokens"))
        cost = usage.get("cost")
        if isinstance(cost, dict):
            facts.append(("cost", f"{cost.get('amount')} {cost.get('currency')}"))
    if head.get("closed"):
        facts.append(("closed", "yes"))
    return facts


def opened_shapes(head: "Entry") -> list[Shown]:
    """Return the requests that made a session."""
    found = []
    for request in head.get("opened", ()):
        shown = _request(request)
        shown.seq, shown.last = request["seq"], request.get("answerSeq", request["seq"])
        shown.elapsed_ns = request.get("elapsed_ns")
        found.append(shown)
    return found


def connection_facts(facts: "Entry") -> list[tuple[str, str]]:
    """Return the facts of the connection."""
    command = facts.get("command")
    names: list[tuple[str, str]] = [
        ("agent", _program(facts.get("agent"))),
        ("client", _program(facts.get("client"))),
    ]
    if isinstance(command, list):
        names.append(("command", " ".join(map(str, command))))
    elif command is not None:
        names.append(("command", str(command)))
    names += [(key, str(facts[key])) for key in ("cwd", "label", "started") if key in facts]
    if "protocolVersion" in facts:
        names.append(("protocol", f"version {facts['protocolVersion']}"))
    names.append(("ended", _ended(facts)))
    at = "" if facts["at"] == facts["messages"] else f", told up to message {facts['at']}"
    names.append(("messages", f"{facts['messages']}{at}"))
    for gap in facts.get("gaps", ()):
        names.append(("gap", f"{gap['bytes']} bytes of the {gap['from']} were not recorded"))
    return [(name, value) for name, value in names if value]


def _program(names: Any) -> str:
    if not isinstance(names, dict):
        return ""
    return " ".join(str(names[key]) for key in ("title", "name", "version") if names.get(key))


def _ended(facts: "Entry") -> str:
    how = str(facts["status"])
    how += f" with code {facts['exitCode']}" if "exitCode" in facts else ""
    how += f" by signal {facts['signal']}" if "signal" in facts else ""
    after = duration(facts.get("duration_ns"))
    return f"{how} after {after}" if after else how
