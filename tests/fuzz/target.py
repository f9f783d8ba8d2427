"""What a target is: laws to be kept by any bytes, ways to draw such bytes, and seeds to begin with.

All engines speak bytes: what one of them found, any can replay. ``Bites`` takes them apart
where a target needs more than one value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hypothesis import strategies as st


class Target(NamedTuple):
    """A target.

    Attributes:
        name: As on the command line.
        laws: What must hold, in words.
        check: Asserts the laws for an input; its own exceptions are finds too.
        inputs: What hypothesis draws; leans towards what the target is about.
        seeds: Small inputs to begin with.
        longest: No input of a fuzzer is longer, in bytes.

    """

    name: str
    laws: str
    check: Callable[[bytes], None]
    inputs: Callable[[], st.SearchStrategy[bytes]]
    seeds: Callable[[], Iterable[bytes]]
    longest: int = 4096


class Bites:
    """Takes numbers and pieces from the front of bytes; zeros and nothing when all are taken."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, size: int = 1) -> int:
        """Return the next bytes as an unsigned number."""
        return int.from_bytes(self.piece(size), "big")

    def piece(self, size: int) -> bytes:
        """Return the next bytes, fewer at the end."""
        piece = self._data[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def rest(self) -> bytes:
        """Return all that is left."""
        return self.piece(len(self._data))

    def __bool__(self) -> bool:
        return self._at < len(self._data)


def damaged(data: bytes, edits: Bites, most: int = 8) -> bytes:
    """Return bytes to which something happened: bits flipped, bytes set, zeroed, lost, put in.

    Args:
        data: The bytes.
        edits: Says what happens and where.
        most: No more than so many things happen.

    """
    found = bytearray(data)
    for _ in range(most):
        if not edits or not found:
            break
        way, at = edits.number() % 6, edits.number(3) % len(found)
        if way == 0:
            found[at] ^= 1 << edits.number() % 8
        elif way == 1:
            found[at] = edits.number()
        elif way == 2:
            length = min(edits.number(2), len(found) - at)
            found[at : at + length] = bytes(length)
        elif way == 3:
            del found[at : at + 1 + edits.number()]
        elif way == 4:
            found[at:at] = edits.piece(edits.number() % 16)
        else:
            del found[at:]
    return bytes(found)
