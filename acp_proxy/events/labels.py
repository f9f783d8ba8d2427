"""The ids that a message mentions, for the columns that people filter by.

Reads shapes of both protocol versions leniently (docs/protocol.md: Messages, Terminals); what is
missing or of another type is simply not mentioned. Nothing here keeps state.
"""

from typing import Any, NamedTuple

from acp_proxy.wire.jsonrpc import Kind, Message


class Labels(NamedTuple):
    """What a message is about; None for what it does not say."""

    session_id: str | None = None
    session_update: str | None = None
    tool_call_id: str | None = None
    terminal_id: str | None = None


NO_LABELS = Labels()
V1_ONLY_UPDATES = frozenset({"tool_call", "plan", "current_mode_update"})
"""Update kinds that exist in version 1 only (docs/protocol.md: Versions)."""
V2_ONLY_UPDATES = frozenset({
    "state_update", "user_message", "agent_message", "agent_thought", "tool_call_content_chunk",
    "terminal_update", "terminal_output_chunk",
})  # fmt: skip
"""Update kinds that exist in version 2 only (docs/protocol.md: Versions)."""
FINAL_STATUSES = ("completed", "failed", "cancelled")
"""Statuses of a tool call that is over; any other, known or not, counts as in progress."""
V1_ONLY_METHODS = frozenset({
    "authenticate", "logout", "session/load", "session/set_mode", "fs/read_text_file",
    "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit",
    "terminal/kill", "terminal/release",
})  # fmt: skip
V2_ONLY_METHODS = frozenset({"auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"})
_META_TERMINAL_KEYS = (
    "terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit", "terminal_input",
)  # fmt: skip


def labels_of(message: Message, request: Labels = NO_LABELS) -> Labels:
    """Return what a message is about.

    Args:
        message: A message of either version.
        request: Of a response: the labels of the request that it answers, which hold for it too.

    """
    value = message.value
    if type(value) is not dict:
        return request
    if message.kind in (Kind.REQUEST, Kind.NOTIFICATION):
        params = value.get("params")
        return _of_params(params) if type(params) is dict else NO_LABELS
    if message.kind is Kind.RESULT:
        result = value.get("result")
        if type(result) is dict:
            session = _text(result.get("sessionId"))
            terminal = _text(result.get("terminalId"))
            if session is not None:
                request = request._replace(session_id=session)
            if terminal is not None:
                request = request._replace(terminal_id=terminal)
    return request


def _of_params(params: dict[str, Any]) -> Labels:
    session = _text(params.get("sessionId"))
    update = params.get("update")
    if type(update) is dict:
        tag, call = _text(update.get("sessionUpdate")), _text(update.get("toolCallId"))
        labels = (session, tag, call, _terminal_of(update))
        return tuple.__new__(Labels, labels)  # in a third of the time of Labels(...)
    tool_call, terminal = _text(params.get("toolCallId")), _text(params.get("terminalId"))
    for part in _permission_parts(params):
        if type(part) is dict:
            tool_call = _text(part.get("toolCallId")) if tool_call is None else tool_call
            terminal = _terminal_of(part) if terminal is None else terminal
    return Labels(session, None, tool_call, terminal)


def _permission_parts(params: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a permission request of either version is about."""
    subject = params.get("subject")  # version 2
    if type(subject) is dict:
        return (subject.get("toolCall"), subject, params.get("toolCall"))
    return (params.get("toolCall"),)  # version 1


def _terminal_of(holder: dict[str, Any]) -> str | None:
    """Return the terminal of an update, or that of the ``_meta`` convention of v1 (docs/protocol.md: Terminals in _meta)."""
    terminal = _text(holder.get("terminalId"))
    meta = holder.get("_meta")
    if terminal is None and type(meta) is dict:
        for key in _META_TERMINAL_KEYS:
            part = meta.get(key)
            if type(part) is dict and (found := _text(part.get("terminal_id"))) is not None:
                return found
    return terminal


def _text(value: Any) -> str | None:
    """Return a string as one that SQLite can hold, None for anything else."""
    if type(value) is not str:
        return None
    if value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
