"""A connection's messages as they come into the log, each with what it means.

Reading may begin anywhere: what is needed of before, the version that is spoken
and the requests that are open, is looked up in the index instead of reading all.
"""

from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import messages_of
from acp_proxy.log.filters import ALL_MESSAGES, MessageFilter
from acp_proxy.log.reader import KEPT_RAW, LogReader
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import ConnectionRow, MessageRow

_HANDSHAKE = 100
"""So many messages at a connection's beginning are always read: they tell the version."""
_MANY = 20_000
"""Of more messages only those are read that fit, and that are needed to understand these."""


class Told(NamedTuple):
    """A message, the events that it is, and whether it is one of those asked for."""

    row: "MessageRow"
    events: "list[Event]"
    fits: bool = True


class Following:
    """One connection, read on and on.

    Attributes:
        connection_id: Which.
        seq: The last message that was read, or passed over.

    """

    def __init__(self, log: LogReader, connection_id: int) -> None:
        self.connection_id = connection_id
        self.seq = 0
        self._log = log
        self._decoder = Decoder()
        self._newest: tuple[list[int], int] | None = None
        self._frame_seq = 0
        self._frame: list[Message] = []

    def skip_to(self, seq: int) -> "Iterator[Told]":
        """Pass over what stands before a message; yield what has to be known of it.

        That is the beginning of the connection, and the requests that are open at that
        point. To be called before anything was read.
        """
        yield from self._read(MessageFilter(until_seq=min(_HANDSHAKE, seq - 1)))
        if seq - 1 <= _HANDSHAKE:
            return
        versions = self._decoder.versions
        if versions.negotiated is None:
            versions.negotiated = self.connection().protocol_version
        tool_call = MessageFilter(update="tool_call", until_seq=seq - 1, limit=1)
        if any(self._log.messages(self.connection_id, tool_call, raw=0)):
            versions.saw_tool_call = True
        self._decoder = (
            Decoder()
        )  # the one that read the beginning may wait for answers passed over
        self._decoder.versions = versions
        yield from self._read(MessageFilter(until_seq=seq - 1, unanswered=True))
        self.seq = seq - 1

    def new(self, wanted: MessageFilter = ALL_MESSAGES) -> "Iterator[Told]":
        """Yield what came since the last call, in order; some 20 µs each.

        Args:
            wanted: Which messages fit; the others come too, for what is to be known of them.

        """
        with self._log.snapshot():
            if wanted == ALL_MESSAGES:
                yield from self._read(MessageFilter(since_seq=self.seq + 1))
                return
            fitting = self._fitting(wanted)
            if self.connection().messages - self.seq > _MANY:
                handshake = MessageFilter(since_seq=self.seq + 1, limit=_HANDSHAKE)
                yield from self._marked(self._read(handshake), fitting)
                yield from self._marked(self._read_needed(fitting), fitting)
            yield from self._marked(self._read(MessageFilter(since_seq=self.seq + 1)), fitting)

    def _marked(self, read: "Iterable[Told]", fitting: set[int]) -> "Iterator[Told]":
        return (told._replace(fits=told.row.seq in fitting) for told in read)

    def _fitting(self, wanted: MessageFilter) -> set[int]:
        """Return the messages to come that fit; those that ``newest`` gave need not be looked for."""
        known, upto = self._newest or ([], self.seq)
        self._newest = None
        new = wanted._replace(since_seq=max(upto, self.seq) + 1)
        rows = self._log.messages(self.connection_id, new, raw=0)
        return {row.seq for row in rows} | {seq for seq in known if seq > self.seq}

    def _read_needed(self, fitting: set[int]) -> "Iterator[Told]":
        """Yield what fits, and what that needs, if the others can be passed over; else nothing."""
        versions, last = self._decoder.versions, self.connection().messages
        if not versions.is_settled:
            return
        restless = MessageFilter(update="tool_call", since_seq=self.seq + 1, limit=1)
        if versions.agreed != 1 and any(self._log.messages(self.connection_id, restless, raw=0)):
            return
        fitting = {seq for seq in fitting if self.seq < seq <= last}
        span = (self.seq + 1, last)
        seqs, opens = self._log.needed(self.connection_id, span, fitting, updates=True)
        if not opens:
            yield from self._read(ALL_MESSAGES, seqs)
            self.seq = last

    def newest(self, wanted: MessageFilter, count: int) -> list[int]:
        """Return the seqs of the last messages that fit, the last one first.

        To be called before anything was read; ``new`` is then spared to look for them.
        """
        upto = self.connection().messages
        last = wanted._replace(limit=count, until_seq=min(upto, wanted.until_seq or upto))
        rows = self._log.messages(self.connection_id, last, raw=0, newest_first=True)
        seqs = [row.seq for row in rows]
        self._newest = (seqs, upto)
        return seqs

    def connection(self) -> "ConnectionRow":
        """Return the connection as it stands now."""
        return self._log.connection(self.connection_id)

    def _read(self, wanted: MessageFilter, seqs: "Iterable[int] | None" = None) -> "Iterator[Told]":
        for row in self._log.messages(self.connection_id, wanted, raw=KEPT_RAW, seqs=seqs):
            self._decoder.seq = row.seq - 1  # the log's own count, whatever was passed over
            yield Told(row, self._decoder.add(Direction(row.stream), self._message(row)))
            self.seq = row.seq

    def _message(self, row: "MessageRow") -> Message:
        """Return the message of a row; the members of a batch are parsed together, once."""
        if row.batch_index is None or row.frame_seq != self._frame_seq:
            frame = Frame(0, row.raw, row.size)
            self._frame = messages_of(Direction(row.stream), frame)
            self._frame_seq = row.frame_seq
        return self._frame[row.batch_index or 0]
