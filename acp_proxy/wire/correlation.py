"""Requests and their answers: which open request a response answers.

The key is (sender of the request, JSON type and exact value of its id)
(docs/protocol.md: Ids). Nothing here knows what the messages say.
"""

import re
from collections import OrderedDict
from typing import Generic, NamedTuple, TypeVar

from acp_proxy.wire.jsonrpc import Direction

T = TypeVar("T")


class Answered(NamedTuple, Generic[T]):
    """What a response answers.

    Attributes:
        request: What was given to ``request`` when the request was seen.
        ambiguous: More than one request with that id was open; this is the oldest.
        cancelled: Its sender had cancelled it before the answer came.

    """

    request: T
    ambiguous: bool
    cancelled: bool


class _Open(Generic[T]):
    __slots__ = ("number", "request", "shared")

    def __init__(self, request: T, number: int) -> None:
        self.request = request
        self.number = number
        self.shared = False


class _Waiting(Generic[T]):
    """The open requests of one id, oldest first; each step takes the same however many they are.

    Attributes:
        entries: By their number.
        added: How many there were so far.
        cancelled: So many of these were taken back.
        numbers: Of the very objects.

    """

    __slots__ = ("added", "cancelled", "entries", "numbers")

    def __init__(self) -> None:
        self.entries: OrderedDict[int, _Open[T]] = OrderedDict()
        self.numbers: dict[int, int] = {}
        self.added = self.cancelled = 0

    def add(self, request: T) -> bool:
        """Add a request; tell whether there was one already."""
        entry = _Open(request, self.added)
        last = next(reversed(self.entries.values()), None)
        if last is not None:
            last.shared = entry.shared = True  # those before them are already
        self.entries[self.added] = entry
        self.numbers[id(request)] = self.added
        self.added += 1
        return last is not None

    def remove(self, number: int) -> _Open[T]:
        """Take a request out."""
        entry = self.entries.pop(number)
        self.numbers.pop(id(entry.request), None)
        return entry


class Correlator(Generic[T]):
    """The open requests of one connection, both directions apart.

    >>> correlator = Correlator[int]()
    >>> correlator.request(Direction.CLIENT, "1", 10)
    False
    >>> correlator.response(Direction.AGENT, "1")
    Answered(request=10, ambiguous=False, cancelled=False)
    >>> correlator.response(Direction.AGENT, "1") is None
    True
    """

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: dict[tuple[Direction, str], _Waiting[T]] = {}

    def request(self, sender: Direction, id_text: str, request: T) -> bool:
        """Remember a request; tell whether one of that sender with that id is open already."""
        key = (sender, _key(id_text))
        waiting = self._open.get(key)
        if waiting is None:
            waiting = self._open[key] = _Waiting()
        return waiting.add(request)

    def response(self, responder: Direction, id_text: str) -> Answered[T] | None:
        """Return the oldest open request that ``responder`` answers and close it, or None."""
        key = (_other(responder), _key(id_text))
        waiting = self._open.get(key)
        if waiting is None:
            return None
        entry = waiting.remove(next(iter(waiting.entries)))
        if not waiting.entries:
            del self._open[key]
        return Answered(entry.request, entry.shared, entry.number < waiting.cancelled)

    def drop(self, sender: Direction, id_text: str, request: T) -> None:
        """Close one request, the very object, without an answer of its own."""
        key = (sender, _key(id_text))
        waiting = self._open.get(key)
        number = None if waiting is None else waiting.numbers.get(id(request))
        if waiting is not None and number is not None:
            waiting.remove(number)
            if not waiting.entries:
                del self._open[key]

    def cancel(self, sender: Direction, id_text: str) -> None:
        """Note that ``sender`` takes back its own request (``$/cancel_request``)."""
        waiting = self._open.get((sender, _key(id_text)))
        if waiting is not None:
            waiting.cancelled = waiting.added

    def pending(self) -> list[T]:
        """Return the requests without an answer, in order of first mention of their ids."""
        return [
            entry.request for waiting in self._open.values() for entry in waiting.entries.values()
        ]


def _other(direction: Direction) -> Direction:
    return Direction.AGENT if direction is Direction.CLIENT else Direction.CLIENT


_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


def _key(id_text: str) -> str:
    """Return what is equal for ids that are: 1.10 and 1.1 are, 1 and 1.0 and "1" are not."""
    match = _NUMBER.fullmatch(id_text)
    if match is None or (match[3] is None and match[4] is None):
        return id_text
    sign, whole, fraction, exponent = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "fraction 0"
    try:
        shift = int(exponent or "0") - len(fraction) + len(digits) - len(significant)
    except ValueError:  # an exponent of more digits than Python converts
        return id_text
    return f"fraction {sign}{significant}e{shift}"
