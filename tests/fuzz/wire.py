"""Targets for what stands on the wire: framing, classification, correlation."""

from __future__ import annotations

import itertools
import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import Indexer, messages_of
from acp_proxy.wire.framing import KEPT_PREFIX, Frame, LineFramer
from acp_proxy.wire.jsonrpc import Direction, Kind, Message, classify, text_message
from tests.fuzz import conversations
from tests.fuzz.target import Bites, Target
from tests.strategies import json_texts, lines, message_lines, mutations, object_texts, streams
from tests.wire.same import exact, same

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLASSIFIED = frozenset({Kind.INVALID, Kind.TEXT})
_HIDDEN = re.compile(
    r"before the JSON at bytes (\d+) to (\d+)|after the JSON that ends at byte (\d+)"
)
_MOST_DIGITS = 4000  # Python's json reads no longer numbers
_LONG_NUMBER = re.compile(rb"\d{%d}" % _MOST_DIGITS)


# Framing.


def check_framing(data: bytes) -> None:
    """Cut a stream in chunks as the first bytes say, and compare with cutting the whole of it."""
    bites = Bites(data)
    way = bites.number()
    cuts = [bites.number(2) for _ in range(bites.number() % 16)]
    stream = bites.rest()
    if way % 8 == 7 and stream:
        stream *= 1 + (3 * KEPT_PREFIX) // len(stream)
    offset = way * 1000
    keep = KEPT_PREFIX + 1000 if way & 2 else None
    places = sorted(cut * (1 + len(stream) // KEPT_PREFIX) % (len(stream) + 1) for cut in cuts)

    found = _framed(offset, keep, [stream[a:b] for a, b in _pairs([0, *places, len(stream)])])
    right = [line + b"\n" for line in stream.split(b"\n")]
    right[-1] = right[-1][:-1]
    right = [line for line in right if line]

    assert [frame.size for frame in found] == [len(line) for line in right]
    at = offset
    for frame, line in zip(found, right, strict=True):
        assert frame.offset == at
        at += frame.size
        if keep is None or len(line) <= keep:
            assert frame.raw == line
        else:
            assert frame.raw == line[:KEPT_PREFIX]


def _framed(offset: int, keep: int | None, chunks: list[bytes]) -> list[Frame]:
    framer = LineFramer(offset, keep)
    frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
    assert framer.offset == offset + sum(frame.size for frame in frames)
    last = framer.close()
    assert framer.close() is None
    return frames if last is None else [*frames, last]


def _pairs(places: list[int]) -> Iterator[tuple[int, int]]:
    yield from itertools.pairwise(places)


def _framing_inputs() -> st.SearchStrategy[bytes]:
    beginning = st.tuples(st.integers(0, 255), st.lists(st.integers(0, 300), max_size=15)).map(
        lambda drawn: (
            bytes([drawn[0], len(drawn[1])]) + b"".join(cut.to_bytes(2, "big") for cut in drawn[1])
        )
    )
    return st.tuples(beginning, streams() | st.binary(max_size=300)).map(b"".join)


def _framing_seeds() -> Iterator[bytes]:
    for number, seed in enumerate(conversations.seeds()):
        yield bytes([number % 4, 2, 0, 40, 1, 90]) + seed


# Classification.


def check_classification(raw: bytes) -> None:
    """Classify a line both ways, and compare with what Python's parser says of it."""
    found = classify(raw)
    assert found
    written = classify(raw, as_written=True)
    assert [_without_value(one) for one in found] == [_without_value(one) for one in written]
    assert text_message(raw).kind is Kind.TEXT
    for message in found:
        _check_reason(raw, message)
        assert (message.id is None) or message.kind is not Kind.TEXT
        assert (message.kind in _CLASSIFIED) or message.value is not None or _is_flagged(message)
    if _LONG_NUMBER.search(raw):
        return
    try:
        value = exact(raw.decode())
    except (ValueError, RecursionError):
        refused = all(m.kind in _CLASSIFIED or {"bom", "unparsed"} & {*m.flags} for m in found)
        assert refused or _is_deep(raw)
        return
    _check_values(found, value)


def _check_values(found: list[Message], value: Any) -> None:
    """Compare messages with the value that their line is."""
    if isinstance(value, list) and value:
        assert [message.batch_index for message in found] == list(range(len(value)))
        for message, member in zip(found, value, strict=True):
            _check_value(message, member)
    else:
        [message] = found
        assert message.batch_index is None
        _check_value(message, value)


def _check_value(message: Message, value: Any) -> None:
    assert message.kind is not Kind.TEXT
    if _is_flagged(message):
        return
    assert same(message.value, value)
    if not isinstance(value, dict):
        assert message.kind is Kind.INVALID
        return
    method = value.get("method")
    assert message.method == (method if isinstance(method, str) else None)
    assert ("id" in value) == (message.id is not None)
    if message.id is not None:
        assert same(json.loads(message.id), value["id"])
    assert message.kind is _kind(value)


def _kind(value: dict[str, Any]) -> Kind:
    """Say in the simplest way what an object is."""
    if "method" in value:
        if not isinstance(value["method"], str):
            return Kind.INVALID
        return Kind.REQUEST if "id" in value else Kind.NOTIFICATION
    if "id" not in value or not {"result", "error"} & {*value}:
        return Kind.INVALID
    return Kind.RESULT if "result" in value and value.get("error") is None else Kind.ERROR


def _check_reason(raw: bytes, message: Message) -> None:
    """Look whether JSON that is told to be hidden in a line is there."""
    if "hidden-json" not in message.flags:
        return
    match = _HIDDEN.search(message.reason or "")
    assert match is not None
    if match[1] is not None and not _LONG_NUMBER.search(raw):
        hidden = raw[int(match[1]) : int(match[2])]
        assert "jsonrpc" in json.loads(hidden.decode(errors="surrogateescape"))


def _is_flagged(message: Message) -> bool:
    return "unparsed" in message.flags


def _is_deep(raw: bytes) -> bool:
    return max(raw.count(b"["), raw.count(b"{")) > 300


def _without_value(message: Message) -> Message:
    return message._replace(value=None)


def _line_inputs() -> st.SearchStrategy[bytes]:
    texts = (json_texts() | object_texts()).map(str.encode)
    return st.one_of(message_lines(), mutations(), texts, lines(), st.binary(max_size=60))


# Correlation.


class _Open(NamedTuple):
    sender: Direction
    key: object
    seq: int
    cancelled: bool = False


def check_correlation(data: bytes) -> None:
    """Pair the messages of a conversation, and search for each request in a plain list."""
    indexer, decoder = Indexer(), Decoder()
    waiting: list[_Open] = []
    before = 0
    for direction, raw, _ in conversations.said(data):
        messages = messages_of(direction, Frame(0, raw, len(raw)))
        rows = indexer.rows(direction, Frame(0, raw, len(raw)), None, messages)
        assert [row[0] for row in rows] == list(range(before + 1, before + 1 + len(messages)))
        before += len(messages)
        for row, message in zip(rows, messages, strict=True):
            decoder.add(direction, message)
            waiting = _paired(waiting, direction, message, row)
    assert sorted(indexer.pending()) == sorted(one.seq for one in waiting)
    assert {one.seq for one in decoder.open_requests()} <= {one.seq for one in waiting}


def _paired(
    waiting: list[_Open], direction: Direction, message: Message, row: tuple[Any, ...]
) -> list[_Open]:
    """Return what is open after a message; compare its row with that."""
    seq, request_seq, flags = row[0], row[11], (row[14] or "").split()
    if message.kind is Kind.REQUEST:
        return [*waiting, _Open(direction, _key(message.id or ""), seq)]
    if message.kind in {Kind.RESULT, Kind.ERROR}:
        key = _key(message.id or "")
        mine = [x for x in waiting if x.sender is not direction and x.key == key]
        assert request_seq == (mine[0].seq if mine else None)
        assert ("orphan" in flags) is not bool(mine)
        assert ("late" in flags) is bool(mine and mine[0].cancelled)
        return [x for x in waiting if x.seq != request_seq]
    assert request_seq is None
    if message.kind is Kind.NOTIFICATION and message.method == "$/cancel_request":
        return _cancelled(waiting, direction, message)
    return waiting


def _cancelled(waiting: list[_Open], direction: Direction, message: Message) -> list[_Open]:
    params = message.value.get("params")
    target = params.get("requestId", ()) if isinstance(params, dict) else ()
    if isinstance(target, tuple | list | dict | bool):
        return waiting
    key = _key(str(getattr(target, "text", None) or json.dumps(target)))
    if isinstance(target, str):
        key = target, "text"
    return [
        x._replace(cancelled=True) if x.sender is direction and x.key == key else x for x in waiting
    ]


def _key(id_text: str) -> object:
    """Say in the simplest way when two ids are one."""
    if id_text.startswith('"'):
        return json.loads(id_text), "text"
    if id_text.startswith(("[", "{", "n", "t", "f")):
        return id_text, "other"
    if "." in id_text or "e" in id_text.lower():
        try:
            return Decimal(id_text), "fraction"
        except InvalidOperation:
            return id_text, "fraction"
    return Decimal(id_text), "integer"


FRAMING = Target(
    "framing",
    "however a stream is cut into chunks, the frames are its lines; together they are its bytes",
    check_framing,
    _framing_inputs,
    _framing_seeds,
)
CLASSIFICATION = Target(
    "classification",
    "never raises; on valid JSON it says what Python's parser says, on other lines it accepts none; "
    "hidden JSON is where it is told to be",
    check_classification,
    _line_inputs,
    conversations.line_seeds,
)
CORRELATION = Target(
    "correlation",
    "a response goes with the oldest open request of the other side that has its id, or with none; "
    "what is open is what was not answered",
    check_correlation,
    conversations.inputs,
    conversations.seeds,
)
