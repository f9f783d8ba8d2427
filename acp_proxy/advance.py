"""How long work tells how far it is: it calls a function that it was given, now and then.

The work says how much more is done and knows nothing of who wants to know; what the amounts
are of (frames, rows, bytes), and how much there is of it, whoever asks for the work knows.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

Advance: TypeAlias = Callable[[int], None]
"""Is told, once for some hundred things or some MiB, how much more is done."""

_T = TypeVar("_T")
_THINGS: Final = 256
_AMOUNT: Final = 1 << 20


def unwatched(_amount: int) -> None:
    """Be told how much more is done, where nobody wants to know."""


def _one(_item: object) -> int:
    return 1


def counted(
    items: Iterable[_T], advance: Advance, amount: Callable[[_T], int] = _one
) -> Iterator[_T]:
    """Yield items, and tell how much is done of them: of each when the next is asked for.

    >>> told = []
    >>> sum(counted(range(1000), told.append)), told
    (499500, [256, 256, 256, 232])

    Args:
        items: What is worked on.
        advance: Is told; the rest when there are no more items.
        amount: How much an item is; default: each is 1.

    """
    things = done = 0
    for item in items:
        yield item
        things += 1
        done += amount(item)
        if things == _THINGS or done >= _AMOUNT:
            advance(done)
            things = done = 0
    advance(done)
