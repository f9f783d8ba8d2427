"""The words of the lines that ``tail`` prints: what events say, shorter than the events."""

from typing import TYPE_CHECKING, Any

from acp_proxy.events import vocabulary as v
from acp_proxy.views.safe_text import decode
from acp_proxy.views.state_page import exit_text, permission_title
from acp_proxy.views.units import count, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import MessageRow

ACTIVITIES = {"requires_action": "waits for the user", "idle": "idle", "running": "runs"}

ASIDES = frozenset({"usage", "commands", "options", "session"})
"""Lines that do not end the message that stands before them."""

_RUNS = "started"


def after(ns: int | None) -> str:
    """Return how long something took, as the end of a phrase; empty when unknown."""
    return "" if ns is None else f" after {duration(ns)}"


def between(begun_ns: int | None, ended_ns: int | None) -> int | None:
    """Return the time between two, None when one is unknown."""
    return None if begun_ns is None or ended_ns is None else ended_ns - begun_ns


def told(what: str, name: str) -> str:
    """Return what happened, and to what when that is known."""
    return f"{what}: {name}" if name else what


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def first_text(*candidates: Any) -> str:
    """Return the first that is a text with something in it, else an empty one."""
    return next((text for text in candidates if isinstance(text, str) and text), "")


def block_text(block: Any) -> str:
    """Return the text of a content block; of another kind, that kind."""
    if not isinstance(block, dict):
        return "[?]"
    text = block.get("text")
    if isinstance(text, str):
        return text
    name = first_text(block.get("uri"), block.get("name"))
    return f"[{block.get('type', '?')}{' ' if name else ''}{name}]"


def blocks_text(blocks: Any) -> str:
    """Return the text of content blocks."""
    return " ".join(map(block_text, blocks)) if isinstance(blocks, list) else ""


def error_text(error: Any) -> str:
    """Return what a JSON-RPC error says."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return str(error)


def line_words(row: "MessageRow") -> str:
    """Return a line that is no message, and why it is none when somebody meant one."""
    body = decode(row.raw).rstrip("\r\n")
    return f"{row.reason}: {body}" if row.reason else body


def terminal_status(event: v.TerminalUpdated, before: str) -> str:
    """Return how a terminal stands after an event."""
    if isinstance(event.exit_status, dict):
        return exit_text({"exitStatus": event.exit_status})
    if event.released is True:
        return before if before.startswith("exited") else "released"
    return "killed" if event.killed is True else before or _RUNS


def permission_words(event: v.PermissionRequested) -> str:
    """Return what is asked for, as far as the request says it."""
    asked = {"title": event.title, "toolCall": event.tool_call, "subject": event.subject}
    call = event.tool_call
    if event.title is None and isinstance(call, dict) and not isinstance(call.get("title"), str):
        return ""  # what is known of the tool call says more than its id
    return permission_title({key: value for key, value in asked.items() if value is not None})


def options_words(options: Any) -> str:
    """Return what may be answered."""
    if not isinstance(options, list) or not options:
        return ""
    ids = [str(one.get("optionId", "?")) if isinstance(one, dict) else "?" for one in options]
    return f" [{', '.join(ids)}]"


def aside(event: "Event") -> tuple[str, str]:
    """Return the word and the text for an event that stands beside the conversation."""
    what, say = SPOKEN_ASIDE[type(event)]
    return what, say(event)


def _plan(event: v.PlanUpdated) -> str:
    entries = event.plan.get("entries")
    if not isinstance(entries, list):
        return ""
    known = [entry for entry in entries if isinstance(entry, dict)]
    done = sum(entry.get("status") == "completed" for entry in known)
    now = [entry.get("content") for entry in known if entry.get("status") == "in_progress"]
    return told(f"{done} of {count(len(entries), 'step')} done", first_text(*now))


def _usage(event: v.UsageChanged) -> str:
    text = f"context {event.usage.get('used')} of {event.usage.get('size')}"
    if isinstance(event.cost, dict):
        text += f", cost {event.cost.get('amount')} {event.cost.get('currency')}"
    return text


def _compaction(event: v.CompactionUpdated) -> str:
    return told(event.status, first_text(event.error))


def _subagent(event: v.SubagentUpdated) -> str:
    state = event.state.get("state") if isinstance(event.state, dict) else None
    words = first_text(state) or "told of"
    return f"{told(words, first_text(event.title, event.description))} ({event.child_id})"


def _notice(event: v.NoticeGiven) -> str:
    said = event.notice
    severity = first_text(said.get("severity")) or "notice"
    return told(
        severity,
        " ".join(filter(None, map(first_text, (said.get("title"), said.get("description"))))),
    )


def _nothing(_event: Any) -> str:
    return ""


SPOKEN_ASIDE: "dict[type[Event], tuple[str, Callable[[Any], str]]]" = {
    v.PlanUpdated: ("plan", _plan),
    v.PlanRemoved: ("plan", lambda event: f"{event.plan_id} removed"),
    v.UsageChanged: ("usage", _usage),
    v.ModeChanged: ("mode", lambda event: event.mode),
    v.CommandsChanged: ("commands", lambda event: count(len(event.available_commands), "command")),
    v.ConfigOptionsChanged: ("options", lambda event: count(len(event.config_options), "option")),
    v.SessionInfoChanged: ("session", lambda event: first_text(event.title)),
    v.NoticeGiven: ("notice", _notice),
    v.CompactionUpdated: ("compaction", _compaction),
    v.SubagentUpdated: ("subagent", _subagent),
    v.SessionMessageUpdated: ("between", lambda event: blocks_text(event.content)),
    v.SessionMessageChunkAdded: ("between", lambda event: block_text(event.content)),
    v.UpdateReceived: ("update", _nothing),
    v.ElicitationRequested: ("question", _nothing),
    v.ElicitationAnswered: ("question", _nothing),
    v.ElicitationCompleted: ("question", _nothing),
    v.RequestCancelled: ("cancel", _nothing),
}
"""The word for each such event, and what makes its text; without one, the message tells itself."""
