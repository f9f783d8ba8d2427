"""Answers as events: what they mean is told by the request that they answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from acp_proxy.events import v1
from acp_proxy.events.event import UNSET, Event
from acp_proxy.events.fields import Patch
from acp_proxy.events.versions import Versions
from acp_proxy.events.vocabulary import (
    ConfigOptionsChanged,
    ElicitationAnswered,
    Initialized,
    ModeChanged,
    PermissionAnswered,
    PromptAnswered,
    PromptSent,
    ReplayEnded,
    RequestAnswered,
    SessionClosed,
    SessionOpened,
)
from acp_proxy.wire.jsonrpc import Direction, Kind, Message

INITIALIZE = (
    "initialize",
    "proxy/initialize",
    "_proxy/initialize",
)  # docs/protocol.md: Versions, Extensions
_RESOURCE_NOT_FOUND = -32002
_INVALID_REQUEST = -32600


@dataclass(slots=True)
class OpenRequest:
    """What is remembered of a request until its answer.

    Attributes:
        sender: Who asked.
        id: Its id as JSON text.
        seq: The message.
        method: What was asked.
        session_id: The session that it names.
        params: Those of its params that the answer needs.
        is_replay: It asked for a session's history.
        is_turn: Of a prompt: it began a turn (v1).
        batch: The first message of the array that it came in, None when it came alone, or
            when something in that array was answered.

    """

    sender: Direction
    id: str
    seq: int
    method: str
    session_id: str | None
    params: dict[str, Any] = field(default_factory=dict)
    is_replay: bool = False
    is_turn: bool = False
    batch: int | None = None


_SESSION_KEYS = ("cwd",)
KEPT_PARAMS = {
    "session/new": _SESSION_KEYS,
    "session/load": _SESSION_KEYS,
    "session/resume": _SESSION_KEYS,
    "session/fork": _SESSION_KEYS,
    "session/archive": ("sessionId",),
    "session/set_mode": ("modeId",),
    "session/request_permission": ("options",),
    "session/prompt": ("prompt",),  # it may have to be read again
    "terminal/create": ("command", "args", "cwd", "outputByteLimit"),  # env may hold secrets
    "terminal/output": ("terminalId",),
    "terminal/wait_for_exit": ("terminalId",),
    "terminal/kill": ("terminalId",),
    "terminal/release": ("terminalId",),
}
"""What answers need of the params of their requests."""


def read_answer(
    seq: int, message: Message, request: OpenRequest, responder: Direction, versions: Versions
) -> list[Event]:
    """Return the events of an answer to a known request."""
    events: list[Event] = []
    payload = _payload(message)
    is_error = message.kind is Kind.ERROR
    reader = _READERS.get(request.method)
    if reader is not None and reader.responder is responder:
        events = reader.read(seq, request, payload, is_error, versions)
    if not events:
        events = [
            RequestAnswered(
                seq, request.session_id, payload, (), request.seq, request.method, is_error
            )
        ]
    if request.is_replay:
        events.insert(0, ReplayEnded(seq, request.session_id, payload, ()))
    return events


def read_again(seq: int, prompt: OpenRequest, version: int) -> list[Event]:
    """Return the event of an open prompt that turns out to be of a version; none if it was so."""
    if prompt.is_turn == (version == 1):
        return []
    prompt.is_turn = version == 1
    blocks = prompt.params.get("prompt")
    notes = (f"the prompt of message {prompt.seq} is read again, as one of version {version}",)
    return [
        PromptSent(
            seq,
            prompt.session_id,
            prompt.params,
            notes,
            blocks if type(blocks) is list else [],
            prompt.is_turn,
            prompt.seq,
        )
    ]


def refuse(
    seq: int, message: Message, request: OpenRequest, batch: int, versions: Versions
) -> list[Event]:
    """Return the events of a request in an array that was refused as a whole (docs/protocol.md: Batches).

    Nothing was done with it, so a prompt in it was none; the others are as if answered.
    ``batch``: the first message of that array.
    """
    responder = Direction.AGENT if request.sender is Direction.CLIENT else Direction.CLIENT
    events = read_again(seq, request, 2) if request.method == "session/prompt" else []
    events += read_answer(seq, message, request, responder, versions)
    note = f"the batch of message {batch} is refused as a whole, {request.method} with it"
    events[0].notes = (note,)
    return events


def is_refusal(message: Message) -> bool:
    """Tell whether an answer can be that to an array which is not accepted (docs/protocol.md: Batches)."""
    error = _object(_payload(message))
    return (
        message.kind is Kind.ERROR
        and message.id == "null"
        and message.batch_index is None
        and error.get("code") == _INVALID_REQUEST
    )


def orphan(seq: int, message: Message) -> list[Event]:
    """Return the event of an answer that nobody asked for."""
    notes = ("nobody asked for this answer",)
    is_error = message.kind is Kind.ERROR
    return [RequestAnswered(seq, None, _payload(message), notes, None, None, is_error)]


def _payload(message: Message) -> Any:
    if type(message.value) is not dict:  # not parsed: too deep
        return None
    return message.value.get("error" if message.kind is Kind.ERROR else "result")


def _object(payload: Any) -> dict[str, Any]:
    """Return a result as an object; null stands for an empty one (docs/protocol.md: Messages)."""
    return payload if type(payload) is dict else {}


def _initialized(
    seq: int, _request: OpenRequest, payload: Any, is_error: bool, versions: Versions
) -> list[Event]:
    if is_error:
        return []
    return [Initialized(seq, None, payload, (), versions.negotiate(_object(payload)))]


def _opened(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, versions: Versions
) -> list[Event]:
    """Read the answer to new, load, resume or fork: seeds what the agent tells (docs/protocol.md: Sessions)."""
    if is_error:
        return []
    answer = Patch(_object(payload), UNSET)
    versions.learn(answer.payload, is_opening=True)
    session: Any = request.session_id
    if request.method in ("session/new", "session/fork"):
        session = answer.required("sessionId")
        if session is None:
            return []
    modes = answer.object("modes")
    cwd = request.params.get("cwd")
    event = SessionOpened(
        seq,
        session,
        payload,
        (),
        cwd if type(cwd) is str else UNSET,
        Patch(modes, UNSET).text("currentModeId") if type(modes) is dict else UNSET,
        answer.array("configOptions"),
        answer.array("availableCommands"),
    )
    event.notes = tuple(answer.notes)
    return [event]


def _closed(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, _versions: Versions
) -> list[Event]:
    """Read the answer to close or archive; "not found" is as good as success (docs/protocol.md: Errors)."""
    if is_error and _object(payload).get("code") != _RESOURCE_NOT_FOUND:
        return []
    session = request.session_id or request.params.get("sessionId")
    return [SessionClosed(seq, session if type(session) is str else None, payload, ())]


def _mode_set(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, _versions: Versions
) -> list[Event]:
    mode = request.params.get("modeId")
    if is_error or type(mode) is not str:
        return []
    return [ModeChanged(seq, request.session_id, payload, (), mode)]


def _config_set(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, _versions: Versions
) -> list[Event]:
    options = _object(payload).get("configOptions")
    if is_error or type(options) is not list:
        return []
    return [ConfigOptionsChanged(seq, request.session_id, payload, (), options)]


def _prompt_answered(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, versions: Versions
) -> list[Event]:
    """Read the answer to a prompt: v1 ends the turn, v2 names the message (docs/protocol.md: Turns)."""
    session = request.session_id
    if is_error:
        return [
            PromptAnswered(seq, session, payload, (), request.seq, request.is_turn, error=payload)
        ]
    answer = Patch(_object(payload), UNSET)
    version = versions.of_prompt_result(answer.payload)
    again = read_again(seq, request, version)
    reason, id_ = answer.text("stopReason"), answer.text("messageId")
    return [
        *again,
        PromptAnswered(
            seq,
            session,
            payload,
            tuple(answer.notes),
            request.seq,
            version == 1,
            reason if type(reason) is str else None,
            id_ if type(id_) is str else None,
        ),
    ]


def _permission_answered(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, _versions: Versions
) -> list[Event]:
    """Read an outcome; one that is unknown never counts as an approval (docs/protocol.md: Permissions)."""
    session = request.session_id
    if is_error:
        return [PermissionAnswered(seq, session, payload, (), request.seq, "error")]
    outcome = _object(payload).get("outcome")
    word = _object(outcome).get("outcome")
    option = _object(outcome).get("optionId")
    notes: tuple[str, ...] = ()
    status = "other"
    if word == "selected" and type(option) is str:
        status = "selected"
        if option not in _offered(request):
            notes = ("the selected option was not offered: no approval",)
    elif word == "cancelled":
        status = "cancelled"
    else:
        notes = ("an unknown outcome: no approval",)
    return [
        PermissionAnswered(
            seq,
            session,
            payload,
            notes,
            request.seq,
            status,
            option if status == "selected" else None,
            outcome,
        )
    ]


def _offered(request: OpenRequest) -> list[Any]:
    """Return the ids of the options that were to choose from."""
    options = request.params.get("options")
    if type(options) is not list:
        return []
    return [one.get("optionId") for one in options if type(one) is dict]


def _elicitation_answered(
    seq: int, request: OpenRequest, payload: Any, _is_error: bool, _versions: Versions
) -> list[Event]:
    return [ElicitationAnswered(seq, request.session_id, payload, (), request.seq)]


def _terminal_answered(
    seq: int, request: OpenRequest, payload: Any, is_error: bool, _versions: Versions
) -> list[Event]:
    if is_error or request.session_id is None:
        return []
    read = v1.TERMINAL_ANSWERS[request.method]
    return read(seq, request.session_id, request.params, _object(payload))


_Read = Callable[[int, OpenRequest, Any, bool, Versions], list[Event]]


@dataclass(slots=True, frozen=True)
class _Reader:
    responder: Direction
    read: _Read


_READERS: dict[str, _Reader] = {
    **{method: _Reader(Direction.AGENT, _initialized) for method in INITIALIZE},
    **{
        f"session/{verb}": _Reader(Direction.AGENT, read)
        for verb, read in {
            "new": _opened,
            "load": _opened,
            "resume": _opened,
            "fork": _opened,
            "close": _closed,
            "archive": _closed,
            "set_mode": _mode_set,
            "set_config_option": _config_set,
            "prompt": _prompt_answered,
        }.items()
    },
    "session/request_permission": _Reader(Direction.CLIENT, _permission_answered),
    "elicitation/create": _Reader(Direction.CLIENT, _elicitation_answered),
    **{method: _Reader(Direction.CLIENT, _terminal_answered) for method in v1.TERMINAL_ANSWERS},
}
