"""What a person is shown of each entry: the conversation and the work; the wire is in ``wire_shapes``."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.preview import clip
from acp_proxy.views.transcript.blocks import (
    block_parts,
    generic,
    item_parts,
    terminal_parts,
    terminal_title,
    value_part,
)
from acp_proxy.views.transcript.parts import (
    Code,
    Diff,
    Items,
    Line,
    Part,
    Picture,
    Prose,
    Screen,
    Shown,
)
from acp_proxy.views.transcript.wire_shapes import WIRE, error_text, outcome_parts
from acp_proxy.views.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_proxy.views.transcript.entries import Entry

_ROLES = {"user": "User", "agent": "Agent", "thought": "Thought"}
_TITLE = 300  # characters of a headline, and of what stands above a part
_TAG = 80


def shape(entry: "Entry") -> Shown:
    """Return an entry as it is shown."""
    shown = _SHAPES[entry["entry"]](entry)
    seq: int = entry["seq"]
    shown.seq = seq
    shown.last = entry.get("lastSeq", seq)
    shown.elapsed_ns = entry.get("elapsed_ns")
    shown.title = clip(shown.title, _TITLE)
    shown.parts = [_with_short_title(part) for part in shown.parts]
    shown.tags = [clip(tag, _TAG) for tag in shown.tags]
    if entry.get("replay"):
        shown.tags.append("replayed")
    if entry.get("retold"):
        shown.tags.append("told again later")
    for note in entry.get("notes", ()):
        more = f", and {note['more']} times more" if "more" in note else ""
        shown.facts.append(("note", f"{note['note']} (message {note['seq']}{more})"))
    return shown


def _with_short_title(part: Part) -> Part:
    if isinstance(part, Code | Diff | Screen | Picture) and len(part.title) > _TITLE:
        return part._replace(title=clip(part.title, _TITLE))
    return part


def _message(entry: "Entry") -> Shown:
    shown = Shown(entry["role"], _ROLES[entry["role"]])
    shown.is_quiet = entry["role"] == "thought"
    for block in entry["content"]:
        shown.parts += block_parts(block)
    if not entry["content"]:
        shown.parts.append(Line("(empty)"))
    if "unanswered" in entry:
        shown.tags.append("no answer")
    if "error" in entry:
        shown.tags.append("refused")
        shown.parts += outcome_parts(entry)
    return shown


def _plan(entry: "Entry") -> Shown:
    plan, shown = entry["plan"], Shown("plan", "Plan")
    times = entry["messages"]
    if times > 1:
        shown.tags.append(f"last of {times} in a row")
    entries = plan.get("entries") if isinstance(plan, dict) else None
    if isinstance(entries, list) and all(_is_plain_step(step) for step in entries):
        done = sum(step.get("status") == "completed" for step in entries)
        shown.title = f"{done} of {len(entries)} done"
        shown.parts.append(Items([(str(s.get("status", "")), s["content"]) for s in entries]))
    elif isinstance(plan, dict) and isinstance(plan.get("content"), str):
        shown.parts.append(Prose(plan["content"]))
    elif isinstance(plan, dict) and isinstance(plan.get("uri"), str):
        shown.title = plan["uri"]
    else:
        shown.parts.append(generic("plan", plan))
    return shown


def _is_plain_step(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and isinstance(step.get("content"), str)
        and isinstance(step.get("status", ""), str)
    )


def _tool_call(entry: "Entry") -> Shown:
    shown = Shown("tool", "Tool call", str(entry.get("title") or entry.get("name") or ""))
    shown.tags = [entry["kind"], entry["status"]]
    if "duration_ns" in entry:
        shown.tags.append(duration(entry["duration_ns"]))
    shown.facts.append(("id", entry["toolCallId"]))
    if "name" in entry and entry["name"] != shown.title:
        shown.facts.append(("name", entry["name"]))
    shown.facts += [("at", location_text(location)) for location in entry["locations"]]
    if "rawInput" in entry:
        shown.parts.append(value_part("input", entry["rawInput"]))
    terminals = {terminal["terminalId"]: terminal for terminal in entry.get("terminals", ())}
    for item in entry["content"]:
        shown.parts += item_parts(item, terminals, shown.title)
    for terminal in terminals.values():
        shown.parts += terminal_parts(terminal, shown.title)
    if "rawOutput" in entry:
        shown.parts.append(value_part("output", entry["rawOutput"]))
    return shown


def location_text(location: Any) -> str:
    """Return a place in a file as one writes it."""
    if not isinstance(location, dict) or not isinstance(location.get("path"), str):
        return generic("", location).text
    line = location.get("line")
    return str(location["path"]) if line is None else f"{location['path']}:{line}"


def _terminal(entry: "Entry") -> Shown:
    shown = Shown("terminal", "Terminal", terminal_title(entry))
    shown.facts.append(("id", f"{entry['terminalId']} (of the {entry['owner']})"))
    shown.parts.append(Screen("", entry.get("text")))
    return shown


def _permission(entry: "Entry") -> Shown:
    call = entry.get("toolCall")
    subject = entry.get("subject")
    if call is None and isinstance(subject, dict):
        call = subject.get("toolCall", subject)
    named = call if isinstance(call, dict) else {}
    title = next(
        (one for one in (entry.get("title"), named.get("title"), named.get("command")) if one),
        entry.get("toolCallTitle"),
    )
    shown = Shown("permission", "Permission", str(title or named.get("toolCallId") or ""))
    options = entry.get("options")
    chosen = _chosen(options, entry.get("optionId"))
    shown.tags.append(" ".join(filter(None, (entry["status"], chosen))))
    if isinstance(named.get("toolCallId"), str):
        shown.facts.append(("tool call", named["toolCallId"]))
    if isinstance(entry.get("description"), str):
        shown.parts.append(Prose(entry["description"]))
    shown.facts.append(("wait", _waited(entry, entry["status"])))
    if isinstance(options, list) and all(isinstance(option, dict) for option in options):
        rows = [_option(option, entry.get("optionId")) for option in options]
        shown.parts.append(Items(rows))
    elif options is not None:
        shown.parts.append(generic("options", options))
    if entry["status"] == "other":
        shown.parts.append(generic("outcome", entry.get("outcome")))
    return shown


def _chosen(options: Any, id_: Any) -> str:
    if id_ is None:
        return ""
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and option.get("optionId") == id_:
            return f'"{option.get("name", id_)}"'
    return f"{id_}, which was not offered"


def _option(option: Any, chosen: Any) -> tuple[str, str]:
    is_chosen = chosen is not None and option.get("optionId") == chosen
    kind = option.get("kind")
    text = str(option.get("name", option.get("optionId", "?")))
    return "chosen" if is_chosen else "", f"{text} ({kind})" if kind else text


def _waited(entry: "Entry", status: str) -> str:
    if "waited_ns" in entry:
        return f"the agent waited {duration(entry['waited_ns'])} for the client's answer"
    if status == "pending":
        return "the agent still waits for the client's answer"
    if status == "abandoned":
        return "the connection ended before an answer"
    return "the agent waited for the client's answer, it is not known how long"


def _question(entry: "Entry") -> Shown:
    params = entry.get("params")
    named = params if isinstance(params, dict) else {}
    message = named.get("message")
    shown = Shown("permission", "Question", message if isinstance(message, str) else "")
    answered = "answerSeq" in entry
    result = entry.get("result")
    action = result.get("action") if isinstance(result, dict) else None
    shown.tags.append(str(action or ("answered" if answered else "pending")))
    shown.facts.append(("wait", _waited(entry, "" if answered else "pending")))
    rest = {k: one for k, one in named.items() if k not in ("message", "sessionId")}
    if rest or not isinstance(params, dict):
        shown.parts.append(generic("asked", rest or params))
    shown.parts += outcome_parts(entry)
    return shown


def _turn_end(entry: "Entry") -> Shown:
    shown = Shown("turn", "Turn ended", str(entry.get("stopReason", "")))
    if "error" in entry:
        shown.tags.append("failed")
        shown.title = shown.title or error_text(entry["error"])
    if "duration_ns" in entry:
        shown.tags.append(f"after {duration(entry['duration_ns'])}")
    shown.facts += usage_facts(entry)
    if "error" in entry:
        shown.parts.append(generic("error", entry["error"]))
    return shown


def usage_facts(entry: "Entry") -> list[tuple[str, str]]:
    """Return what was used: tokens, the context, what it cost."""
    facts = []
    usage, context = entry.get("usage"), entry.get("context")
    if isinstance(usage, dict):
        words = [
            f"{value} {key.removesuffix('Tokens')}"
            for key, value in usage.items()
            if type(value) is int and key.endswith("Tokens")
        ]
        facts.append(("tokens", ", ".join(words) or generic("", usage).text))
    if isinstance(context, dict):
        facts.append(("context", f"{context.get('used')} of {context.get('size')} tokens"))
        cost = context.get("cost")
        if isinstance(cost, dict):
            facts.append(("cost", f"{cost.get('amount')} {cost.get('currency')}"))
    return facts


def _notice(entry: "Entry") -> Shown:
    notice = entry["notice"]
    shown = Shown("notice", "Notice", str(notice.get("title", "")), [str(notice["severity"])])
    rest = {k: v for k, v in notice.items() if k not in ("title", "severity")}
    description = rest.pop("description", rest.pop("message", None))
    if isinstance(description, str):
        shown.parts.append(Prose(description))
    elif description is not None:
        rest["description"] = description
    if rest:
        shown.parts.append(generic("more", rest))
    return shown


def _compaction(entry: "Entry") -> Shown:
    shown = Shown("notice", "Context compacted", "", [entry["status"]])
    if "error" in entry:
        shown.facts.append(("error", entry["error"]))
    for block in entry.get("summary", ()):
        shown.parts += block_parts(block)
    return shown


def _subagent(entry: "Entry") -> Shown:
    shown = Shown("notice", "Subagent", str(entry.get("title", "")))
    shown.facts.append(("session", entry["sessionId"]))
    if "cwd" in entry:
        shown.facts.append(("cwd", entry["cwd"]))
    state = entry.get("state")
    if isinstance(state, dict) and isinstance(state.get("state"), str):
        reason = state.get("stopReason")
        shown.tags.append(f"{state['state']}: {reason}" if reason else state["state"])
    elif state is not None:
        shown.parts.append(generic("state", state))
    if "description" in entry:
        shown.parts.append(Prose(entry["description"]))
    return shown


def _session_message(entry: "Entry") -> Shown:
    shown = Shown("notice", "Message between sessions")
    shown.facts += [
        (word, entry[key])
        for key, word in (("senderSessionId", "from"), ("recipientSessionId", "to"))
        if key in entry
    ]
    for block in entry.get("content", ()):
        shown.parts += block_parts(block)
    return shown


_SHAPES: "dict[str, Callable[[Entry], Shown]]" = {
    "message": _message,
    "plan": _plan,
    "toolCall": _tool_call,
    "terminal": _terminal,
    "permission": _permission,
    "question": _question,
    "turnEnd": _turn_end,
    "notice": _notice,
    "compaction": _compaction,
    "subagent": _subagent,
    "sessionMessage": _session_message,
    **WIRE,
}
