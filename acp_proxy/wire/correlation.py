"""Requests and their answers: which open request a response answers.

The key is (sender of the request, JSON type and exact value of its id): design
section 6, acp-facts A.4. Nothing here knows what the messages say.
"""

import re
from collections import deque
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
    __slots__ = ("cancelled", "request", "shared")

    def __init__(self, request: T) -> None:
        self.request = request
        self.shared = False
        self.cancelled = False


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
        self._open: dict[tuple[Direction, str], deque[_Open[T]]] = {}

    def request(self, sender: Direction, id_text: str, request: T) -> bool:
        """Remember a request; tell whether one of that sender with that id is open already."""
        waiting = self._open.setdefault((sender, _key(id_text)), deque())
        waiting.append(_Open(request))
        if len(waiting) == 1:
            return False
        waiting[-2].shared = waiting[-1].shared = True  # those before them are already
        return True

    def response(self, responder: Direction, id_text: str) -> Answered[T] | None:
        """Return the oldest open request that ``responder`` answers and close it, or None."""
        key = (_other(responder), _key(id_text))
        waiting = self._open.get(key)
        if not waiting:
            return None
        entry = waiting.popleft()
        if not waiting:
            del self._open[key]
        return Answered(entry.request, entry.shared, entry.cancelled)

    def drop(self, sender: Direction, id_text: str, request: T) -> None:
        """Close one request, the very object, without an answer of its own."""
        key = (sender, _key(id_text))
        left = deque(entry for entry in self._open.get(key, ()) if entry.request is not request)
        if left:
            self._open[key] = left
        else:
            self._open.pop(key, None)

    def cancel(self, sender: Direction, id_text: str) -> None:
        """Note that ``sender`` takes back its own request (``$/cancel_request``)."""
        for entry in self._open.get((sender, _key(id_text)), ()):
            entry.cancelled = True

    def pending(self) -> list[T]:
        """Return the requests without an answer, in order of first mention of their ids."""
        return [entry.request for waiting in self._open.values() for entry in waiting]


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
