"""The JSON form of a connection's state, a contract (docs/cli.md, state).

A key is there only when it has a value, except where "always" is said. Values
that came from the wire are as they were sent.
"""

import base64
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from acp_proxy.state.growing import Blocks, Output
from acp_proxy.state.stored import StoredSessions
from acp_proxy.views.safe_text import escape_in_json
from acp_proxy.wire.exact_json import write

if TYPE_CHECKING:
    from acp_proxy.state.asides import Compaction, SessionMessage, Subagent
    from acp_proxy.state.fold import State
    from acp_proxy.state.messages import Message
    from acp_proxy.state.permissions import Permission
    from acp_proxy.state.sessions import Session
    from acp_proxy.state.terminals import Terminal
    from acp_proxy.state.tool_calls import ToolCall
    from acp_proxy.state.turns import Turn


Values: TypeAlias = Callable[["Blocks | Output"], Any]
"""What stands in a document for a value that grows: ``plain``, or ``as_it_is``."""

_SOME = 8
_COUNTED = (
    ("turns", "turns", "Turn"),
    ("toolCalls", "tool_calls", "ToolCall"),
    ("terminals", "terminals", "Terminal"),
    ("permissions", "permissions", "Permission"),
    ("messages", "messages", "Message"),
)  # key in a document, place in a session, name in a checkpoint
_DEEPEST = 6  # from a document down to what grows: sessions, one, its terminals, one, output, data


def plain(value: Blocks | Output) -> Any:
    """Return a list of blocks, or output as base64."""
    if isinstance(value, Blocks):
        return list(value)
    return base64.b64encode(bytes(value)).decode()


def as_it_is(value: Blocks | Output) -> Any:
    """Return the value itself: it is cheaper to look at, and is written without being parsed."""
    return value


def state_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text on one line, every number as it was sent."""
    return _bytes(document).decode()


def state_pieces(
    state: "State", connection_id: int, session: str | None = None
) -> "Iterator[bytes]":
    """Yield the text of ``state_document`` in pieces: a large state is never one text in memory."""
    head = _bytes(_head(state, connection_id))
    yield b'%b,"sessions":[' % head[:-1]
    before = b""
    for one in _sessions(state, session):
        yield before + b"{"
        yield from _members(one)
        yield b"}"
        before = b","
    yield b"]}"


def _members(session: "Session") -> "Iterator[bytes]":
    before = ""
    for name, value in _session_members(session, as_it_is):
        yield f'{before}"{name}":'.encode()
        before = ","
        if isinstance(value, Iterator):
            yield b"["
            between = b""
            while some := list(islice(value, _SOME)):
                yield between + _objects(some)
                between = b","
            yield b"]"
        else:
            yield _bytes(value)


def _objects(some: list[dict[str, Any]]) -> bytes:
    """Return some objects of a list: at once is much cheaper than one by one."""
    try:
        return _harmless(orjson.dumps(some, default=_fragment)[1:-1])
    except (orjson.JSONEncodeError, RecursionError):
        return b",".join(map(_bytes, some))


def _bytes(value: Any) -> bytes:
    try:
        data = orjson.dumps(value, default=_fragment)
    except (orjson.JSONEncodeError, RecursionError):  # a number of ours, deep, half a surrogate
        data = write(parsed(value)).encode(errors="surrogatepass")
    return _harmless(data)


def _harmless(data: bytes) -> bytes:
    if data.isascii() and b"\x7f" not in data:  # nothing to escape: spare what is large two copies
        return data
    return escape_in_json(data.decode(errors="surrogatepass")).encode()


def _fragment(value: Any) -> Any:
    if isinstance(value, Blocks):
        return orjson.Fragment(value.json())
    if isinstance(value, Output):
        return orjson.Fragment(b'"%b"' % base64.b64encode(bytes(value)))
    raise TypeError


def parsed(value: Any, depth: int = _DEEPEST) -> Any:
    """Return a document, or a part of one, with plain values for those that grow."""
    if isinstance(value, Blocks | Output):
        return plain(value)
    if type(value) is dict and depth:
        return {name: parsed(one, depth - 1) for name, one in value.items()}
    if type(value) is list and depth:
        return [parsed(one, depth - 1) for one in value]
    return value


def state_document(
    state: "State", connection_id: int, session: str | None = None, values: Values = plain
) -> dict[str, Any]:
    """Return the document of a state.

    Args:
        state: What was true.
        connection_id: Of which connection.
        session: Only this session.
        values: What stands for values that grow: plain lists, or what is cheaper to look at.

    """
    return {
        **_head(state, connection_id),
        "sessions": [session_object(one, values) for one in _sessions(state, session)],
    }


def _head(state: "State", connection_id: int) -> dict[str, Any]:
    return {
        "connection": connection_id,
        "at": state.seq,
        **_given(protocolVersion=state.protocol_version),
    }


def session_counts(state: "State", session: "Session") -> dict[str, int]:
    """Return how many turns, tool calls, terminals, permissions and messages a session has.

    Those of a session that came from a checkpoint are not built for it.
    """
    sessions = state.sessions
    known = sessions.counts(session.session_id) if isinstance(sessions, StoredSessions) else None
    if known is not None:
        return {key: known[kind] for key, _, kind in _COUNTED}
    return {key: len(getattr(session, place)) for key, place, _ in _COUNTED}


def _sessions(state: "State", session: str | None) -> "Iterator[Session]":
    if session is None:
        yield from state.sessions.values()
    elif session in state.sessions:
        yield state.sessions[session]


def session_object(session: "Session", values: Values = plain) -> dict[str, Any]:
    """Return a session."""
    return {
        name: list(value) if isinstance(value, Iterator) else value
        for name, value in _session_members(session, values)
    }


def _session_members(session: "Session", values: Values) -> "Iterator[tuple[str, Any]]":
    """Yield a session's members; lists of things that may be many as iterators."""
    yield "sessionId", session.session_id
    yield "toolCalls", (tool_call_object(call, values) for call in session.tool_calls.values())
    yield "terminals", (terminal_object(one, values) for one in session.terminals.values())
    yield "permissions", (permission_object(one) for one in session.permissions.values())
    yield "messages", (_message(message, values) for message in session.messages)
    yield "plans", list(session.plans.values())
    yield from _given(
        cwd=session.cwd,
        title=session.title,
        updatedAt=session.updated_at,
        mode=session.mode,
        availableCommands=session.available_commands,
        configOptions=session.config_options,
        usage=session.usage,
        activity=session.activity,
        turns=_some(_turn(turn) for turn in session.turns),
        compactions=_some(_compaction(one, values) for one in session.compactions.values()),
        notices=values(session.notices) if len(session.notices) else None,
        subagents=_some(_subagent(one) for one in session.subagents.values()),
        sessionMessages=_some(
            _session_message(one, values) for one in session.session_messages.values()
        ),
        _meta=session.meta or None,
        replaying=True if session.window is not None else None,
        closed=True if session.closed else None,
    ).items()


def tool_call_object(call: "ToolCall", values: Values = plain) -> dict[str, Any]:
    """Return a tool call."""
    return {
        "toolCallId": call.tool_call_id,
        "kind": call.kind,
        "status": call.status,
        "content": values(call.content),
        "locations": call.locations,
        **_given(
            name=call.name,
            title=call.title,
            rawInput=call.raw_input,
            rawOutput=call.raw_output,
            capabilities=call.capabilities,
            _meta=call.meta or None,
        ),
        "firstSeq": call.first_seq,
        "lastSeq": call.last_seq,
    }


def terminal_object(terminal: "Terminal", values: Values = plain) -> dict[str, Any]:
    """Return a terminal."""
    output = None
    if terminal.output is not None:
        output = {"data": values(terminal.output), **_given(_meta=terminal.output_meta)}
    return {
        "terminalId": terminal.terminal_id,
        "owner": terminal.owner,
        **_given(
            command=terminal.command,
            args=terminal.args,
            cwd=terminal.cwd,
            outputByteLimit=terminal.output_byte_limit,
            size=terminal.size,
            capabilities=terminal.capabilities,
            _meta=terminal.meta or None,
            output=output,
            truncated=terminal.truncated,
            exitStatus=terminal.exit_status,
            killed=terminal.killed or None,
            released=terminal.released or None,
        ),
        "firstSeq": terminal.first_seq,
        "lastSeq": terminal.last_seq,
    }


def permission_object(permission: "Permission") -> dict[str, Any]:
    """Return a permission; its request's id may be null."""
    return {
        "requestId": permission.request_id,
        "seq": permission.seq,
        "status": permission.status,
        **_given(
            optionId=permission.option_id,
            title=permission.title,
            description=permission.description,
            subject=permission.subject,
            toolCall=permission.tool_call,
            options=permission.options,
            outcome=permission.outcome,
            answeredSeq=permission.answered_seq,
        ),
    }


def _message(message: "Message", values: Values) -> dict[str, Any]:
    return {
        "role": message.role,
        **_given(messageId=message.message_id),
        "content": values(message.content),
        "firstSeq": message.first_seq,
        "lastSeq": message.last_seq,
        **_given(_meta=message.meta or None, replay=message.replay or None),
    }


def _turn(turn: "Turn") -> dict[str, Any]:
    return _given(
        promptSeq=turn.prompt_seq,
        startedSeq=turn.started_seq,
        endedSeq=turn.ended_seq,
        stopReason=turn.stop_reason,
        error=turn.error,
        messageId=turn.message_id,
    )


def _compaction(compaction: "Compaction", values: Values) -> dict[str, Any]:
    return {
        "compactionId": compaction.compaction_id,
        "status": compaction.status,
        "summary": values(compaction.summary),
        **_given(error=compaction.error, _meta=compaction.meta or None),
        "firstSeq": compaction.first_seq,
        "lastSeq": compaction.last_seq,
    }


def _subagent(subagent: "Subagent") -> dict[str, Any]:
    return {
        "sessionId": subagent.session_id,
        **_given(
            title=subagent.title,
            description=subagent.description,
            capabilities=subagent.capabilities,
            state=subagent.state,
            cwd=subagent.cwd,
            additionalDirectories=subagent.additional_directories,
            _meta=subagent.meta or None,
        ),
        "firstSeq": subagent.first_seq,
        "lastSeq": subagent.last_seq,
    }


def _session_message(message: "SessionMessage", values: Values) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        **_given(
            senderSessionId=message.sender_session_id,
            recipientSessionId=message.recipient_session_id,
            senderMessageId=message.sender_message_id,
            recipientMessageId=message.recipient_message_id,
        ),
        "content": values(message.content),
        **_given(_meta=message.meta or None),
        "firstSeq": message.first_seq,
        "lastSeq": message.last_seq,
    }


def _some(objects: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]] | None:
    """Return the objects, None when there are none."""
    first = next(objects, None)
    return None if first is None else chain((first,), objects)


def _given(**values: Any) -> dict[str, Any]:
    """Return what has a value."""
    return {key: value for key, value in values.items() if value is not None}
