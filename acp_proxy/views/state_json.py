"""The JSON form of a connection's state, a contract (docs/cli.md, state).

A key is there only when it has a value, except where "always" is said. Values
that came from the wire are as they were sent.
"""

import base64
from typing import TYPE_CHECKING, Any

import orjson

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


def state_text(document: dict[str, Any]) -> str:
    """Return a document as JSON text on one line, every number as it was sent."""
    try:
        text = orjson.dumps(document).decode()
    except (orjson.JSONEncodeError, RecursionError):  # a number of ours, deep, half a surrogate
        text = write(document)
    return escape_in_json(text)


def state_document(
    state: "State", connection_id: int, session: str | None = None
) -> dict[str, Any]:
    """Return the document of a state.

    Args:
        state: What was true.
        connection_id: Of which connection.
        session: Only this session.

    """
    return {
        "connection": connection_id,
        "at": state.seq,
        **_given(protocolVersion=state.protocol_version),
        "sessions": [
            session_object(one)
            for one in state.sessions.values()
            if session is None or one.session_id == session
        ],
    }


def session_object(session: "Session") -> dict[str, Any]:
    """Return a session."""
    return {
        "sessionId": session.session_id,
        "toolCalls": [tool_call_object(call) for call in session.tool_calls.values()],
        "terminals": [terminal_object(terminal) for terminal in session.terminals.values()],
        "permissions": [permission_object(one) for one in session.permissions.values()],
        "messages": [_message(message) for message in session.messages],
        "plans": list(session.plans.values()),
        **_given(
            cwd=session.cwd,
            title=session.title,
            updatedAt=session.updated_at,
            mode=session.mode,
            availableCommands=session.available_commands,
            configOptions=session.config_options,
            usage=session.usage,
            activity=session.activity,
            turns=[_turn(turn) for turn in session.turns] or None,
            compactions=[_compaction(one) for one in session.compactions.values()] or None,
            notices=session.notices or None,
            subagents=[_subagent(one) for one in session.subagents.values()] or None,
            sessionMessages=[_session_message(m) for m in session.session_messages.values()]
            or None,
            _meta=session.meta or None,
            replaying=True if session.window is not None else None,
            closed=True if session.closed else None,
        ),
    }


def tool_call_object(call: "ToolCall") -> dict[str, Any]:
    """Return a tool call."""
    return {
        "toolCallId": call.tool_call_id,
        "kind": call.kind,
        "status": call.status,
        "content": call.content,
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


def terminal_object(terminal: "Terminal") -> dict[str, Any]:
    """Return a terminal."""
    output = None
    if terminal.output is not None:
        data = base64.b64encode(terminal.output).decode()
        output = {"data": data, **_given(_meta=terminal.output_meta)}
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


def _message(message: "Message") -> dict[str, Any]:
    return {
        "role": message.role,
        **_given(messageId=message.message_id),
        "content": message.content,
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


def _compaction(compaction: "Compaction") -> dict[str, Any]:
    return {
        "compactionId": compaction.compaction_id,
        "status": compaction.status,
        "summary": compaction.summary,
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


def _session_message(message: "SessionMessage") -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        **_given(
            senderSessionId=message.sender_session_id,
            recipientSessionId=message.recipient_session_id,
            senderMessageId=message.sender_message_id,
            recipientMessageId=message.recipient_message_id,
        ),
        "content": message.content,
        **_given(_meta=message.meta or None),
        "firstSeq": message.first_seq,
        "lastSeq": message.last_seq,
    }


def _given(**values: Any) -> dict[str, Any]:
    """Return what has a value."""
    return {key: value for key, value in values.items() if value is not None}
