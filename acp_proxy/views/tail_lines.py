"""A running conversation as lines: what each message means to somebody who watches it.

Chunks of one message are joined; what changes nothing to be seen (output of a
terminal, content of a tool call) makes no line unless it is odd.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acp_proxy.events import vocabulary as v
from acp_proxy.events.event import Role
from acp_proxy.views import tail_words as words
from acp_proxy.views.tables import ended_text
from acp_proxy.views.tail_events import ROLES, SPEAKERS, Known, Said, plain
from acp_proxy.views.tail_text import TailLine

if TYPE_CHECKING:
    from acp_proxy.events.event import Event
    from acp_proxy.log.rows import ConnectionRow, MessageRow


@dataclass(slots=True)
class _Held:
    """A message whose chunks are being joined."""

    role: Role
    message_id: str | None
    line: TailLine
    pieces: list[str]
    last_seq: int

    def is_same(self, event: v.MessageChunkAdded) -> bool:
        """Tell whether a chunk belongs to it."""
        ids = (event.message_id, self.message_id)
        return event.role is self.role and (ids[0] == ids[1] or (event.joins and None in ids))

    def whole(self) -> TailLine:
        """Return its line."""
        return self.line._replace(text="".join(self.pieces), last_seq=self.last_seq)


@dataclass(slots=True)
class _Session:
    """One session: what is known of it, and its message that may go on.

    ``told`` is that message when it was told before its end.
    """

    known: Known = field(default_factory=Known)
    held: _Held | None = None
    told: _Held | None = None


class Teller:
    """Turns the messages of one connection into lines, in order."""

    def __init__(self, connection_id: int) -> None:
        self._connection_id = connection_id
        self._sessions: dict[str | None, _Session] = {}

    @property
    def holds(self) -> bool:
        """Whether a message waits for more of its chunks."""
        return any(session.held is not None for session in self._sessions.values())

    def tell(
        self, row: "MessageRow", events: "list[Event]", *, wanted: bool = True
    ) -> list[TailLine]:
        """Return the lines that a message completes.

        Args:
            row: The message.
            events: What it means.
            wanted: Whether it is to be told; else it is only remembered.

        """
        lines: list[TailLine] = []
        said_any = False
        for event in events:
            session = self._session(event.session_id)
            if isinstance(event, v.MessageChunkAdded):
                said_any = True
                if wanted and not _is_echo(session.known, event):
                    lines += self._chunk(session, row, event)
                continue
            speak = SPEAKERS.get(type(event))
            said = None if speak is None else speak(session.known, row, event)
            if said is not None:
                said_any = True
                lines += self._said(session, row, event, said) if wanted else ()
        if not said_any and wanted and (said := plain(row, events)) is not None:
            first = events[0]
            lines += self._said(self._session(first.session_id), row, first, said)
        return lines

    def flush(self) -> list[TailLine]:
        """Return the messages that are being joined, as far as they came."""
        found = []
        for session in self._sessions.values():
            if session.held is not None:
                found.append(session.held.whole())
                session.told, session.held = session.held, None
        return sorted(found)

    def ended(self, connection: "ConnectionRow") -> list[TailLine]:
        """Return the last lines of a connection that has ended."""
        lines = self.flush()
        if connection.status not in ("running", "imported"):
            end = TailLine(
                connection.id, connection.messages, connection.messages, connection.duration_ns,
                connection.ended_ns, "proxy", "end", ended_text(connection),
                details={"status": connection.status},
            )  # fmt: skip
            lines.append(end)
        return lines

    def _session(self, id_: str | None) -> _Session:
        return self._sessions.setdefault(id_, _Session())

    def _said(
        self, session: _Session, row: "MessageRow", event: "Event", said: Said
    ) -> list[TailLine]:
        lines = []
        if said.what not in words.ASIDES:
            if session.held is not None:
                lines.append(session.held.whole())
            session.held = session.told = None
        return [*lines, self._line(session, row, event, said)]

    def _line(self, session: _Session, row: "MessageRow", event: "Event", said: Said) -> TailLine:
        return TailLine(
            self._connection_id, row.seq, row.seq, row.elapsed_ns, row.time_ns, row.stream,
            said.what, said.text, event.session_id, said.details, session.known.windows > 0, False,
            row.flags, event.notes, len(self._sessions) - (None in self._sessions) > 1,
        )  # fmt: skip

    def _chunk(
        self, session: _Session, row: "MessageRow", event: v.MessageChunkAdded
    ) -> list[TailLine]:
        held, text = session.held, words.block_text(event.content)
        as_odd = held is not None and (row.flags, event.notes) == (held.line.flags, held.line.notes)
        if held is not None and as_odd and held.is_same(event):
            held.pieces.append(text)
            held.last_seq = row.seq
            return []
        lines = [] if held is None else [held.whole()]
        details = {} if event.message_id is None else {"messageId": event.message_id}
        line = self._line(session, row, event, Said(ROLES[event.role], "", details))
        goes_on = session.told is not None and session.told.is_same(event)
        line = line._replace(goes_on=goes_on)
        session.held = _Held(event.role, event.message_id, line, [text], row.seq)
        session.told = None
        return lines


def _is_echo(known: Known, event: v.MessageChunkAdded) -> bool:
    """Tell whether a v1 chunk only repeats the prompt that is being answered."""
    if event.role is not Role.USER or not known.prompt or not event.joins:
        return False
    return words.block_text(event.content) in known.prompt
