"""Seeds and inputs that are conversations: a line each, before it a byte that says whose it is.

The byte's rest by three (in lower case) is the stream: ``c`` client, ``a`` agent, ``e`` stderr.
In upper case it also says: here the fold is cut, saved and taken up again.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from acp_proxy.wire.jsonrpc import Direction
from tests.state.talk import said_lines
from tests.strategies import message_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CONVERSATIONS = Path(__file__).resolve().parent.parent / "conversations"
_SHARED = Path(__file__).resolve().parents[3] / "shared"
_BY_REST = (Direction.CLIENT, Direction.AGENT, Direction.STDERR)
_LETTERS = {"client": b"c", "agent": b"a", "stderr": b"e"}
_LONGEST_LINE = 3000
_WINDOW = 12

Said = list[tuple[Direction, bytes]]


def said(data: bytes) -> Iterator[tuple[Direction, bytes, bool]]:
    """Yield who says what in an input, and whether the fold is cut before it."""
    for line in data.split(b"\n"):
        if line:
            yield _BY_REST[(line[0] | 0x20) % 3], line[1:] + b"\n", not line[0] & 0x20


def written(lines: Iterable[tuple[str, bytes]]) -> bytes:
    """Return lines as an input; a line that holds a newline would be several."""
    return b"".join(_LETTERS[stream] + raw.rstrip(b"\n") + b"\n" for stream, raw in lines)


def inputs() -> st.SearchStrategy[bytes]:
    """Conversations of two peers, sensible or nearly so, cut here and there; also just bytes."""
    talkers = st.sampled_from([b"c", b"c", b"a", b"a", b"a", b"e", b"C", b"A"])
    loose = st.lists(
        st.tuples(talkers, message_lines()).map(lambda pair: pair[0] + pair[1]), max_size=12
    ).map(b"".join)
    sensible = st.tuples(said_lines(), st.sets(st.integers(0, 30))).map(
        lambda pair: b"".join(
            _cut(_LETTERS[direction.value], number in pair[1]) + raw + b"\n"
            for number, (direction, raw) in enumerate(pair[0])
        )
    )
    return sensible | sensible | loose | st.sampled_from(list(seeds())) | st.binary(max_size=200)


def _cut(letter: bytes, is_cut: bool) -> bytes:
    return letter.upper() if is_cut else letter


@cache
def recordings() -> tuple[tuple[str, tuple[tuple[str, bytes], ...]], ...]:
    """Return the conversations that are at hand: name, and stream and bytes of each line."""
    paths = [*_CONVERSATIONS.glob("*.jsonl"), *(_SHARED / "captures").glob("*.jsonl")]
    found = [(path.name, tuple(_frames_of(path))) for path in sorted(paths)]
    vectors = _SHARED / "vectors" / "state.json"
    if vectors.is_file():
        for vector in json.loads(vectors.read_text()):
            lines = tuple(
                (frame["from"], json.dumps(frame["message"]).encode())
                for frame in vector.get("frames", ())
                if "message" in frame
            )
            found.append((vector["id"], lines))
    return tuple(found)


def seeds() -> Iterator[bytes]:
    """Yield windows of the recorded conversations, without what would be too long."""
    for _, lines in recordings():
        short = [(stream, raw) for stream, raw in lines if len(raw) < _LONGEST_LINE]
        beginning = short[:2]
        step = max(_WINDOW, len(short) // 8)
        yield from (
            written([*beginning, *short[at : at + _WINDOW]]) for at in range(2, len(short), step)
        )
        if len(short) <= _WINDOW:
            yield written(short)


def line_seeds() -> Iterator[bytes]:
    """Yield lines of the recorded conversations, the first of each length and method."""
    known = set()
    for _, lines in recordings():
        for _, raw in lines:
            key = (len(raw) // 100, raw[16:60])
            if len(raw) < _LONGEST_LINE and key not in known:
                known.add(key)
                yield raw


def _frames_of(path: Path) -> Iterator[tuple[str, bytes]]:
    for text in path.read_text().splitlines():
        line: dict[str, Any] = json.loads(text)
        if "from" not in line:
            continue
        if "dataBase64" in line:
            yield line["from"], base64.b64decode(line["dataBase64"])
        elif "data" in line:
            yield line["from"], line["data"].encode()
        else:
            yield line["from"], json.dumps(line["message"]).encode()
