"""State to bytes and back, exactly, together with the decoder that goes on from there.

A snapshot is lines of JSON, each one thing: a kind and its fields in the order of
its class. Where a value is more than plain JSON can say (an integer beyond 64 bits,
a number that remembers its text, half of a surrogate pair, deep nesting), each
field of that line is written as a text of its own.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

import orjson

from acp_proxy.events.answers import OpenRequest
from acp_proxy.events.decoder import Decoder
from acp_proxy.state.asides import Compaction, SessionMessage, Subagent
from acp_proxy.state.fold import State
from acp_proxy.state.messages import Message
from acp_proxy.state.permissions import Permission
from acp_proxy.state.sessions import Session
from acp_proxy.state.terminals import Terminal
from acp_proxy.state.tool_calls import ToolCall
from acp_proxy.state.turns import Prompt, Turn
from acp_proxy.wire.exact_json import parse_exactly, write
from acp_proxy.wire.jsonrpc import Direction

VERSION: Final = 1
_HEADER: Final = b"acp-proxy state %d\n" % VERSION
_PLAIN: Final = b"="
_TEXTS: Final = b"~"
_PLACES: Final[dict[type[Any], tuple[str, Callable[[Any], Any] | None]]] = {
    ToolCall: ("tool_calls", attrgetter("tool_call_id")),
    Terminal: ("terminals", attrgetter("owner", "terminal_id")),
    Permission: ("permissions", attrgetter("seq")),
    Message: ("messages", None),
    Turn: ("turns", None),
    Prompt: ("prompts", attrgetter("seq")),
    Compaction: ("compactions", attrgetter("compaction_id")),
    Subagent: ("subagents", attrgetter("session_id")),
    SessionMessage: ("session_messages", attrgetter("message_id")),
}  # where in a session a thing stands, and its key there, None in a list
_BY_NAME: Final[dict[str, type[Any]]] = {thing.__name__: thing for thing in _PLACES}
_NAMES: Final[dict[type[Any], tuple[str, ...]]] = {
    thing: tuple(field.name for field in fields(thing)) for thing in (*_PLACES, OpenRequest)
}
_GETTERS: Final = {thing: attrgetter(*names) for thing, names in _NAMES.items()}
_APART: Final = {"message_places", "plans", *(name for name, _ in _PLACES.values())}
_SESSION: Final = tuple(field.name for field in fields(Session) if field.name not in _APART)
_OUTPUT: Final = _NAMES[Terminal].index("output")


class BadSnapshotError(ValueError):
    """The bytes are no snapshot that this program can read; the state can be folded anew."""


def dump(state: State, decoder: Decoder) -> bytes:
    """Return a state, and what the decoder that gave its events knows, as bytes."""
    lines = [_HEADER]
    versions = decoder.versions
    lines.append(
        _line(
            "decoder",
            (decoder.seq, versions.negotiated, versions.guessed, versions.saw_tool_call),
        )
    )
    lines.extend(_line("open", _GETTERS[OpenRequest](one)) for one in decoder.open_requests())
    lines.append(_line("state", (state.seq, state.protocol_version)))
    for session in state.sessions.values():
        lines.append(_line("session", [getattr(session, name) for name in _SESSION]))
        lines.extend(_line("plan", plan) for plan in session.plans.items())
        lines.extend(_thing(thing) for thing in _things(session))
    return b"".join(lines)


def load(data: bytes) -> tuple[State, Decoder]:
    """Return the state and the decoder that ``dump`` was given.

    Raises:
        BadSnapshotError: It is no snapshot, or one of another version.

    """
    if not data.startswith(_HEADER):
        raise BadSnapshotError(f"no state of version {VERSION}")
    state, decoder = State(), Decoder()
    session: Session | None = None
    try:
        for line in data[len(_HEADER) :].splitlines():
            kind, values = _read(line)
            if kind == "session":
                session = Session(**dict(zip(_SESSION, values, strict=True)))
                state.sessions[session.session_id] = session
            elif session is not None:
                _restore(session, kind, values)
            else:
                _restore_head(state, decoder, kind, values)
    except (ValueError, TypeError, KeyError) as error:
        raise BadSnapshotError(f"a damaged state: {error}") from error
    return state, decoder


def _things(session: Session) -> Iterator[Any]:
    for name, key in _PLACES.values():
        place = getattr(session, name)
        yield from place if key is None else place.values()


def _thing(thing: Any) -> bytes:
    values = list(_GETTERS[type(thing)](thing))
    if isinstance(thing, Terminal) and thing.output is not None:
        values[_OUTPUT] = b64encode(thing.output).decode()
    return _line(type(thing).__name__, values)


def _line(kind: str, values: Any) -> bytes:
    """Return one line; no newline can stand inside JSON."""
    try:
        return b"%b%b\n" % (_PLAIN, orjson.dumps([kind, *values]))
    except (orjson.JSONEncodeError, RecursionError):
        texts = [write(list(value) if type(value) is tuple else value) for value in values]
        return b"%b%b\n" % (_TEXTS, orjson.dumps([kind, *texts]))


def _read(line: bytes) -> tuple[str, list[Any]]:
    kind, *values = orjson.loads(line[1:])
    if line[:1] == _TEXTS:
        values = [parse_exactly(text.encode()).value for text in values]
    return kind, values


def _restore_head(state: State, decoder: Decoder, kind: str, values: list[Any]) -> None:
    if kind == "decoder":
        versions = decoder.versions
        decoder.seq, versions.negotiated, versions.guessed, versions.saw_tool_call = values
    elif kind == "open":
        decoder.reopen(OpenRequest(Direction(values[0]), *values[1:]))
    elif kind == "state":
        state.seq, state.protocol_version = values
    else:
        raise KeyError(kind)


def _restore(session: Session, kind: str, values: list[Any]) -> None:
    if kind == "plan":
        plan_id, plan = values
        session.plans[plan_id] = plan
        return
    thing = _BY_NAME[kind](*values)
    if isinstance(thing, Terminal) and thing.output is not None:
        thing.output = bytearray(b64decode(values[_OUTPUT]))
    elif isinstance(thing, Message) and thing.message_id is not None:
        session.message_places[thing.role, thing.message_id] = len(session.messages)
    name, key = _PLACES[type(thing)]
    place = getattr(session, name)
    if key is None:
        place.append(thing)
    else:
        place[key(thing)] = thing
