"""The ids that a message mentions, for the columns that people filter by.

Reads shapes of both protocol versions leniently (acp-facts A.7, C.1, E); what is
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
"""Update kinds that exist in version 1 only (acp-facts B)."""
V2_ONLY_UPDATES = frozenset({
    "state_update", "user_message", "agent_message", "agent_thought", "tool_call_content_chunk",
    "terminal_update", "terminal_output_chunk",
})  # fmt: skip
"""Update kinds that exist in version 2 only (acp-facts B)."""
V1_ONLY_METHODS = frozenset({
    "authenticate", "logout", "session/load", "session/set_mode", "fs/read_text_file",
    "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit",
    "terminal/kill", "terminal/release",
})  # fmt: skip
V2_ONLY_METHODS = frozenset({"auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"})
_META_TERMINAL_KEYS = (
    "terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit",
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
            if session is not None or terminal is not None:
                return request._replace(
                    session_id=session or request.session_id,
                    terminal_id=terminal or request.terminal_id,
                )
    return request


def _of_params(params: dict[str, Any]) -> Labels:
    session = _text(params.get("sessionId"))
    update = params.get("update")
    if type(update) is dict:
        terminal = _text(update.get("terminalId")) or _meta_terminal(update.get("_meta"))
        return Labels(
            session, _text(update.get("sessionUpdate")), _text(update.get("toolCallId")), terminal
        )
    call = params.get("toolCall")  # a v1 permission
    subject = params.get("subject")  # a v2 permission
    if type(subject) is dict:
        call = subject.get("toolCall", subject)
    tool_call = _text(call.get("toolCallId")) if type(call) is dict else None
    terminal = _text(subject.get("terminalId")) if type(subject) is dict else None
    return Labels(
        session,
        None,
        tool_call or _text(params.get("toolCallId")),
        terminal or _text(params.get("terminalId")),
    )


def _meta_terminal(meta: Any) -> str | None:
    """Return the terminal of the ``_meta`` convention of v1 (acp-facts E.3)."""
    if type(meta) is dict:
        for key in _META_TERMINAL_KEYS:
            part = meta.get(key)
            if type(part) is dict:
                return _text(part.get("terminal_id"))
    return None


def _text(value: Any) -> str | None:
    """Return a string as one that SQLite can hold, None for anything else."""
    if type(value) is not str:
        return None
    if value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
