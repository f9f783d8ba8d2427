"""Targets for what messages come to: decoding and folding, and snapshots of states."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from acp_proxy.errors import LogError
from acp_proxy.state.following import Derived, Follower
from acp_proxy.state.growing import Blocks
from acp_proxy.state.snapshot import BadSnapshotError, Stored, growing_of, restore, things_of
from acp_proxy.views.state_json import state_document, state_text
from acp_proxy.views.state_page import state_page
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction
from tests.fuzz import conversations
from tests.fuzz.target import Bites, Target, damaged
from tests.state.folding import Folding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.state.fold import State

_ACTS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MAX = 2**63
_BASES = ("v1.jsonl", "v2.jsonl", "H", "L")
_MOST_BASES = 12


# Decoding and folding.


def check_folding(data: bytes) -> None:
    """Fold a conversation at once and in pieces, and derive from it what the log would hold."""
    whole, pieces = Folding(), Folding()
    once, often = Follower(), Follower()
    found = _Gathered()
    entries: list[Any] = []
    offsets = dict.fromkeys(Direction, 0)
    for direction, raw, is_cut in conversations.said(data):
        frame = Frame(offsets[direction], raw, len(raw))
        offsets[direction] += len(raw)
        entries += once.add(direction, frame, None)
        often.add(direction, frame, None)
        if is_cut:
            found.take(often.take())
        if direction is Direction.STDERR:
            continue
        if is_cut:
            pieces.restart()
            assert _text(pieces.state) == _text(whole.state)
        whole.line(direction, raw)
        pieces.line(direction, raw)
    text = _text(whole.state)
    assert _text(pieces.state) == text
    assert pieces.notes == whole.notes
    pieces.restart()
    assert _text(pieces.state) == text
    json.loads(text, parse_int=str, parse_float=str)
    assert not _ACTS.search(state_page(whole.state, 1))
    _check_derived(once, often, found, entries)


def _check_derived(once: Follower, often: Follower, found: _Gathered, entries: list[Any]) -> None:
    for follower in (once, often):
        follower.end()
    found.take(often.take())
    right = _Gathered()
    right.take(once.take())
    assert (found.rows, found.texts) == (right.rows, right.texts)
    for row in [*entries, *right.rows.values(), *right.texts.values()]:
        _check_storable(row)
    assert not any(_CONTROLS.search(text[-1]) for text in right.texts.values())


class _Gathered:
    """What a Follower derived, put together from what it gave at several times."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, int], tuple[Any, ...]] = {}
        self.texts: dict[tuple[int, int], tuple[Any, ...]] = {}

    def take(self, derived: Derived) -> None:
        """Add what it gave, as the log does."""
        for table, rows in derived.rows.items():
            self.rows |= {(table, key): row for key, row in rows.items()}
        for part in derived.void:
            self.texts = {key: x for key, x in self.texts.items() if key[0] != part or key[1] == 0}
        self.texts |= {(text.part, text.place): tuple(text) for text in derived.texts}


def _check_storable(row: tuple[Any, ...]) -> None:
    """Look whether SQLite can hold every value of a row."""
    for value in row:
        if isinstance(value, str):
            value.encode()
        elif isinstance(value, int):
            assert abs(value) < _MAX
        else:
            assert value is None or isinstance(value, bytes | float)


def _text(state: State) -> str:
    return state_text(state_document(state, 1))


# Snapshots.


@cache
def _bases() -> tuple[tuple[tuple[Stored, ...], tuple[tuple[Direction, bytes], ...]], ...]:
    """Return what checkpoints of conversations hold, and what was said after them."""
    found: list[tuple[tuple[Stored, ...], tuple[tuple[Direction, bytes], ...]]] = []
    for name, lines in conversations.recordings():
        if not name.startswith(_BASES) or not lines or len(found) >= _MOST_BASES:
            continue
        said = [(Direction(stream), raw) for stream, raw in lines if stream != "stderr"]
        folding = Folding()
        for number, (direction, raw) in enumerate(said):
            if number in {len(said) // 3, 2 * len(said) // 3}:
                folding.restart()
            folding.line(direction, raw)
        folding.restart()
        stored = folding.kept._stored
        found.append((tuple(stored[key] for key in sorted(stored)), tuple(said[-12:])))
    return tuple(found)


def check_snapshots(data: bytes) -> None:
    """Damage what checkpoints hold: it is refused, or gives a state that can be read and gone on."""
    bites = Bites(data)
    base, after = _bases()[bites.number() % len(_bases())]
    things = _damaged_things(list(base), bites)
    try:
        state, decoder = restore(things)
    except BadSnapshotError:
        assert things != list(base)
        return
    if things != list(base):  # what is in a head is the affair of the log's checksums
        _read_blocks(state)
        return
    json.loads(_text(state), parse_int=str, parse_float=str)
    state_page(state, 1)
    folding = Folding()
    folding.state, folding.decoder = state, decoder
    folding.state.watch()
    for direction, raw in after:
        folding.line(direction, raw)
    _text(folding.state)


def _read_blocks(state: State) -> None:
    """Read what grows, which is parsed only now: it may be damaged, nothing else may happen."""
    for session in state.sessions.values():
        for thing in things_of(session):
            growing = growing_of(thing)
            if isinstance(growing, Blocks):
                try:
                    list(growing)
                except LogError:
                    continue


def _damaged_things(things: list[Stored], bites: Bites) -> list[Stored]:
    for _ in range(4):
        if not bites or not things:
            break
        way, at = bites.number() % 8, bites.number(2) % len(things)
        thing = things[at]
        if way <= 3:
            things[at] = thing._replace(head=damaged(thing.head, bites, 1 + way))
        elif way == 4:
            things[at] = thing._replace(tails=_damaged_tails(thing.tails, bites))
        elif way == 5:
            del things[at]
        elif way == 6:
            things[at] = thing._replace(key=thing.key ^ (1 << bites.number() % 40))
        else:
            things[at] = thing._replace(head=bites.piece(bites.number()))
    return things


def _damaged_tails(tails: list[bytes], bites: Bites) -> list[bytes]:
    if not tails:
        return [bites.piece(8)]
    at = bites.number() % len(tails)
    return [*tails[:at], damaged(tails[at], bites, 2), *tails[at + 1 :]]


def _snapshot_inputs() -> st.SearchStrategy[bytes]:
    return st.binary(max_size=60)


def _snapshot_seeds() -> Iterator[bytes]:
    for base, (things, _) in enumerate(_bases()):
        yield bytes([base])
        for at in range(0, len(things), max(1, len(things) // 8)):
            place = at.to_bytes(2, "big")
            for way in range(8):
                yield bytes([base, way]) + place + b"\x01\x00\x00\x20\x35"
            head = things[at].head[:250]
            yield bytes([base, 7]) + place + bytes([len(head)]) + head


FOLDING = Target(
    "folding",
    "decoding and folding never raise; in pieces is as at once; state is JSON, its page harmless; "
    "what is derived depends on the frames alone and can be stored",
    check_folding,
    conversations.inputs,
    conversations.seeds,
)
SNAPSHOTS = Target(
    "snapshots",
    "what was saved is restored; damaged bytes are refused as such, or give a state",
    check_snapshots,
    _snapshot_inputs,
    _snapshot_seeds,
    512,
)
