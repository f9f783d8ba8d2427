"""Marks: where in a session's timeline which things stand, in a few bytes each."""

from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple


class Kind(IntEnum):
    """What stands at a place of the timeline."""

    GONE = 0  # it turned out to belong to another entry
    MESSAGE = 1  # of the user or the agent, or a thought; a v1 prompt is the user's message
    PROMPT = 2  # of v2, where the user's message is told apart
    PLAN = 3
    TOOL_CALL = 4
    TERMINAL = 5
    PERMISSION = 6
    QUESTION = 7  # an elicitation
    TURN_END = 8
    NOTICE = 9
    COMPACTION = 10
    SUBAGENT = 11
    SESSION_MESSAGE = 12
    REQUEST = 13
    NOTIFICATION = 14
    UPDATE = 15  # a session/update without a meaning to us
    CHANGE = 16  # of the session: mode, title, options
    ANSWER = 17  # one that nobody asked for
    LINES = 18  # lines that are no message: stderr, text, rubbish


RUNS = frozenset({
    Kind.PLAN, Kind.NOTIFICATION, Kind.UPDATE, Kind.CHANGE, Kind.ANSWER, Kind.LINES,
})  # fmt: skip
"""Kinds of which one after the other, alike, are one entry."""

REPLAYED, FOREIGN = 1, 2
"""Flags: it came as history; it names no session, and stands here because it came here."""


class Mark(NamedTuple):
    """One mark, read.

    Attributes:
        kind: What.
        seq: The message that put it here.
        last: The last message of a run, or the one that the thing was answered with; of a tool call
            the one with which it came to a final status, 0 while it has none.
        messages: How many belong to it.
        flags: REPLAYED, FOREIGN.
        thing: What leads to the thing in the state: its id, its key, or itself.

    """

    kind: Kind
    seq: int
    last: int
    messages: int
    flags: int
    thing: Any

    @property
    def is_replayed(self) -> bool:
        """Whether it came as history."""
        return bool(self.flags & REPLAYED)

    @property
    def is_foreign(self) -> bool:
        """Whether it names no session."""
        return bool(self.flags & FOREIGN)


class Marks:
    """The marks of a session in order; some 40 bytes each."""

    __slots__ = ("_counts", "_flags", "_kinds", "_lasts", "_seqs", "_things")

    def __init__(self) -> None:
        self._kinds, self._flags = bytearray(), bytearray()
        self._seqs, self._lasts, self._counts = array("q"), array("q"), array("q")
        self._things: list[Any] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, index: int) -> Mark:
        return Mark(
            Kind(self._kinds[index]),
            self._seqs[index],
            self._lasts[index],
            self._counts[index],
            self._flags[index],
            self._things[index],
        )

    def add(self, kind: Kind, seq: int, thing: Any, flags: int) -> int:
        """Put a mark at the end, without a message yet; return its index."""
        self._kinds.append(kind)
        self._flags.append(flags)
        self._seqs.append(seq)
        self._lasts.append(seq)
        self._counts.append(0)
        self._things.append(thing)
        return len(self._kinds) - 1

    def joins_last(self, kind: Kind, thing: Any, flags: int) -> bool:
        """Tell whether something would go on with the run that stands last."""
        return (
            kind in RUNS
            and bool(self._kinds)
            and self._kinds[-1] == kind
            and self._things[-1] == thing
            and self._flags[-1] == flags
        )

    def find(self, kind: Kind, seq: int) -> int | None:
        """Return the index of the mark of a kind that a message put here."""
        at = bisect_left(self._seqs, seq)
        while at < len(self._seqs) and self._seqs[at] == seq:
            if self._kinds[at] == kind:
                return at
            at += 1
        return None

    def count(self, index: int) -> None:
        """Let one more message belong to a mark."""
        self._counts[index] += 1

    def end(self, index: int, seq: int) -> None:
        """Set the last message of a mark."""
        self._lasts[index] = seq

    def become(self, index: int, kind: Kind, thing: Any) -> None:
        """Make a mark one of another kind, where it stands."""
        self._kinds[index] = kind
        self._things[index] = thing

    def remove(self, index: int) -> int:
        """Let a mark be of nothing; return how many messages belonged to it."""
        count = self._counts[index]
        self._kinds[index] = Kind.GONE
        self._counts[index] = 0
        return count


@dataclass(slots=True)
class Section:
    """What was gathered of one session, or before the first one.

    Attributes:
        session_id: None for what came before the first session.
        marks: Its timeline.
        opened: The requests that made it, with their answers, as seqs.
        usage_seq: The last message that told of the context's use.
        usages: By the message that ended a turn: the last that told of the use before it.
        notes: What is odd, once each: the mark's index, the first message, how many more.
        hidden: How many messages of which sort are not shown.

    """

    session_id: str | None
    marks: Marks = field(default_factory=Marks)
    opened: list[tuple[int, int]] = field(default_factory=list)
    usage_seq: int | None = None
    usages: dict[int, int] = field(default_factory=dict)
    notes: dict[str, list[int]] = field(default_factory=dict)
    hidden: Counter[str] = field(default_factory=Counter)
