"""Target for redaction: planted secrets never survive, JSON stays JSON, twice is as once."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from acp_proxy.redaction.redactor import MARKER, Redactor
from acp_proxy.wire.jsonrpc import Direction
from tests.fuzz import conversations
from tests.fuzz.target import Bites, Target
from tests.redaction.leaks import left
from tests.redaction.secrets import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis import strategies as st

    from tests.redaction.places import Frames

_MOST_CUTS = 6
_DEEP = 300


def check_redaction(data: bytes) -> None:
    """Plant a secret in a conversation, blank it, and look for it."""
    bites = Bites(data)
    secret = SHAPES[bites.number() % len(SHAPES)]
    way, place = bites.number() % 5, bites.number()
    cuts = [bites.number() for _ in range(bites.number() % _MOST_CUTS)]
    planted = _planted(secret.text, way, cuts)
    said: Frames = [
        (direction.value, raw) for direction, raw, _ in conversations.said(bites.rest())
    ]
    at = place % (len(said) + 1)
    frames = [*said[:at], *planted, *said[at:]]

    blanked = _redacted(frames)
    for (stream, before), after in zip(frames, blanked, strict=True):
        _check_frame(stream, before, after)
    assert left(secret.secret, blanked[at : at + len(planted)]) == set()
    if not all(_is_json(raw) for stream, raw in frames if stream != Direction.STDERR.value):
        return  # of broken JSON whose lines belong together the second time may take more
    again = _redacted([(stream, after) for (stream, _), after in zip(frames, blanked, strict=True)])
    assert again == blanked


def _redacted(frames: Frames) -> list[bytes]:
    redactor = Redactor()
    numbered = [(seq, stream, raw) for seq, (stream, raw) in enumerate(frames, 1)]
    redactor.learn(lambda: numbered)
    return [redactor.redact_frame(stream, raw, seq) for seq, stream, raw in numbered]


def _planted(text: str, way: int, cuts: list[int]) -> Frames:
    """Return frames that hold a secret, whole or in pieces."""
    if way == 0:
        params = {"env": [{"name": "X", "value": text}], "note": f"see {text} there"}
        return [("client", _line({"method": "_x/y", "params": params}))]
    if way == 1:
        return (
            [("stderr", f"it is {text} now\n".encode())] if "\n" not in text else _chunks(text, [])
        )
    if way == 2:
        return [("agent", f"no json: {json.dumps(text)[1:-1]} \n".encode())]
    return _chunks(text, cuts if way == 3 else [])


def _chunks(text: str, cuts: list[int]) -> Frames:
    whole = f"\nhere: {text}\nthere\n"
    places = [0, *sorted({cut % len(whole) for cut in cuts}), len(whole)]
    return [
        ("agent", _line({"method": "session/update", "params": _params(whole[a:b])}))
        for a, b in itertools.pairwise(places)
        if b > a
    ]


def _params(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {
        "sessionId": "of the planted",
        "update": {"sessionUpdate": "agent_message_chunk", "content": content},
    }


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _check_frame(stream: str, before: bytes, after: bytes) -> None:
    """Look whether a frame stayed what it was but for its secrets."""
    assert after.endswith(b"\n")
    assert after.count(b"\n") == 1
    if stream == Direction.STDERR.value or max(before.count(b"["), before.count(b"{")) > _DEEP:
        return
    try:
        value = json.loads(before.decode(), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return
    assert _shape(json.loads(after.decode(), parse_int=str, parse_float=str)) == _shape(value) or (
        MARKER.encode() in after
    )


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw.decode(), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def _shape(value: Any) -> Any:
    """Return what redaction may not change of a value."""
    if isinstance(value, dict):
        return [_shape(member) for member in value.values()]
    if isinstance(value, list):
        return [_shape(member) for member in value]
    return 0 if isinstance(value, str) else value


def _inputs() -> st.SearchStrategy[bytes]:
    from hypothesis import strategies as st

    beginning = st.tuples(
        st.binary(min_size=3, max_size=3), st.binary(max_size=_MOST_CUTS - 1)
    ).map(lambda drawn: drawn[0] + bytes([len(drawn[1])]) + drawn[1])
    return st.tuples(beginning, conversations.inputs()).map(b"".join)


def _seeds() -> Iterator[bytes]:
    for number, seed in enumerate(conversations.seeds()):
        yield bytes([number % 256, number % 5, 3, 2, 9, 20]) + seed


REDACTION = Target(
    "redaction",
    "never raises; JSON stays JSON of the same shape; a planted secret is nowhere afterwards; "
    "blanking JSON twice is blanking it once",
    check_redaction,
    _inputs,
    _seeds,
)
