"""Packs: what goes in comes out, and what is damaged is told."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.log.packing import BadPackError, pack, unpack


@given(st.lists(st.binary(min_size=1), min_size=1), st.integers(1, 2**32 - 1000))
def test_frames_come_out_as_they_went_in(raws: list[bytes], first: int) -> None:
    frames = [(first + place, len(raw), raw) for place, raw in enumerate(raws)]

    sizes, joined = unpack(pack(frames))

    assert sizes == [(seq, size) for seq, size, _ in frames]
    assert joined == b"".join(raws)


def test_any_flipped_bit_is_noticed() -> None:
    data = pack([(1, 300, b"some words " * 30)])

    for place in range(len(data)):
        for bit in (0, 7):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            try:
                same = unpack(bytes(damaged)) == unpack(data)
            except BadPackError:
                continue
            assert same, place  # the header's bit that says nothing


def test_a_pack_that_claims_to_be_enormous_is_not_believed() -> None:
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(64 * 1024 * 1024))

    for data in (bomb, b"", b"no pack", zstandard.compress(b"no line"), zstandard.compress(b"7\n")):
        with pytest.raises(BadPackError, match="damaged"):
            unpack(data)
