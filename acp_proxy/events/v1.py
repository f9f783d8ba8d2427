"""Version 1 of the protocol: its updates, permissions and terminals as events.

A null changes nothing, only arrays can be emptied, and nothing can be appended but
to messages and terminals (docs/protocol.md: Patches, Tool calls).
"""

from typing import Any

from acp_proxy.events.event import UNSET, Event, MetaRule, Owner, Role
from acp_proxy.events.fields import BLOCK_TYPES, ITEM_TYPES, Patch, encode_text, is_text
from acp_proxy.events.updates import Reading, block_of, ignored, readings, untagged
from acp_proxy.events.vocabulary import (
    MessageChunkAdded,
    ModeChanged,
    PlanUpdated,
    TerminalCreated,
    TerminalInputEchoed,
    TerminalOutputAdded,
    TerminalUpdated,
    ToolCallRestarted,
    ToolCallUpdated,
)

_KINDS = frozenset({
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other",
})  # fmt: skip
_STATUSES = frozenset({"pending", "in_progress", "completed", "failed"})
_INPUT = "terminal_input"
_OUTPUTS = (
    "terminal_output",
    "terminal_output_delta",
)  # both append (docs/protocol.md: Terminals in _meta)


def _chunk(role: Role) -> Reading:
    """Return the reader of a chunk; which message it belongs to is told by its place (F.1)."""

    def read(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
        id_, block = update.get("messageId"), update.get("content")
        if (id_ is None or type(id_) is str) and is_text(block):  # what follows comes to this
            return [MessageChunkAdded(seq, session, update, (), role, id_, block, True)]
        patch = Patch(update, UNSET)
        id_, block = patch.text("messageId"), block_of(patch)
        if block is None:
            return ignored(seq, session, patch)
        if block["type"] not in BLOCK_TYPES:
            patch.note(f'content type "{block["type"]}" is unknown in version 1: kept as sent')
        known = id_ if type(id_) is str else None
        return [
            MessageChunkAdded(seq, session, update, tuple(patch.notes), role, known, block, True)
        ]

    return read


def tool_call(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``tool_call``: the call is made, or made anew (docs/protocol.md: Tool calls)."""
    events = _read_tool_call(ToolCallRestarted, seq, session, update)
    if update.get("title") is None:
        events[0].notes = ("title is missing, which version 1 wants", *events[0].notes)
    return events


def tool_call_update(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    """Read a ``tool_call_update``, or the ``toolCall`` of a permission request (docs/protocol.md: Permissions)."""
    return _read_tool_call(ToolCallUpdated, seq, session, update)


def _read_tool_call(
    event_type: type[ToolCallUpdated], seq: int, session: str, update: dict[str, Any]
) -> list[Event]:
    patch = Patch(update, UNSET)
    id_ = patch.required("toolCallId")
    if id_ is None:
        return ignored(seq, session, patch)
    content = patch.items("content")
    if type(content) is list:
        for index, item in enumerate(content):
            kind = item.get("type") if type(item) is dict else None
            if type(item) is dict and not (type(kind) is str and kind in ITEM_TYPES):
                patch.note(f"content[{index}]: its type is unknown in version 1: kept as sent")
    meta = patch.object("_meta")
    call = event_type(
        seq,
        session,
        update,
        (),
        id_,
        patch.text("name"),
        patch.text("title"),
        patch.known("kind", _KINDS),
        patch.known("status", _STATUSES),
        content,
        patch.locations(),
        patch.value("rawInput"),
        patch.value("rawOutput"),
        UNSET,
        meta,
        MetaRule.MERGE,
    )
    events: list[Event] = [call]
    if type(meta) is dict:
        events += _meta_terminals(seq, session, meta, patch)
    call.notes = tuple(patch.notes)
    return events


def _meta_terminals(seq: int, session: str, meta: dict[str, Any], patch: Patch) -> list[Event]:
    """Read the display terminals of the ``_meta`` convention, in its order (docs/protocol.md: Terminals in _meta)."""
    events: list[Event] = []
    if (found := _meta_terminal(meta, "terminal_info", patch)) is not None:
        id_, info = found
        cwd = info.get("cwd")
        events.append(
            TerminalUpdated(
                seq, session, info, (), Owner.META, id_, cwd=cwd if type(cwd) is str else UNSET
            )
        )
    for key in _OUTPUTS:
        if (found := _meta_terminal(meta, key, patch)) is None:
            continue
        id_, output = found
        data = output.get("data")
        if type(data) is str:
            events.append(
                TerminalOutputAdded(seq, session, output, (), Owner.META, id_, encode_text(data))
            )
        else:
            patch.note(f"_meta.{key}.data is no string: ignored")
    if (found := _meta_terminal(meta, "terminal_exit", patch)) is not None:
        id_, exit_ = found
        status = {
            name: exit_[key]
            for key, name in (("exit_code", "exitCode"), ("signal", "signal"))
            if key in exit_
        }
        events.append(TerminalUpdated(seq, session, exit_, (), Owner.META, id_, exit_status=status))
    if (found := _meta_terminal(meta, _INPUT, patch)) is not None:
        events.append(TerminalInputEchoed(seq, session, found[1], (), found[0]))
    return events


def _meta_terminal(
    meta: dict[str, Any], key: str, patch: Patch
) -> tuple[str, dict[str, Any]] | None:
    part = meta.get(key)
    if part is None:
        return None
    if type(part) is not dict or type(part.get("terminal_id")) is not str:
        patch.note(f"_meta.{key} has no terminal_id: ignored")
        return None
    return part["terminal_id"], part


def _plan(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, UNSET)
    if type(patch.entries()) is not list:
        patch.note("entries is missing: the message changes nothing")
        return ignored(seq, session, patch)
    return [PlanUpdated(seq, session, update, tuple(patch.notes), None, untagged(update))]


def _mode(seq: int, session: str, update: dict[str, Any]) -> list[Event]:
    patch = Patch(update, UNSET)
    mode = patch.required("currentModeId")
    if mode is None:
        return ignored(seq, session, patch)
    return [ModeChanged(seq, session, update, (), mode)]


READINGS: dict[str, Reading] = {
    "user_message_chunk": _chunk(Role.USER),
    "agent_message_chunk": _chunk(Role.AGENT),
    "agent_thought_chunk": _chunk(Role.THOUGHT),
    "tool_call": tool_call,
    "tool_call_update": tool_call_update,
    "plan": _plan,
    "current_mode_update": _mode,
    **readings(UNSET, MetaRule.MERGE, MetaRule.REPLACE),
}
"""The updates of version 1, by their tag."""


# Terminals of the client (docs/protocol.md: The client's terminals): what the answer to a request tells.


def terminal_created(
    seq: int, session: str, params: dict[str, Any], result: dict[str, Any]
) -> list[Event]:
    """Read the answer to ``terminal/create``."""
    answer = Patch(result, UNSET)
    id_ = answer.required("terminalId")
    if id_ is None:
        return ignored(seq, session, answer)
    request = Patch(params, UNSET)
    limit = params.get("outputByteLimit", UNSET)
    event = TerminalCreated(
        seq,
        session,
        result,
        (),
        Owner.CLIENT,
        id_,
        request.text("command"),
        request.array("args"),
        request.text("cwd"),
        limit if type(limit) is int else UNSET,
    )
    event.notes = tuple(request.notes)
    return [event]


def terminal_output(
    seq: int, session: str, params: dict[str, Any], result: dict[str, Any]
) -> list[Event]:
    """Read the answer to ``terminal/output``: all the output as it was at that time."""
    patch = Patch(result, UNSET)
    output, truncated = patch.text("output"), result.get("truncated", UNSET)
    if truncated is not UNSET and type(truncated) is not bool:
        patch.note("truncated is no boolean: ignored")
        truncated = UNSET
    return _client_terminal(
        seq,
        session,
        params,
        patch,
        output=encode_text(output) if type(output) is str else UNSET,
        truncated=truncated,
        exit_status=patch.object("exitStatus"),
    )


def terminal_exited(
    seq: int, session: str, params: dict[str, Any], result: dict[str, Any]
) -> list[Event]:
    """Read the answer to ``terminal/wait_for_exit``."""
    status = {key: result[key] for key in ("exitCode", "signal", "_meta") if key in result}
    return _client_terminal(seq, session, params, Patch(result, UNSET), exit_status=status)


def terminal_killed(
    seq: int, session: str, params: dict[str, Any], result: dict[str, Any]
) -> list[Event]:
    """Read the answer to ``terminal/kill``; the exit is still to be learnt."""
    return _client_terminal(seq, session, params, Patch(result, UNSET), killed=True)


def terminal_released(
    seq: int, session: str, params: dict[str, Any], result: dict[str, Any]
) -> list[Event]:
    """Read the answer to ``terminal/release``; the output stays."""
    return _client_terminal(seq, session, params, Patch(result, UNSET), released=True)


def _client_terminal(
    seq: int, session: str, params: dict[str, Any], answer: Patch, **changes: Any
) -> list[Event]:
    id_ = params.get("terminalId")
    if type(id_) is not str:
        answer.note("the request names no terminal: the answer changes nothing")
        return ignored(seq, session, answer)
    notes = tuple(answer.notes)
    return [TerminalUpdated(seq, session, answer.payload, notes, Owner.CLIENT, id_, **changes)]


TERMINAL_ANSWERS = {
    "terminal/create": terminal_created,
    "terminal/output": terminal_output,
    "terminal/wait_for_exit": terminal_exited,
    "terminal/kill": terminal_killed,
    "terminal/release": terminal_released,
}
"""What the answers to the requests of terminals tell, by method."""
