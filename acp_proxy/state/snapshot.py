"""Things to bytes and back, exactly, each for itself, and the decoder that goes on from there.

A thing is a head, one line of JSON with its kind and its fields in the order of its
class, and a tail: what it has of a value that grows, from where the last head ended.
So what was saved once need not be saved again. Where a value is more than plain JSON
can say (``state.growing.pack``), each field of that line is written as a text of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from acp_proxy.errors import LogError
from acp_proxy.events.answers import OpenRequest
from acp_proxy.events.decoder import Decoder
from acp_proxy.state.asides import Compaction, SessionMessage, Subagent
from acp_proxy.state.fold import State
from acp_proxy.state.growing import EXACT, PLAIN, Blocks, Output, Packed, damaged
from acp_proxy.state.messages import Message, put
from acp_proxy.state.permissions import Permission
from acp_proxy.state.sessions import Session
from acp_proxy.state.stored import StoredSessions, Things
from acp_proxy.state.terminals import Terminal
from acp_proxy.state.tool_calls import ToolCall
from acp_proxy.state.turns import Prompt, Turn, add
from acp_proxy.state.version import VERSION
from acp_proxy.wire.exact_json import parse_exactly, write
from acp_proxy.wire.jsonrpc import Direction

__all__ = ["VERSION", "BadSnapshotError", "Stored", "restore"]

PLACES: Final[dict[type[Any], tuple[str, Callable[[Any], Any] | None]]] = {
    ToolCall: ("tool_calls", attrgetter("tool_call_id")),
    Terminal: ("terminals", attrgetter("owner", "terminal_id")),
    Permission: ("permissions", attrgetter("seq")),
    Message: ("messages", None),
    Turn: ("turns", None),
    Compaction: ("compactions", attrgetter("compaction_id")),
    Subagent: ("subagents", attrgetter("session_id")),
    SessionMessage: ("session_messages", attrgetter("message_id")),
}
"""Where in a session a thing stands, and its key there, None in a list."""
_GROWING: Final = {
    Session: "notices",
    ToolCall: "content",
    Terminal: "output",
    Message: "content",
    Compaction: "summary",
    SessionMessage: "content",
}
_OPAQUE: Final = {
    ToolCall: ("raw_input", "raw_output", "locations", "capabilities"),
    Terminal: ("args", "size", "capabilities", "output_meta"),
    Permission: (
        "request_id",
        "title",
        "description",
        "subject",
        "tool_call",
        "options",
        "outcome",
    ),
    Subagent: ("capabilities", "state", "additional_directories"),
}  # values that come and go as a whole
_BY_NAME: Final[dict[str, type[Any]]] = {thing.__name__: thing for thing in PLACES}
_APART: Final = {
    "known_messages",
    "prompted_turns",
    "changed",
    "key",
    "prompts",
    *(name for name, _ in PLACES.values()),
}


def _names(thing: type[Any]) -> tuple[str, ...]:
    apart = _APART if thing is Session else {"number"}
    return tuple(field.name for field in fields(thing) if field.name not in apart)


_NAMES: Final = {thing: _names(thing) for thing in (*PLACES, Session, OpenRequest)}
_GETTERS: Final = {thing: attrgetter(*names) for thing, names in _NAMES.items()}
_PLACE_OF_GROWING: Final = {thing: _NAMES[thing].index(name) for thing, name in _GROWING.items()}


_WRONG: Final = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What bytes that were never written here may end in."""


class BadSnapshotError(ValueError):
    """The bytes are none that this program can read; the state can be folded anew."""


class Stored(NamedTuple):
    """A thing as checkpoints have it.

    Attributes:
        key: As in ``State.changed``; 0 is what belongs to no session.
        since: The checkpoint that has the first of its tails.
        head: Its newest head.
        tails: All its tails from that checkpoint on.

    """

    key: int
    since: int
    head: bytes
    tails: list[bytes]


AnyStored: TypeAlias = Stored | tuple[int, int, bytes, list[bytes]]


def head_of_connection(state: State, decoder: Decoder) -> bytes:
    """Return as text what belongs to no session."""
    versions = decoder.versions
    open_requests = [list(_GETTERS[OpenRequest](one)) for one in decoder.open_requests()]
    return _line(
        "connection",
        decoder.seq,
        versions.negotiated,
        versions.guessed,
        versions.saw_tool_call,
        state.protocol_version,
        open_requests,
        sum(_count(session) for session in state.sessions.values()),
    )


def head_of(thing: Any) -> bytes:
    """Return a session's or a thing's head."""
    kind = type(thing)
    values = list(_GETTERS[kind](thing))
    place = _PLACE_OF_GROWING.get(kind)
    if place is not None and values[place] is not None:
        values[place] = len(values[place])
    if kind is Session:
        values[_NAMES[Session].index("plans")] = list(map(list, thing.plans.items()))
        values.append([[one.seq, one.message_id] for one in thing.prompts.values()])
    return _line(kind.__name__, *values)


def growing_of(thing: Any) -> Blocks | Output | None:
    """Return the value of a thing that grows, None when it has none."""
    name = _GROWING.get(type(thing))
    value: Blocks | Output | None = None if name is None else getattr(thing, name)
    return value


def _count(session: Session) -> int:
    return 1 + sum(len(getattr(session, name)) for name, _ in PLACES.values())


def things_of(session: Session) -> Iterator[Any]:
    """Yield a session and all its things."""
    yield session
    for name, _ in PLACES.values():
        place = getattr(session, name)
        yield from place.values() if isinstance(place, dict) else place


def restore(
    things: Sequence[AnyStored],
    *,
    at_leisure: bool = False,
    is_part: bool = False,
    has_messages: bool = True,
) -> tuple[State, Decoder]:
    """Return the state and the decoder from all the things of a checkpoint.

    Args:
        things: In the order of their keys, that of the connection first.
        at_leisure: Build the things of a session when somebody asks for it. They must be known
            to be sound: what is wrong with them is a LogError then.
        is_part: They are not all that there are; sessions are whole, or left out.
        has_messages: Sessions have all their things; else only those of ``partial.THINGS`` may be
            looked at, and only the kinds that were given.

    Raises:
        BadSnapshotError: They are not what was written here.

    """
    state, decoder = State(), Decoder()
    stored = state.sessions = StoredSessions(_build)
    mine: dict[int, Things] = {}
    if not things or things[0][0] != 0:
        raise BadSnapshotError("a checkpoint without a beginning")
    try:
        for key, since, head, tails in things:
            number = key & 0xFFFFFFFF
            if number:
                mine[key - number].append((number, since, head, tails))
                continue
            kind, values = _read(head)
            if key == 0:
                count = None if is_part else len(things) - 1
                _restore_connection(state, decoder, kind, values, count)
            else:
                mine[key] = []
                session = _session(kind, since, tails, values)
                if not has_messages:
                    session.open_message = session.open_prompt = None
                stored.put(session, mine[key])
        if not at_leisure:
            stored.build_all()
    except (*_WRONG, LogError) as error:
        raise BadSnapshotError(f"a damaged checkpoint: {error}") from error
    return state, decoder


def session_id_of(head: bytes) -> str | None:
    """Return whose head it is if it is a session's, else None."""
    try:
        kind, values = _read(head)
    except (ValueError, TypeError):
        return None
    return values[0] if kind == Session.__name__ else None


def beginnings(kinds: Sequence[str]) -> list[bytes]:
    """Return how the heads of things of these kinds begin."""
    return [mark + b'["%b"' % kind.encode() for kind in kinds for mark in (PLAIN, EXACT)]


def _build(session: Session, things: Things) -> None:
    """Put its things into a session.

    Raises:
        LogError: They are not what was written here.

    """
    try:
        for number, since, head, tails in things:
            kind, values = _read(head)
            _restore(session, number, kind, values, since, tails)
        _check_places(session)
    except _WRONG as error:
        raise damaged() from error


def pack_values(thing: Any) -> None:
    """Hold the values of a thing that no reducer looks into as text: that is much smaller."""
    for name in _OPAQUE.get(type(thing), ()):
        value = getattr(thing, name)
        if type(value) is dict or type(value) is list:
            setattr(thing, name, Packed.of(value))


def _line(kind: str, *values: Any) -> bytes:
    try:
        return PLAIN + orjson.dumps([kind, *values], default=_packed)
    except (orjson.JSONEncodeError, RecursionError):
        return EXACT + orjson.dumps([kind, *map(_written, values)])


def _packed(value: Any) -> orjson.Fragment:
    if isinstance(value, Packed) and value[:1] == PLAIN:
        return orjson.Fragment(value[1:])
    raise TypeError


def _written(value: Any) -> str:
    return value.json if isinstance(value, Packed) else write(value)


def _read(line: bytes) -> tuple[str, list[Any]]:
    kind, *values = orjson.loads(line[1:])
    if line[:1] == EXACT:
        values = [parse_exactly(text.encode()).value for text in values]
    return kind, values


def _restore_connection(
    state: State, decoder: Decoder, kind: str, values: list[Any], things: int | None
) -> None:
    if kind != "connection" or (things is not None and values[6] != things):
        raise ValueError("a part of it is missing")
    versions = decoder.versions
    decoder.seq, versions.negotiated, versions.guessed, versions.saw_tool_call = values[:4]
    state.seq, state.protocol_version = decoder.seq, values[4]
    for sender, *rest in values[5]:
        decoder.reopen(OpenRequest(Direction(sender), *rest))


def _session(kind: str, since: int, tails: list[bytes], values: list[Any]) -> Session:
    if kind != Session.__name__:
        raise ValueError("a thing without a session")
    *values, prompts = values
    session = Session(**dict(zip(_NAMES[Session], values, strict=True)))
    session.plans = dict(values[_NAMES[Session].index("plans")])
    session.prompts = {seq: Prompt(seq, id_) for seq, id_ in prompts}
    session.notices = Blocks.stored(tails, values[_PLACE_OF_GROWING[Session]], since)
    return session


def _check_places(session: Session) -> None:
    for place in (session.open_message, session.open_prompt):
        if place is not None and place not in range(len(session.messages)):
            raise ValueError("a message is missing")
    if session.open_prompt is not None:  # the recorder will look into it
        content = session.messages[session.open_prompt].content
        if len(list(content)) != len(content):
            raise ValueError("a part of a prompt is missing")


def _restore(
    session: Session, number: int, kind: str, values: list[Any], since: int, tails: list[bytes]
) -> None:
    type_ = _BY_NAME[kind]
    place_of_growing = _PLACE_OF_GROWING.get(type_)
    if place_of_growing is not None and values[place_of_growing] is not None:
        saved = values[place_of_growing]
        values[place_of_growing] = (
            Output.stored(tails, saved, since)
            if type_ is Terminal
            else Blocks.stored(tails, saved, since)
        )
    thing = type_(*values, number=number)
    if type_ is Message:
        put(session, thing)  # a prompt that was read again has a later number
        if thing.message_id is not None:
            session.known_messages[thing.role, thing.message_id] = thing
        return
    if type_ is Turn:
        add(session, thing)
        return
    name, key = PLACES[type_]
    place = getattr(session, name)
    if key is None:
        place.append(thing)
    else:
        place[key(thing)] = thing
