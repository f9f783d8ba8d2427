"""Version 2 of the protocol (the draft): its updates and permissions as events.

Everything is an upsert: an absent key changes nothing, null clears, a value
replaces (docs/protocol.md: Patches). Terminals belong to the agent (docs/protocol.md: The agent's terminals).
"""

from typing import Any

from acp_proxy.events.event import UNSET, Event, MetaRule, Owner, Role
from acp_proxy.events.fields import Patch, decode_base64, is_text, item_fault
from acp_proxy.events.updates import Reading, block_of, ignored, readings, untagged
from acp_proxy.events.vocabulary import (
    ActivityChanged,
    MessageChunkAdded,
    MessageUpdated,
    TerminalOutputAdded,
    TerminalUpdated,
    ToolCallContentAdded,
    ToolCallUpdated,
)


def _message(role: Role) -> Reading:
    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        patch = Patch(update, None)
        id_ = patch.required("messageId")
        if id_ is None:
            return ignored(seq, session, patch)
        content, meta = patch.blocks("content"), patch.object("_meta")
        return [MessageUpdated(seq, session, update, tuple(patch.notes), role, id_, content, meta)]

    return read


def _chunk(role: Role) -> Reading:
    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        id_, block = update.get("messageId"), update.get("content")
        if type(id_) is not str or not is_text(block):
            patch = Patch(update, None)
            id_, block = patch.required("messageId"), block_of(patch)
            if id_ is None or block is None:
                return ignored(seq, session, patch)
        return [MessageChunkAdded(seq, session, update, (), role, id_, block, False)]

    return read


def tool_call_update(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``tool_call_update``, or the ``toolCall`` of a permission's subject (docs/protocol.md: Permissions)."""
    patch = Patch(update, None)
    id_ = patch.required("toolCallId")
    if id_ is None:
        return ignored(seq, session, patch)
    call = ToolCallUpdated(
        seq,
        session,
        update,
        (),
        id_,
        patch.text("name"),
        patch.text("title"),
        patch.text("kind"),
        patch.text("status"),
        patch.items("content"),
        patch.locations(),
        patch.value("rawInput"),
        patch.value("rawOutput"),
        patch.object("capabilities"),
        patch.object("_meta"),
    )
    call.notes = tuple(patch.notes)
    return [call]


def _tool_call_chunk(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, None)
    id_, item = patch.required("toolCallId"), update.get("content")
    if (fault := item_fault(item)) is not None:
        patch.note(f"content: {fault}: the message changes nothing")
    if id_ is None or fault is not None:
        return ignored(seq, session, patch)
    return [ToolCallContentAdded(seq, session, update, (), id_, item)]


def _terminal(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, None)
    id_ = patch.required("terminalId")
    if id_ is None:
        return ignored(seq, session, patch)
    output = patch.object("output")
    data: Any = output
    meta: Any = None
    if type(output) is dict:
        data = decode_base64(output.get("data"))
        meta = output.get("_meta")
        if data is None:
            patch.note("output.data is no base64: ignored")
            data = UNSET
    event = TerminalUpdated(
        seq,
        session,
        update,
        (),
        Owner.AGENT,
        id_,
        command=patch.text("command"),
        cwd=patch.text("cwd"),
        size=patch.size(),
        capabilities=patch.object("capabilities"),
        output=data,
        output_meta=meta,
        exit_status=patch.object("exitStatus"),
        meta=patch.object("_meta"),
    )
    event.notes = tuple(patch.notes)
    return [event]


def _terminal_chunk(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, None)
    id_, data = patch.required("terminalId"), decode_base64(update.get("data"))
    if data is None:
        patch.note("data is no base64: the message changes nothing")
    if id_ is None or data is None:
        return ignored(seq, session, patch)
    return [TerminalOutputAdded(seq, session, update, (), Owner.AGENT, id_, data)]


def _state(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, None)
    if patch.required("state") is None:
        return ignored(seq, session, patch)
    return [ActivityChanged(seq, session, update, (), untagged(update))]


READINGS: dict[str, Reading] = {
    "user_message": _message(Role.USER),
    "agent_message": _message(Role.AGENT),
    "agent_thought": _message(Role.THOUGHT),
    "user_message_chunk": _chunk(Role.USER),
    "agent_message_chunk": _chunk(Role.AGENT),
    "agent_thought_chunk": _chunk(Role.THOUGHT),
    "tool_call_update": tool_call_update,
    "tool_call_content_chunk": _tool_call_chunk,
    "terminal_update": _terminal,
    "terminal_output_chunk": _terminal_chunk,
    "state_update": _state,
    **readings(None, MetaRule.PATCH, MetaRule.PATCH),
}
"""The updates of version 2, by their tag."""
