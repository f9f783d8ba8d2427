r"""Chunks to frames: cutting a stream of bytes into the lines that it is made of.

Nothing here looks inside a line. The rules (docs/design.md, Wire rules): split on ``\n``
only, keep the terminator and any ``\r`` before it, no limit on a line.
"""

from typing import Final, NamedTuple

_new = tuple.__new__  # what a NamedTuple's own call comes to, in a third of the time

LONGEST: Final = 128 * 1024 * 1024
"""Longer lines are not looked into, and not held in memory."""
KEPT_PREFIX = 64 * 1024
"""How many bytes of a line longer than a framer's ``keep`` stay in memory."""


class Frame(NamedTuple):
    """One line as it travelled, terminator included.

    Attributes:
        offset: Position of its first byte in the stream.
        raw: Its bytes; only the first ``KEPT_PREFIX`` of a line longer than the framer's ``keep``.
        size: Its true length in bytes; equals ``len(raw)`` unless the line was too long to keep.

    """

    offset: int
    raw: bytes
    size: int


class LineFramer:
    r"""Turn chunks, however they were split, into frames.

    Feed it what the operating system gave you; it hands back the lines that
    chunk finished. The cost is linear in the bytes fed, whatever their split.

    >>> framer = LineFramer()
    >>> framer.feed(b'{"id":1}\n{"id"')
    [Frame(offset=0, raw=b'{"id":1}\n', size=9)]
    >>> framer.feed(b':2}\n')
    [Frame(offset=9, raw=b'{"id":2}\n', size=9)]
    >>> framer.close() is None
    True

    Args:
        offset: Where in the stream the first byte fed stands.
        keep: Lines longer than this many bytes come out with a prefix only,
            so that memory stays bounded; None keeps every line whole.

    """

    __slots__ = ("_keep", "_offset", "_rest", "_size")

    def __init__(self, offset: int = 0, keep: int | None = None) -> None:
        self._offset = offset
        self._keep = keep
        self._rest = bytearray()  # of the line not finished yet
        self._size = 0  # of that line, what was not kept included

    @property
    def offset(self) -> int:
        """Where the line that is not finished yet begins."""
        return self._offset

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that ``chunk`` finished, in order."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        frames: list[Frame] = []
        if lines and self._size:
            self._add(lines.pop(0) + b"\n")
            frames.append(self._take())
        offset, keep = self._offset, self._keep
        for line in lines:
            raw = line + b"\n"
            size = len(raw)
            if keep is not None and size > keep:
                raw = raw[:KEPT_PREFIX]
            frames.append(_new(Frame, (offset, raw, size)))
            offset += size
        self._offset = offset
        if rest:
            self._add(rest)
        return frames

    def close(self) -> Frame | None:
        """Return what stands after the last terminator, as a frame without one, or None."""
        return self._take() if self._size else None

    def skip(self, size: int) -> None:
        """Step over bytes that are not known; call ``close`` first to keep what came before."""
        self._offset += size

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._keep is None or self._size <= self._keep:
            self._rest += piece
        elif len(self._rest) != KEPT_PREFIX:
            self._rest += piece[:KEPT_PREFIX]
            del self._rest[KEPT_PREFIX:]

    def _take(self) -> Frame:
        frame = Frame(self._offset, bytes(self._rest), self._size)
        self._offset += self._size
        self._rest = bytearray()
        self._size = 0
        return frame
