"""Lines come out whole, in order and bit for bit, however the stream was cut into chunks."""

from __future__ import annotations

import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_proxy.wire.framing import KEPT_PREFIX, Frame, LineFramer
from tests.strategies import splits, streams
from tests.wire.shape import LINEAR, growth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FRAME = b'{"jsonrpc":"2.0","id":1,"result":{}}'
CASES = {
    "nothing": (b"", []),
    "one frame": (FRAME + b"\n", [FRAME + b"\n"]),
    "no final newline": (FRAME + b"\n" + FRAME, [FRAME + b"\n", FRAME]),
    "CRLF": (FRAME + b"\r\n" + FRAME + b"\r\n", [FRAME + b"\r\n"] * 2),
    "a carriage return alone": (b"a\rb\r\n\r", [b"a\rb\r\n", b"\r"]),
    "blank lines": (b"\n\n" + FRAME + b"\n\n", [b"\n", b"\n", FRAME + b"\n", b"\n"]),
    "blank CRLF lines": (b"\r\n\r\nx", [b"\r\n", b"\r\n", b"x"]),
    "a byte-order mark": (b"\xef\xbb\xbf" + FRAME + b"\n", [b"\xef\xbb\xbf" + FRAME + b"\n"]),
    "NULs": (b"\x00\n\x00\x00\n\x00", [b"\x00\n", b"\x00\x00\n", b"\x00"]),
    "UTF-16": ("a\nb".encode("utf-16-le"), [b"a\x00\n", b"\x00b\x00"]),
    "invalid UTF-8": (b"\xff\xfe\x00\n\xc3\n\xaf\n", [b"\xff\xfe\x00\n", b"\xc3\n", b"\xaf\n"]),
    "other separators": (
        "a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\x1dh\x1ei\r\n".encode() + b"\x85\n",
        ["a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\x1dh\x1ei\r\n".encode(), b"\x85\n"],
    ),
    "an escape before JSON": (b"\x1b]0;x\x07" + FRAME + b"\n", [b"\x1b]0;x\x07" + FRAME + b"\n"]),
    "a long line": (b"x" * 300_000 + b"\ny\n", [b"x" * 300_000 + b"\n", b"y\n"]),
}
WAYS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda stream: [stream],
    "byte by byte": lambda stream: [stream[at : at + 1] for at in range(len(stream))],
    "with empty chunks": lambda stream: (
        [b"", *(x for b in stream[:500] for x in (bytes([b]), b"")), stream[500:]]
    ),
    "in pairs": lambda stream: [stream[at : at + 2] for at in range(0, len(stream), 2)],
    "at random": lambda stream: _cut(stream, random.Random(7)),
}


def _cut(stream: bytes, dice: random.Random) -> list[bytes]:
    chunks = []
    while stream:
        size = dice.choice([1, 2, 3, 17, 4096, 65536])
        chunks.append(stream[:size])
        stream = stream[size:]
    return chunks


def _frames(framer: LineFramer, chunks: Iterable[bytes]) -> list[Frame]:
    frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
    last = framer.close()
    return frames if last is None else [*frames, last]


def _expected(stream: bytes, keep: int | None = None, offset: int = 0) -> list[Frame]:
    """Say the same as LineFramer, in the shortest way."""
    frames = []
    for raw in stream.split(b"\n"):
        line = raw + b"\n"
        if offset + len(line) > len(stream):
            line = raw
        if line:
            kept = line if keep is None or len(line) <= keep else line[:KEPT_PREFIX]
            frames.append(Frame(offset, kept, len(line)))
        offset += len(line)
    return frames


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_a_stream_is_cut_at_newlines_only_however_it_comes(case: str, way: str) -> None:
    stream, expected = CASES[case]

    frames = _frames(LineFramer(), WAYS[way](stream))

    assert [frame.raw for frame in frames] == expected
    assert frames == _expected(stream)


@given(streams(), st.data())
def test_any_split_of_any_stream_gives_the_same_frames(stream: bytes, data: st.DataObject) -> None:
    chunks = data.draw(splits(stream))

    frames = _frames(LineFramer(), chunks)

    assert frames == _expected(stream)


@given(streams(), st.data(), st.integers(0, 2**40))
def test_frames_are_contiguous_and_give_the_stream_back(
    stream: bytes, data: st.DataObject, offset: int
) -> None:
    frames = _frames(LineFramer(offset), data.draw(splits(stream)))

    assert b"".join(frame.raw for frame in frames) == stream
    for frame in frames:
        assert frame.offset == offset
        assert frame.size == len(frame.raw)
        offset += frame.size


@given(streams(), st.data())
def test_a_frame_comes_with_the_chunk_that_ends_it(stream: bytes, data: st.DataObject) -> None:
    framer, fed, seen = LineFramer(), 0, 0
    for chunk in data.draw(splits(stream)):
        fed += len(chunk)
        seen += sum(frame.size for frame in framer.feed(chunk))

        assert seen == stream[:fed].rfind(b"\n") + 1
        assert framer.offset == seen


def test_a_framer_can_be_closed_twice_and_fed_again() -> None:
    framer = LineFramer()
    framer.feed(b"ab")

    assert framer.close() == Frame(0, b"ab", 2)
    assert framer.close() is None
    assert framer.feed(b"cd\n") == [Frame(2, b"cd\n", 3)]
    assert framer.close() is None


def test_bytes_that_are_not_known_are_stepped_over() -> None:
    framer = LineFramer()
    assert framer.feed(b"a\nbc") == [Frame(0, b"a\n", 2)]
    assert framer.close() == Frame(2, b"bc", 2)

    framer.skip(1000)

    assert framer.offset == 1004
    assert framer.feed(b"d\n") == [Frame(1004, b"d\n", 2)]


def test_skipping_nothing_changes_nothing() -> None:
    framer = LineFramer(offset=5)
    framer.skip(0)
    assert framer.feed(b"\n") == [Frame(5, b"\n", 1)]


LENGTHS = st.sampled_from([
    0, 1, 2, KEPT_PREFIX - 2, KEPT_PREFIX - 1, KEPT_PREFIX, KEPT_PREFIX + 1, 100_000, 200_000,
])  # fmt: skip


@settings(max_examples=40)
@given(
    st.lists(LENGTHS, min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from([0, 1, 50_000, KEPT_PREFIX - 1, KEPT_PREFIX, KEPT_PREFIX + 1, 100_000, 10**9]),
    st.integers(1, 2**32),
    st.sampled_from([50, 4096, 30_000, 65_536, 10**7]),
)
def test_a_line_longer_than_keep_gives_a_prefix_and_its_true_size(
    lengths: list[int], ended: bool, keep: int, seed: int, largest: int
) -> None:
    lines = [(b"\xc3\xaf\x00{" * length)[:length] for length in lengths]
    stream = b"\n".join(lines) + b"\n" * ended
    dice = random.Random(seed)
    chunks = []
    rest = stream
    while rest:
        size = dice.randint(max(1, largest // 2), largest)
        chunks.append(rest[:size])
        rest = rest[size:]

    frames = _frames(LineFramer(keep=keep), chunks)

    assert frames == _expected(stream, keep)


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_keep_counts_the_terminator(excess: int) -> None:
    keep = 2 * KEPT_PREFIX
    line = b"x" * (keep + excess - 1) + b"\n"

    [frame] = _frames(LineFramer(keep=keep), [line[:100], line[100:]])

    assert frame.size == len(line)
    assert frame.raw == (line if excess <= 0 else line[:KEPT_PREFIX])


def test_a_line_after_one_that_was_too_long_is_whole_again() -> None:
    framer = LineFramer(keep=100_000)
    chunk = b"x" * 10_000
    frames = [frame for _ in range(50) for frame in framer.feed(chunk)]
    frames += framer.feed(b"\nshort\n")

    assert [(frame.offset, frame.size) for frame in frames] == [(0, 500_001), (500_001, 6)]
    assert [len(frame.raw) for frame in frames] == [KEPT_PREFIX, 6]


def test_memory_stays_near_keep_whatever_the_length_of_a_line() -> None:
    keep, chunk = 256 * 1024, b"x" * 65_536
    framer = LineFramer(keep=keep)
    tracemalloc.start()
    try:
        for _ in range(1000):  # 64 MB
            framer.feed(chunk[:-1] + b"y")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    [frame] = framer.feed(b"\n")
    assert frame.size == 65_536_001
    assert len(frame.raw) == KEPT_PREFIX
    assert peak < 3 * keep


def test_memory_for_one_line_in_small_chunks_is_a_small_multiple_of_it() -> None:
    stream = b"0123456789abcdef" * 65_536  # 1 MiB
    framer = LineFramer()
    tracemalloc.start()
    try:
        for at in range(0, len(stream), 16):
            framer.feed(stream[at : at + 16])
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert framer.close() == Frame(0, stream, len(stream))
    assert held < 8 * len(stream)


@pytest.mark.parametrize("keep", [None, 100_000, KEPT_PREFIX])
@pytest.mark.parametrize("size", [1, 64])
def test_the_cost_of_a_long_line_in_small_chunks_is_linear(keep: int | None, size: int) -> None:
    def prepare(chunks: int) -> Callable[[], object]:
        chunk = b"x" * size

        def work() -> None:
            framer = LineFramer(keep=keep)
            for _ in range(chunks):
                framer.feed(chunk)
            framer.close()

        return work

    assert growth(prepare, 30_000) < LINEAR


def test_the_cost_of_many_lines_in_one_chunk_is_linear() -> None:
    def prepare(lines: int) -> Callable[[], object]:
        stream = b"x" + b"{}\n" * lines
        return lambda: (framer := LineFramer()).feed(b"y") + framer.feed(stream)

    assert growth(prepare, 20_000) < LINEAR
