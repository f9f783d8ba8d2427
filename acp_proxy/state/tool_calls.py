"""Tool calls: upserted, restarted, their content replaced or appended to (docs/protocol.md: Tool calls)."""

from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING, Any

from acp_proxy.events.event import Unset
from acp_proxy.state.growing import Blocks
from acp_proxy.state.patching import become, no_meta, patched, patched_meta

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import (
        ToolCallContentAdded,
        ToolCallRestarted,
        ToolCallUpdated,
    )
    from acp_proxy.state.sessions import Session

DEFAULT_KIND = "other"
DEFAULT_STATUS = "pending"


@dataclass(slots=True)
class ToolCall:
    """One tool call, with the defaults of docs/protocol.md: Tool calls; None is "no value".

    ``renewed`` is the replay window (by the seq that opened it) in which its content
    was cleared or replaced already.
    """

    tool_call_id: str
    first_seq: int
    last_seq: int
    kind: str = DEFAULT_KIND
    status: str = DEFAULT_STATUS
    content: Blocks = field(default_factory=Blocks)
    locations: list[Any] = field(default_factory=list)
    name: str | None = None
    title: str | None = None
    raw_input: Any = None
    raw_output: Any = None
    capabilities: dict[str, Any] | None = None
    meta: dict[str, Any] = field(default_factory=no_meta)
    renewed: int | None = None
    number: int = 0


def updated(session: "Session", event: "ToolCallUpdated") -> None:
    """Upsert a tool call."""
    call = _mentioned(session, event.tool_call_id, event.seq)
    if not isinstance(event.content, Unset):
        call.content = Blocks(event.content or ())
        call.renewed = session.window
    if not isinstance(event.locations, Unset):
        call.locations = event.locations or []
    if not isinstance(event.kind, Unset):
        call.kind = DEFAULT_KIND if event.kind is None else intern(event.kind)
    if not isinstance(event.status, Unset):
        call.status = DEFAULT_STATUS if event.status is None else intern(event.status)
    call.name = patched(call.name, event.name)
    call.title = patched(call.title, event.title)
    call.raw_input = patched(call.raw_input, event.raw_input)
    call.raw_output = patched(call.raw_output, event.raw_output)
    call.capabilities = patched(call.capabilities, event.capabilities)
    call.meta = patched_meta(call.meta, event.meta, event.meta_rule)


def restarted(session: "Session", event: "ToolCallRestarted") -> None:
    """Make a tool call, or make it anew in its place: what is not said is a default (docs/protocol.md: Tool calls)."""
    known = session.tool_calls.get(event.tool_call_id)
    if known is not None:
        become(
            known,
            ToolCall(
                known.tool_call_id,
                known.first_seq,
                event.seq,
                renewed=session.window,
                number=known.number,
            ),
        )
    updated(session, event)


def content_added(session: "Session", event: "ToolCallContentAdded") -> None:
    """Append one item; that makes the call when it is new (docs/protocol.md: Tool calls)."""
    call = _mentioned(session, event.tool_call_id, event.seq)
    if session.replays(call.first_seq, call.renewed):
        call.content = Blocks()
        call.renewed = session.window
    call.content.append(event.content)


def _mentioned(session: "Session", id_: str, seq: int) -> ToolCall:
    call = session.tool_calls.get(id_)
    if call is None:
        call = session.tool_calls[id_] = ToolCall(id_, seq, seq)
        session.open_message = None  # a tool call ends a message without an id (docs/protocol.md: Messages and thoughts)
    call.last_seq = seq
    session.touch(call)
    return call
