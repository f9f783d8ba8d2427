"""The bytes of a journal: what is written is read, and nothing that was not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.journal.records import (
    HEAD_SIZE,
    Facts,
    Record,
    Slot,
    Stream,
    decode_facts,
    decode_header,
    decode_record,
    encode_facts,
    encode_head,
    encode_header,
)

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
facts = st.dictionaries(
    st.text("abcdefgh_", min_size=1),
    st.one_of(texts, st.integers(-(2**63), 2**63 - 1), st.lists(texts)),
)


@pytest.mark.slow
@given(facts)
def test_facts_survive(given: Facts) -> None:
    assert decode_facts(encode_facts(given)) == given


def test_facts_keep_paths_that_are_no_utf8() -> None:
    path = b"/tmp/\xff\xfe".decode(errors="surrogateescape")

    assert decode_facts(encode_facts({"cwd": path})) == {"cwd": path}


def test_a_nul_in_a_fact_becomes_visible() -> None:
    assert decode_facts(encode_facts({"label": "a\0b"})) == {"label": "a\u2400b"}


@given(st.binary())
def test_any_bytes_can_be_read_as_facts(data: bytes) -> None:
    assert isinstance(decode_facts(data), dict)


@pytest.mark.parametrize(
    "data",
    [b"a=i:--1\0", "a=i:²\0".encode(), b"a=i:" + b"9" * 5000 + b"\0", b"a=l:-2\0", b"a=l:--\0"],
)
def test_what_is_no_number_is_left_out(data: bytes) -> None:
    assert decode_facts(data + b"b=i:-7\0") == {"b": -7}


@given(st.integers(8, 55), st.integers(0, 7))
def test_a_flipped_bit_in_the_slot_is_noticed(at: int, bit: int) -> None:
    header = bytearray(encode_header(Slot((1, 2, 3), 4, 5)))
    header[at] ^= 1 << bit

    slot = decode_header(bytes(header))
    assert slot is not None
    assert slot == (Slot((1, 2, 3), 4, 5) if 12 <= at < 16 else Slot(is_sound=False))


def test_a_header_without_a_checksum_is_read() -> None:
    header = bytearray(encode_header(Slot((1, 2, 3), 4)))
    header[8:12] = bytes(4)

    assert decode_header(bytes(header)) == Slot((1, 2, 3), 4)


@given(st.tuples(*[st.integers(0, 2**62)] * 3), st.one_of(st.none(), st.integers(0, 2**31)))
def test_the_header_survives(lost: tuple[int, int, int], status: int | None) -> None:
    assert decode_header(encode_header(Slot(lost, status))) == Slot(lost, status)


@given(st.binary(max_size=100))
def test_what_is_no_header_is_none(data: bytes) -> None:
    assert decode_header(data) is None


@given(st.sampled_from(Stream), st.integers(0, 2**61), st.binary(max_size=300), st.data())
def test_a_record_survives_and_no_part_of_one_is_taken_for_one(
    stream: Stream, offset: int, data: bytes, draw: st.DataObject
) -> None:
    whole = encode_head(stream, offset, 5, 7, data) + data
    cut = draw.draw(st.integers(0, len(whole) - 1))

    assert decode_record(whole, 0, 40) == Record(40, stream, offset, 5, 7, data)
    assert decode_record(b"xyz" + whole, 3, 40) == Record(40, stream, offset, 5, 7, data)
    assert decode_record(whole[:cut], 0, 40) is None


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_flipped_bit_is_noticed(data: bytes, draw: st.DataObject) -> None:
    whole = bytearray(encode_head(Stream.AGENT, 10, 5, 7, data) + data)
    at = draw.draw(st.integers(0, len(whole) - 1).filter(lambda at: at not in range(33, HEAD_SIZE)))
    whole[at] ^= 1 << draw.draw(st.integers(0, 7))

    assert decode_record(bytes(whole), 0, 0) is None


def test_the_end_of_a_record_is_where_the_next_begins() -> None:
    record = Record(64, Stream.CLIENT, 0, 0, 0, b"12345")

    assert record.end == 64 + HEAD_SIZE + 5
