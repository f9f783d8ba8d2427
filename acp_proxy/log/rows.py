"""What the log's tables hold, as Python sees it. No SQL here.

The order of the codes is part of the schema (migrations m0001): append only.
"""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.log import checksums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STREAMS = ("client", "agent", "stderr")
"""Streams by their code in the log."""
KINDS = ("notification", "request", "result", "error", "text", "invalid")
"""Kinds of message by their code in the log."""
STATUSES = ("running", "exited", "killed", "lost", "imported")
"""How a connection stands or ended."""
ENDED = ("exited", "killed", "lost")
"""Statuses after which no answer can come."""


def frame_id(connection_id: int, seq: int) -> int:
    """Return the key of the frame whose first message has that seq.

    One integer for both, in the order of the conversation: no index is needed beside
    the table. There is room for 2**31 connections of 2**32 messages.
    """
    return (connection_id << 32) + seq


def frame_range(connection_id: int, from_seq: int = 0) -> tuple[int, int]:
    """Return the first and the last key that a connection's frames can have, from a seq on."""
    return frame_id(connection_id, from_seq), frame_id(connection_id + 1, 0) - 1


def place_of(id_: int) -> tuple[int, int]:
    """Return the connection and the seq of a frame's key."""
    return id_ >> 32, id_ & 0xFFFFFFFF


def as_stored(text: str) -> str:
    """Return a text as the log has it: halves of surrogate pairs, which SQLite refuses, escaped."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


class Gaps:
    """The gaps of one stream, asked in ascending order of offsets.

    Gaps may adjoin, overlap or be empty: what one full disk loses is often noted in several.

    Args:
        gaps: As in ``ConnectionRow.gaps``, of all streams and in any order.
        stream: ``client``, ``agent`` or ``stderr``.

    """

    def __init__(self, gaps: "Iterable[Mapping[str, Any]]", stream: str) -> None:
        spans = ((gap["offset"], gap["bytes"]) for gap in gaps if gap["from"] == stream)
        self._spans = sorted((offset, offset + size) for offset, size in spans if size > 0)
        self._next = 0
        self.bytes = 0
        """How many bytes of the stream lie in gaps, each counted once."""
        end = 0
        for begin, stop in self._spans:
            self.bytes += max(0, stop - max(begin, end))
            end = max(end, stop)

    def skip(self, offset: int) -> int:
        """Return the first offset from this one on that lies in no gap."""
        while self._next < len(self._spans) and self._spans[self._next][0] <= offset:
            offset = max(offset, self._spans[self._next][1])
            self._next += 1
        return offset


class FrameRow(NamedTuple):
    """A row of ``frames``.

    Attributes:
        seq: The seq of its first message.
        stream: ``client``, ``agent`` or ``stderr``.
        offset: Where it begins in its stream.
        time_ns: Wall clock when its last byte was read, ns since 1970; None when unknown (imports).
        elapsed_ns: The same on the monotonic clock, since the connection began.
        raw: Its bytes; None when it was asked for without.
        size: Its length in bytes.
        id: Its key (``frame_id``).
        crc: Its checksum (``log.checksums``), None when it has none.

    """

    seq: int
    stream: str
    offset: int
    time_ns: int | None
    elapsed_ns: int | None
    raw: bytes | None
    size: int
    id: int
    crc: int | None = None

    def checksum(self) -> int:
        """Return with what its checksum begins, before its bytes."""
        code = STREAMS.index(self.stream)
        return checksums.of_frame(self.id, code, self.offset, self.time_ns, self.elapsed_ns)


class IndexRow(NamedTuple):
    """What is stored of a message beside its frame; the columns of ``messages`` after its key."""

    batch_index: int | None
    stream_code: int
    kind_code: int
    bytes: int
    method: str | None
    id: str | None
    session_id: str | None
    session_update: str | None
    tool_call_id: str | None
    terminal_id: str | None
    request_seq: int | None
    duration_ns: int | None
    error_code: int | None
    flags: str | None
    reason: str | None


class SessionRow(NamedTuple):
    """What a session came to, in numbers.

    Attributes:
        activity: What the agent said last that it does (v2).
        running: How many of the turns have not ended.

    """

    connection_id: int
    session_id: str
    first_seq: int
    last_seq: int
    cwd: str | None
    title: str | None
    mode: str | None
    updated_at: str | None
    activity: str | None
    closed: bool
    turns: int
    running: int
    tool_calls: int
    terminals: int
    permissions: int
    messages: int


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A row of ``messages`` together with the times and bytes of its frame.

    Attributes:
        seq: Its number in the connection, from 1, in the order observed.
        time_ns: Wall clock, ns since 1970; None when unknown.
        elapsed_ns: Since the connection began; None when unknown.
        stream: Who wrote it: ``client``, ``agent``, ``stderr``.
        kind: ``request``, ``notification``, ``result``, ``error``, ``invalid`` or ``text``.
        method: Of a request or notification.
        id: The id as JSON text.
        request_seq: Of a response: the request that it answers.
        request_method: That request's method.
        duration_ns: From that request to this response.
        flags: What is odd about it.
        reason: Why it is invalid, or not parsed.
        size: Length of its frame, terminator included.
        frame_seq: The seq of its frame's first message.
        raw: Its frame's first bytes, all of them unless the reader was asked for fewer.

    """

    connection_id: int
    seq: int
    time_ns: int | None
    elapsed_ns: int | None
    stream: str
    kind: str
    method: str | None
    id: str | None
    session_id: str | None
    session_update: str | None
    tool_call_id: str | None
    terminal_id: str | None
    request_seq: int | None
    request_method: str | None
    duration_ns: int | None
    error_code: int | None
    flags: tuple[str, ...]
    reason: str | None
    batch_index: int | None
    size: int
    frame_seq: int
    raw: bytes


class Ending(NamedTuple):
    """How a connection ended.

    Attributes:
        status: One of ``ENDED``.
        exit_code: The agent's, when it exited.
        signal: The one that killed it.

    """

    status: str
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A row of ``connections``: one run of the proxy, or one import.

    Attributes:
        added_ns: Wall clock when it began, or was imported; the order of the list.
        status: ``running``, ``exited``, ``killed`` (the agent died by a signal), ``lost`` (the proxy
            did) or ``imported``; ``unreadable`` when it is none of these.
        protocol_version: What the agent's latest successful ``initialize`` answer said.
        streams: Bytes relayed per stream, gaps included.
        sha256: Hash of the recorded bytes per stream, in hexadecimal.
        gaps: Bytes relayed but not recorded: ``{"from", "offset", "bytes"}`` each.
        notes: What happened beside the bytes: ends of streams, dropped stderr.
        facts: The connection object of the header of an imported file, as JSON text.
        is_sound: Whether the row is what was recorded, as far as its checksum tells.
        unreadable: Columns whose values can never have been written; the fields that they fill are
            empty, so that the connection can still be listed and deleted.

    """

    id: int
    uuid: str
    label: str | None
    command: Any
    cwd: str | None
    host: str | None
    proxy_pid: int | None
    agent_pid: int | None
    recorded_by: str | None
    added_ns: int
    started_ns: int | None
    ended_ns: int | None
    duration_ns: int | None
    status: str
    exit_code: int | None
    signal: int | None
    protocol_version: int | str | None
    client: dict[str, str]
    agent: dict[str, str]
    frames: int
    messages: int
    streams: dict[str, int]
    sha256: dict[str, str | None]
    gaps: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    facts: str | None = None
    is_sound: bool = True
    unreadable: tuple[str, ...] = ()

    @property
    def ended(self) -> Ending | None:
        """How the connection ended, None when it runs or nobody knows.

        Of an imported connection the header of its file tells, if it was recorded with an end. This
        is the one place that decides; what is open then is never answered.
        """
        if self.status in ENDED:
            return Ending(self.status, self.exit_code, self.signal)
        if self.status != "imported" or self.facts is None:
            return None
        facts = json.loads(self.facts)
        status = facts.get("status")
        if status not in ENDED:
            return None
        numbers = (facts.get(name) for name in ("exitCode", "signal"))
        return Ending(status, *(one if type(one) is int else None for one in numbers))

    @property
    def extent(self) -> str:
        """Which messages it has, for people: ``1 to 17``, or ``none``."""
        return f"1 to {self.messages}" if self.messages else "none"
