"""Folding: long texts shown in part, with a word on how much is left out."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from acp_proxy.views.units import count


class Limits(NamedTuple):
    """How much of a text is shown; None is all.

    Attributes:
        head: How many lines from its beginning.
        tail: How many from its end.
        width: How many characters of a line.

    """

    head: int | None
    tail: int = 0
    width: int | None = None


ALL = Limits(None)
ONE_LINE = 1000
"""So many characters are shown of a fact, or of anything else that has one line."""


class Hidden(NamedTuple):
    """Stands where lines were left out."""

    lines: int

    def text(self) -> str:
        """Return it in words."""
        return f"… {count(self.lines, 'line')} more, shown with --full"


def folded(lines: Iterable[str], limits: Limits) -> Iterator[str | Hidden]:
    """Yield the lines that are shown.

    >>> list(folded("abcdef", Limits(2, 1)))
    ['a', 'b', Hidden(lines=3), 'f']
    """
    if limits.head is None:
        yield from lines
        return
    last: deque[str] = deque()
    hidden = 0
    for number, line in enumerate(lines):
        if number < limits.head:
            yield cut(line, limits.width)
            continue
        last.append(line)
        if len(last) > limits.tail:
            last.popleft()
            hidden += 1
    if hidden:
        yield Hidden(hidden)
    for line in last:
        yield cut(line, limits.width)


def cut(line: str, width: int | None) -> str:
    """Return a line cut to a length, with a word on what is left out."""
    if width is None or len(line) <= width:
        return line
    return f"{line[:width]} … {count(len(line) - width, 'character')} more, shown with --full"


def lines_of(text: str) -> Iterator[str]:
    r"""Yield the lines of a text without a copy of all; only ``\n`` ends one.

    >>> list(lines_of("a\nb\n"))
    ['a', 'b']
    """
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    if begin < len(text):
        yield text[begin:]
