"""The bytes of a journal: its header, its records, the facts in control records.

A file is a header of HEADER_SIZE bytes, then records without padding. A record is
a fixed head (length, checksum, stream, offset in the stream, two clocks) and its
bytes. The checksum covers all that follows it, so a record that was not written
whole (kill, power, a full disk) is never taken for a whole one.

The header holds one slot that can be rewritten in place, on a disk too full for
another record: how far the streams went without one, the agent's end, and where the
file ended then. It has a checksum of its own.
"""

import re
import struct
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

from acp_proxy.installation import UNSEALED

MAGIC = b"ACPJRNL1"
HEADER_SIZE = 64
_HEADER = struct.Struct("<8sI4xQQQqQ8s")
_SLOT = slice(16, 56)
"""What the header's checksum covers; a checksum of 0 is one that an older proxy did not take."""
SEAL_AT = 56
"""Where the seal stands in the header; its checksum does not cover it."""
HEAD = struct.Struct("<IIQqqB3x")
"""length, checksum, offset in the stream, monotonic ns, wall clock ns, stream."""
HEAD_SIZE = HEAD.size
MAX_DATA = 16 * 1024 * 1024
"""No record holds more bytes; a head that claims more is not sound."""
_CHECKED_FROM = 8  # the checksum covers the head from here on, and the bytes
_NO_STATUS = -(2**63)
_LONGEST_STREAM = 2**62
"""No stream is longer; what says so was never written by us, and no table could hold it."""
_BEFORE_STREAM = 32
_HEADS_END = re.compile(rb"[\x00-\x03]\x00\x00\x00")
_MAX_SEARCHED = 64 * 1024 * 1024
"""So many bytes are checked, at most, in search of a record among other bytes."""
_INTEGER = re.compile(r"-?[0-9]{1,19}")

Facts = dict[str, str | int | list[str]]
"""What a control record says: names to texts, numbers or lists of texts."""


class Stream(IntEnum):
    """Where the bytes of a record came from."""

    CLIENT = 0
    AGENT = 1
    STDERR = 2
    CONTROL = 3


class Record(NamedTuple):
    """One record of a journal.

    Attributes:
        position: Where it begins in the file.
        stream: Whose bytes they are; CONTROL for facts about the connection.
        offset: Where they stand in their stream; 0 for control records.
        monotonic_ns: The proxy's monotonic clock when they were read.
        time_ns: The wall clock then, in ns since 1970.
        data: The bytes.

    """

    position: int
    stream: Stream
    offset: int
    monotonic_ns: int
    time_ns: int
    data: bytes

    @property
    def end(self) -> int:
        """Where the next record begins."""
        return self.position + HEAD_SIZE + len(self.data)


class Slot(NamedTuple):
    """What the header's slot says.

    Attributes:
        reached: Offset in each stream up to which bytes were relayed, where the last of them found no
            room for a record; 0 where all have one.
        wait_status: The agent's status as wait(2) gives it, None while unknown.
        end: Size of the file when it was closed; 0 while it is not.
        is_sound: Whether its checksum is right; nothing else is told by one that is not.

    """

    reached: tuple[int, int, int] = (0, 0, 0)
    wait_status: int | None = None
    end: int = 0
    is_sound: bool = True


def encode_header(slot: Slot, seal: bytes = UNSEALED) -> bytes:
    """Return the first HEADER_SIZE bytes of a journal.

    Args:
        slot: What the header's slot says.
        seal: Proof that this installation made the journal (``installation.seal``).

    """
    status = _NO_STATUS if slot.wait_status is None else slot.wait_status
    values = (*slot.reached, status, slot.end, seal)
    return _HEADER.pack(MAGIC, crc32(_HEADER.pack(MAGIC, 0, *values)[_SLOT]), *values)


def decode_header(data: bytes) -> Slot | None:
    """Return a header's slot, None when these bytes begin no journal."""
    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):
        return None
    _, checksum, client, agent, stderr, status, end, _ = _HEADER.unpack_from(data)
    if (checksum and checksum != crc32(data[_SLOT])) or max(
        client, agent, stderr
    ) > _LONGEST_STREAM:
        return Slot(is_sound=False)
    return Slot((client, agent, stderr), None if status == _NO_STATUS else status, end)


def seal_of(header: bytes) -> bytes:
    """Return the seal in a header; ``UNSEALED`` when these bytes are not one."""
    return header[SEAL_AT:HEADER_SIZE] if len(header) >= HEADER_SIZE else UNSEALED


def encode_head(stream: Stream, offset: int, monotonic_ns: int, time_ns: int, data: bytes) -> bytes:
    """Return the head that goes before ``data``."""
    head = HEAD.pack(len(data), 0, offset, monotonic_ns, time_ns, stream)
    checksum = crc32(data, crc32(head[_CHECKED_FROM:]))
    return head[:4] + checksum.to_bytes(4, "little") + head[_CHECKED_FROM:]


def decode_record(buffer: bytes | memoryview, at: int, position: int) -> Record | None:
    """Return the record at ``buffer[at:]``, None when it is not there whole and sound.

    Args:
        buffer: Bytes of the file.
        at: Where the record begins in them.
        position: Where the record begins in the file.

    """
    if len(buffer) - at < HEAD_SIZE:
        return None
    length, checksum, offset, monotonic_ns, time_ns, stream = HEAD.unpack_from(buffer, at)
    start = at + HEAD_SIZE
    if len(buffer) - start < length or length > MAX_DATA or stream > Stream.CONTROL:
        return None
    if offset + length > _LONGEST_STREAM:
        return None
    data = bytes(buffer[start : start + length])
    if crc32(data, crc32(buffer[at + _CHECKED_FROM : start])) != checksum:
        return None
    return Record(position, Stream(stream), offset, monotonic_ns, time_ns, data)


def record_length(buffer: bytes | memoryview, at: int) -> int | None:
    """Return how long the record at ``buffer[at:]`` claims to be, head included; None if absurd."""
    if len(buffer) - at < HEAD_SIZE:
        return None
    (length,) = struct.unpack_from("<I", buffer, at)
    return HEAD_SIZE + int(length) if length <= MAX_DATA else None


def holds_record(buffer: bytes) -> bool:
    """Tell whether a whole and sound record stands anywhere in bytes.

    Where that would take long, in bytes made to look like many records, it is taken for granted.
    """
    searched = 0
    for match in _HEADS_END.finditer(buffer, _BEFORE_STREAM):
        at = match.start() - _BEFORE_STREAM
        length = record_length(buffer, at)
        if length is None or at + length > len(buffer):
            continue
        searched += length
        if searched > _MAX_SEARCHED or decode_record(buffer, at, 0) is not None:
            return True
    return False


def encode_facts(facts: Facts) -> bytes:
    r"""Return facts as the bytes of a control record: ``key=kind:value`` fields, NUL-ended.

    >>> decode_facts(encode_facts({"event": "start", "pid": 7, "command": ["a", ""]}))
    {'event': 'start', 'pid': 7, 'command': ['a', '']}
    """
    fields: list[str] = []
    for key, value in facts.items():
        if isinstance(value, int):
            fields.append(f"{key}=i:{value}")
        elif isinstance(value, str):
            fields.append(f"{key}=s:{value}")
        else:
            fields.append(f"{key}=l:{len(value)}")
            fields.extend(value)
    # A NUL cannot be in an argument, a path or an environment; in a label it becomes visible.
    return b"".join(
        field.replace("\0", "\u2400").encode(errors="surrogateescape") + b"\0" for field in fields
    )


def decode_facts(data: bytes) -> Facts:
    """Return the facts in a control record; what cannot be understood is left out."""
    fields = [field.decode(errors="surrogateescape") for field in data.split(b"\0")][:-1]
    facts: Facts = {}
    at = 0
    while at < len(fields):
        key, _, typed = fields[at].partition("=")
        kind, _, text = typed.partition(":")
        at += 1
        if kind == "s":
            facts[key] = text
        elif kind == "i" and _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
            facts[key] = int(text)
        elif kind == "l" and _INTEGER.fullmatch(text) and not text.startswith("-"):
            facts[key] = fields[at : at + int(text)]
            at += int(text)
    return facts
