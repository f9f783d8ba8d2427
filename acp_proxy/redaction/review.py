"""What redaction did, and what it may have missed: places to look at before something is shared."""

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from acp_proxy.redaction.names import MARKER, is_random

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TOKEN = re.compile(r"[A-Za-z0-9+/_=.~-]{16,4096}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_MIN_ENTROPY: Final = 3.0  # bits a character: hexadecimal of 16 characters has about that
_SHOWN = 4
MAX_PLACES: Final = 10_000
"""So many places of each kind are kept; the rest is only counted."""


class Place(NamedTuple):
    """A place in what is shared.

    Attributes:
        seq: Of the frame or message; None where there is none.
        path: Keys and indexes of the string in the JSON, empty for text.
        offset: Of the character in the string as it was (blanked) or is now (left).
        what: What gave a secret away, or the beginning of what was left, and its length.

    """

    seq: int | None
    path: tuple[str | int, ...]
    offset: int
    what: str


class Review:
    """Gathers places.

    Attributes:
        blanked: Where something was blanked, and why. Never what.
        left: Where something stands that is as random as a secret.
        more: How many places there are that were not kept.

    """

    def __init__(self) -> None:
        self.blanked: list[Place] = []
        self.left: list[Place] = []
        self.more = 0

    def note_blanked(self, places: "Iterable[Place]") -> None:
        """Note where something was blanked."""
        self._keep(self.blanked, places)

    def note_left(self, seq: int | None, value: Any) -> None:
        """Note what is left in a value, JSON or text, that is as random as a secret."""
        self._keep(
            self.left,
            (
                Place(seq, path, offset, f'"{token[:_SHOWN]}\u2026", {len(token)} characters')
                for path, text in strings_of(value)
                for offset, token in random_tokens(text)
            ),
        )

    def _keep(self, kept: list[Place], places: "Iterable[Place]") -> None:
        for place in places:
            if len(kept) < MAX_PLACES:
                kept.append(place)
            else:
                self.more += 1


def random_tokens(text: str) -> "Iterator[tuple[int, str]]":
    """Yield the words of a text that have the entropy of a secret, and where they begin."""
    for match in _TOKEN.finditer(text):
        word = match[0]
        is_plain = _UUID.fullmatch(word) or MARKER in word
        if not is_plain and is_random(word) and entropy(word) >= _MIN_ENTROPY:
            yield match.start(), word


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits a character.

    >>> entropy("aaaa"), entropy("abcd")
    (0.0, 2.0)
    """
    size = len(text)
    return abs(sum(n / size * math.log2(size / n) for n in Counter(text).values()))


def strings_of(value: Any) -> "Iterator[tuple[tuple[str | int, ...], str]]":
    """Yield each string and key of a JSON value, and where it stands; deep values do not matter."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, found = waiting.pop()
        if isinstance(found, str):
            yield path, found
        elif isinstance(found, dict):
            for key in found:
                yield path, str(key)
            waiting += [((*path, key), each) for key, each in reversed(found.items())]
        elif isinstance(found, list | tuple):
            waiting += [((*path, at), found[at]) for at in range(len(found) - 1, -1, -1)]
