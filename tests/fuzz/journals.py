"""Target for journals: what was appended is read again, what was damaged is told and never made up."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from acp_proxy.journal.append import JournalWriter
from acp_proxy.journal.records import (
    HEADER_SIZE,
    Facts,
    Record,
    Slot,
    Stream,
    decode_facts,
    encode_facts,
)
from acp_proxy.journal.tail import JournalReader
from tests.fuzz.target import Bites, Target, damaged

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_RECORDS = 12
_BYTES = (Stream.CLIENT, Stream.AGENT, Stream.STDERR)
_FACTS: tuple[Facts, ...] = (
    {"event": "end", "stream": "client"},
    {"event": "stderr dropped", "bytes": 7},
    {"event": "start", "uuid": "u", "command": ["a", "", "b=c"], "proxy_pid": 1, "cwd": "/\udcff"},
    {},
)


def check_journal(data: bytes) -> None:
    """Write a journal, read it, damage it, and read it again."""
    bites = Bites(data)
    facts = bites.piece(bites.number())
    decoded = decode_facts(facts)
    assert decode_facts(encode_facts(decoded)) == {
        key: _seen(value) for key, value in decoded.items()
    } or _is_odd(decoded)
    path = _folder() / "journal"
    path.unlink(missing_ok=True)
    written, status = _write(path, bites)
    records, slot = _read(path)
    assert [(one.stream, one.data) for one in records] == written
    end = 0 if status is None else path.stat().st_size
    assert slot == Slot((0, 0, 0), status, end)
    _check_offsets(records)
    if bites:
        _check_damaged(path, bites, records, slot)


def _write(path: Path, bites: Bites) -> tuple[list[tuple[Stream, bytes]], int | None]:
    writer = JournalWriter(str(path), _FACTS[2])
    written = [(Stream.CONTROL, encode_facts(_FACTS[2]))]
    for _ in range(bites.number() % _MOST_RECORDS):
        what = bites.number() % 8
        if what < 6:
            chunk = bites.piece(bites.number()) or b"x"
            writer.append(_BYTES[what % 3], chunk)
            written.append((_BYTES[what % 3], chunk))
        else:
            writer.note(_FACTS[what % 4])
            written.append((Stream.CONTROL, encode_facts(_FACTS[what % 4])))
    if bites.number() % 2:
        status = bites.number(2)
        writer.close(status)
        written.append((Stream.CONTROL, encode_facts({"event": "exit", "wait_status": status})))
        return written, status
    os.close(writer._fd)
    return written, None


def _check_damaged(path: Path, bites: Bites, right: list[Record], slot: Slot | None) -> None:
    before = path.read_bytes()
    way = bites.number() % 8
    if way == 0:  # torn at its end, as by a kill
        after = before[: HEADER_SIZE + bites.number(2) % (len(before) - HEADER_SIZE)]
    elif way == 1:  # a page that the disk lost
        at = bites.number(2) % len(before)
        after = (before[:at] + bytes(bites.number(2)))[: len(before)]
        after += before[len(after) :]
    else:
        after = damaged(before, bites)
    path.write_bytes(after)
    found, slot_found = _read(path)
    if len(after) == len(before):
        assert found == right[: len(found)]
    else:  # bytes were put in or taken out: a record may be gone as if it had never been
        left = iter([one._replace(position=0) for one in right])
        assert all(one._replace(position=0) in left for one in found), "a made-up record"
    with JournalReader(str(path)) as reader:
        end = found[-1].end if found else HEADER_SIZE
        if len(after) == len(before) and _must_be_told(slot_found, found, right, before, after):
            assert reader.is_damaged(end), "records are lost without a word"
        if way == 0:
            is_short = slot is not None and slot.end > end
            assert reader.is_damaged(end) is is_short, "only a closed journal has no torn end"
    if slot_found is not None and slot_found.is_sound and after[8:12] != bytes(4):
        assert slot_found == slot, "a made-up slot"


def _must_be_told(
    slot: Slot | None, found: list[Record], right: list[Record], before: bytes, after: bytes
) -> bool:
    """Tell whether lost records must be noticed: the last one may look like a torn end."""
    if slot is None or len(found) == len(right):
        return False
    return slot.end > 0 or any(
        before[one.position : one.end] == after[one.position : one.end]
        for one in right[len(found) + 1 :]
    )


def _read(path: Path) -> tuple[list[Record], Slot | None]:
    with JournalReader(str(path)) as reader:
        return list(reader.records()), reader.slot()


def _check_offsets(records: list[Record]) -> None:
    offsets = dict.fromkeys(Stream, 0)
    position = HEADER_SIZE
    for record in records:
        assert record.position == position
        assert record.offset == offsets[record.stream]
        if record.stream is not Stream.CONTROL:
            offsets[record.stream] += len(record.data)
        position = record.end


def _seen(value: str | int | list[str]) -> str | int | list[str]:
    return value


def _is_odd(facts: Facts) -> bool:
    """Tell whether facts have a name that no program of ours writes."""
    return any("=" in key or not key for key in facts)


@cache
def _folder() -> Path:
    name = tempfile.mkdtemp(prefix="acp-proxy-fuzz-")
    atexit.register(shutil.rmtree, name, ignore_errors=True)
    return Path(name)


@st.composite
def _inputs(draw: st.DrawFn) -> bytes:
    def one(size: int) -> bytes:
        return bytes([draw(st.integers(0, 255)) % size])

    facts = draw(
        st.sampled_from([b"", *map(encode_facts, _FACTS), b"a=i:--1\0", b"a=l:-2\0b=l:9\0c\0"])
        | st.binary(max_size=20)
    )
    count = draw(st.integers(0, _MOST_RECORDS - 1))
    parts = [bytes([len(facts)]), facts, bytes([count])]
    for _ in range(count):
        what = one(8)
        parts.append(what)
        if what[0] < 6:
            chunk = draw(st.binary(min_size=1, max_size=40))
            parts += [bytes([len(chunk)]), chunk]
    parts += [one(2), b"\x00\x05", draw(st.binary(max_size=40))]
    return b"".join(parts)


def _seeds() -> Iterator[bytes]:
    body = b"\x04\x00\x05hello\x01\x03abc\x06\x02\x04\xff\x00\x01\x02\x01\x00\x07"
    for facts in map(encode_facts, _FACTS):
        for way in range(8):
            yield bytes([len(facts)]) + facts + body + bytes([way, way, 0, 0, 70, 1])
            yield bytes([len(facts)]) + facts + body + bytes([2, 0, 0, 0, 64 + way, way])


JOURNAL = Target(
    "journal",
    "what was appended is read again; of a damaged journal a beginning is read, and the damage is "
    "told; no record is made up",
    check_journal,
    _inputs,
    _seeds,
    1024,
)
