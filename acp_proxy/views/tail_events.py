"""What each kind of event says on a line of ``tail``, and what is remembered for that.

Of what came before only what later lines speak of is kept: titles, statuses, when
things began.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.events import vocabulary as v
from acp_proxy.events.event import Role, Unset
from acp_proxy.views import tail_words as words
from acp_proxy.views.preview import preview

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import MessageRow

LENGTH = 1000  # of what is said of a message that has no words of its own
ROLES = {Role.USER: "user", Role.AGENT: "message", Role.THOUGHT: "thought"}


class Said(NamedTuple):
    """What a message says: the word for it, the text, and the details."""

    what: str
    text: str
    details: dict[str, Any] = {}  # noqa: RUF012 - never changed


@dataclass(slots=True)
class Thing:
    """A tool call or a terminal, as far as later lines speak of it."""

    begun_ns: int | None
    status: str = ""
    name: str = ""


@dataclass(slots=True)
class Known:
    """What is remembered of a session.

    Attributes:
        calls: Tool calls by id.
        terminals: By owner and id.
        asked: Permissions that are not answered, by the seq of the request: when, and for what.
        prompt: The text of the prompt that is being answered (v1).
        prompt_ns: When the turn began, by its prompt if it has one.
        is_turn: Whether a turn goes on.
        windows: How many requests for history are open.

    """

    calls: dict[str, Thing] = field(default_factory=dict)
    terminals: dict[tuple[str, str], Thing] = field(default_factory=dict)
    asked: dict[int, tuple[int | None, str]] = field(default_factory=dict)
    prompt: str = ""
    prompt_ns: int | None = None
    is_turn: bool = False
    windows: int = 0


def _prompt(known: Known, row: "MessageRow", event: v.PromptSent) -> Said | None:
    known.is_turn = event.is_turn
    if event.prompt_seq is not None:  # it was told when it came; now it is known what it was
        known.prompt = words.blocks_text(event.prompt) or known.prompt
        return None
    known.prompt, known.prompt_ns = words.blocks_text(event.prompt), row.elapsed_ns
    return Said("prompt", known.prompt)


def _prompt_answered(known: Known, row: "MessageRow", event: v.PromptAnswered) -> Said | None:
    after = words.after(row.duration_ns)
    details = words.given(duration_ns=row.duration_ns, stopReason=event.stop_reason)
    if event.error is not None:
        return Said("turn", f"failed{after}: {words.error_text(event.error)}", details)
    if not event.is_turn:
        return None
    known.prompt, known.is_turn = "", False
    return Said("turn", f"ended{after}: {event.stop_reason or 'no reason'}", details)


def _activity(known: Known, row: "MessageRow", event: v.ActivityChanged) -> Said | None:
    state, reason = event.activity.get("state"), event.activity.get("stopReason")
    details = words.given(state=state, stopReason=reason)
    if known.windows or state not in ("running", "idle"):
        return Said("turn", words.ACTIVITIES.get(str(state), str(state)), details)
    was, known.is_turn = known.is_turn, state == "running"
    if state == "running":
        if known.prompt_ns is None:
            known.prompt_ns = row.elapsed_ns
        return None if was else Said("turn", "began", details)
    if not was:
        return None
    took = words.between(known.prompt_ns, row.elapsed_ns)
    known.prompt_ns = None
    failed = f", {words.error_text(event.activity['error'])}" if "error" in event.activity else ""
    details = {**details, **words.given(duration_ns=took)}
    return Said("turn", f"ended{words.after(took)}: {reason or 'no reason'}{failed}", details)


def _cancelled(_known: Known, _row: "MessageRow", _event: v.TurnCancelled) -> Said:
    return Said("turn", "is to be cancelled")


def _message(_known: Known, _row: "MessageRow", event: v.MessageUpdated) -> Said | None:
    if not isinstance(event.content, list):
        return None
    text = words.blocks_text(event.content)
    return Said(ROLES[event.role], text, {"messageId": event.message_id})


def _tool_call(
    known: Known,
    row: "MessageRow",
    event: v.ToolCallUpdated | v.ToolCallContentAdded,
) -> Said | None:
    call = known.calls.get(event.tool_call_id)
    is_new = call is None
    if call is None:
        call = known.calls[event.tool_call_id] = Thing(row.elapsed_ns)
    before = call.status
    call.status = before or "pending"
    if isinstance(event, v.ToolCallUpdated):
        if isinstance(event, v.ToolCallRestarted) and not isinstance(event.status, str):
            call.status = "pending"
        elif not isinstance(event.status, Unset):
            call.status = event.status or "pending"
        call.name = words.first_text(event.title, call.name, event.name, event.kind)
    if call.status == before:
        return None
    took = None if is_new else _since(known, call, row)
    details = {"toolCallId": event.tool_call_id, "status": call.status}
    details |= words.given(title=call.name or None, duration_ns=took)
    text = words.told(call.status + words.after(took), call.name)
    return Said("tool call", f"{text} ({event.tool_call_id})", details)


def _since(known: Known, thing: Thing, row: "MessageRow") -> int | None:
    """Return how long ago a thing began; what is told again says nothing of that."""
    return None if known.windows else words.between(thing.begun_ns, row.elapsed_ns)


def _terminal(known: Known, row: "MessageRow", event: v.TerminalUpdated) -> Said | None:
    key = (event.owner.value, event.terminal_id)
    terminal = known.terminals.get(key)
    if terminal is None or isinstance(event, v.TerminalCreated):
        terminal = known.terminals[key] = Thing(row.elapsed_ns)
    if isinstance(event.command, str):
        args = event.args if isinstance(event.args, list) else []
        terminal.name = " ".join(map(str, [event.command, *args]))
    before, terminal.status = terminal.status, words.terminal_status(event, terminal.status)
    if terminal.status == before:
        return None
    took = _since(known, terminal, row) if before else None
    details = {"terminalId": event.terminal_id, "owner": key[0], "status": terminal.status}
    details |= words.given(command=terminal.name or None, duration_ns=took)
    text = words.told(terminal.status + words.after(took), terminal.name)
    return Said("terminal", f"{text} ({event.terminal_id})", details)


def _terminal_output(known: Known, row: "MessageRow", event: v.TerminalOutputAdded) -> Said | None:
    seen = v.TerminalUpdated(row.seq, event.session_id, None, (), event.owner, event.terminal_id)
    return _terminal(known, row, seen)


def _permission(known: Known, row: "MessageRow", event: v.PermissionRequested) -> Said:
    title = words.permission_words(event)
    call = event.tool_call if isinstance(event.tool_call, dict) else {}
    asked_for = known.calls.get(str(call.get("toolCallId")))
    title = title or ("" if asked_for is None else asked_for.name)
    title = title or words.first_text(call.get("toolCallId"))
    known.asked[row.seq] = (row.elapsed_ns, title)
    text = words.told("asked", title) + words.options_words(event.options)
    return Said("permission", text, {"status": "pending", "requestSeq": row.seq})


def _permission_answered(known: Known, row: "MessageRow", event: v.PermissionAnswered) -> Said:
    asked_ns, title = known.asked.pop(event.request_seq, (None, ""))
    took = row.duration_ns
    if took is None:
        took = words.between(asked_ns, row.elapsed_ns)
    answer = f"{event.status} {event.option_id}" if event.option_id else event.status
    details = {"status": event.status, "requestSeq": event.request_seq}
    details |= words.given(optionId=event.option_id, duration_ns=took)
    return Said("permission", words.told(answer + words.after(took), title), details)


def _replay(known: Known, _row: "MessageRow", event: "Event") -> None:
    change = 1 if isinstance(event, v.ReplayBegan) else -1
    known.windows = max(0, known.windows + change)


def _aside(_known: Known, row: "MessageRow", event: "Event") -> Said:
    what, text = words.aside(event)
    return Said(what, text or preview(row, LENGTH))


def plain(row: "MessageRow", events: "list[Event]") -> Said | None:
    """Return what is said of a message without words of its own; None for nothing."""
    details = words.given(method=row.method or row.request_method, id=row.id)
    if row.kind == "request":
        return Said("request", f"{row.method} #{row.id} {preview(row, LENGTH)}", details)
    if row.kind in ("result", "error"):
        details |= words.given(requestSeq=row.request_seq, duration_ns=row.duration_ns)
        to = row.request_method or f"to nothing that was asked, #{row.id}"
        text = f"{to}{words.after(row.duration_ns)}: {preview(row, LENGTH)}"
        return Said("answer" if row.kind == "result" else "error", text, details)
    if row.kind in ("text", "invalid"):
        what = "line" if row.stream == "stderr" else row.kind
        return Said(what, words.line_words(row))
    if row.method != "session/update":
        return Said("notice", f"{row.method} {preview(row, LENGTH)}", details)
    if row.flags or any(event.notes for event in events):
        return Said("odd", f"{row.session_update or 'session/update'} {preview(row, LENGTH)}")
    return None


SPEAKERS: "dict[type[Event], Callable[[Known, MessageRow, Any], Said | None]]" = {
    v.PromptSent: _prompt,
    v.PromptAnswered: _prompt_answered,
    v.ActivityChanged: _activity,
    v.TurnCancelled: _cancelled,
    v.MessageUpdated: _message,
    v.ToolCallUpdated: _tool_call,
    v.ToolCallRestarted: _tool_call,
    v.ToolCallContentAdded: _tool_call,
    v.TerminalUpdated: _terminal,
    v.TerminalCreated: _terminal,
    v.TerminalOutputAdded: _terminal_output,
    v.PermissionRequested: _permission,
    v.PermissionAnswered: _permission_answered,
    v.ReplayBegan: _replay,
    v.ReplayEnded: _replay,
    **dict.fromkeys(words.SPOKEN_ASIDE, _aside),
}
"""What each kind of event says, None for nothing; kinds that are not here say nothing of their own."""
