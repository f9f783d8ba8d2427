"""Points in a conversation as people write them: a message, a count from the end, a time."""

import re
from typing import Literal, NamedTuple

from acp_proxy.views.jsonlines import BadLineError, parse_time

_COUNT = re.compile(r"(-?)([0-9]{1,18})")
_SECONDS = re.compile(r"([0-9]{1,9})(?:\.([0-9]{0,9}))?(s?)")


class Point(NamedTuple):
    """One point.

    Attributes:
        kind: ``seq``; ``back``, so many messages before the last; ``elapsed``, ns since the
            connection began; ``time``, ns since 1970.
        value: That number.

    """

    kind: Literal["seq", "back", "elapsed", "time"]
    value: int


def parse_point(text: str) -> Point:
    """Return a point.

    Raises:
        ValueError: It is none; the text says how to write one.

    >>> [parse_point(text) for text in ("17", "-2", "1.5", "90s")]  # doctest: +NORMALIZE_WHITESPACE
    [Point(kind='seq', value=17), Point(kind='back', value=2),
     Point(kind='elapsed', value=1500000000), Point(kind='elapsed', value=90000000000)]
    """
    if match := _COUNT.fullmatch(text):
        return Point("back" if match[1] else "seq", int(match[2]))
    if match := _SECONDS.fullmatch(text):
        return Point("elapsed", int(match[1]) * 1_000_000_000 + int((match[2] or "").ljust(9, "0")))
    try:
        time_ns = parse_time(text)
    except BadLineError:
        time_ns = None
    if time_ns is None:
        raise ValueError(
            f'"{text}" is no point: give a SEQ (17), a count back from the end (-3), seconds since '
            "the start with a point or an s (90s, 4.25), or a time as in RFC 3339 with an offset "
            "or Z (2026-03-01T09:00:02.5Z)"
        )
    return Point("time", time_ns)
