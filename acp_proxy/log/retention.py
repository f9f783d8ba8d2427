"""What is to go from a log that has grown old or large, and what stays whatever is asked. Pure.

Each limit says what has to go: what is older than an age, or the oldest until the log is
small enough. A connection goes when any limit says so and nothing protects it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_AGE = re.compile(r"(\d{1,6})(s|min|h|d|w|y)", re.IGNORECASE)
_SIZE = re.compile(r"(\d{1,15})(\.\d{1,6})?([kmgt]?)(i?b)?", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"(\d+(?:\.\d+)?)m", re.IGNORECASE)  # minutes, or megabytes
_NS = 1_000_000_000


class Limits(NamedTuple):
    """How much is to be kept; None is no limit.

    Attributes:
        older_than_ns: What was last active longer ago goes.
        to_bytes: The oldest go until the log holds no more.
        keep_last: So many of the newest stay, whatever else says.

    """

    older_than_ns: int | None = None
    to_bytes: int | None = None
    keep_last: int = 0


NO_LIMITS = Limits()


class Candidate(NamedTuple):
    """A connection that may go.

    Attributes:
        added_ns: When it began or was imported: the order of ``acp-proxy connections``.
        last_ns: When anything of it was last observed, or it was imported if that was later.
        frames: How many it has.
        messages: How many it has.
        bytes: What it takes in the file, about.
        stays: Why it may not go, None when it may.
        status: How it stands.

    """

    id: int
    uuid: str
    added_ns: int
    last_ns: int
    frames: int
    messages: int
    bytes: int
    stays: str | None
    status: str = ""


class Choice(NamedTuple):
    """What goes, oldest first, and what would but is protected."""

    going: list[Candidate]
    staying: list[tuple[Candidate, str]]


def parse_age(text: str) -> int:
    """Return an age in nanoseconds.

    Raises:
        ValueError: It is none.

    >>> parse_age("30d") // _NS, parse_age("12h") // _NS
    (2592000, 43200)
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            f'"{text}" is no age: give a number and one of {", ".join(_SECONDS)} (30d, 12h)'
        )
    return int(found[1]) * _SECONDS[found[2].lower()] * _NS


def parse_size(text: str) -> int:
    """Return a size in bytes; a K is 1,024.

    Raises:
        ValueError: It is none.

    >>> parse_size("2G"), parse_size("1.5K"), parse_size("700")
    (2147483648, 1536, 700)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'"{text}" is no size: give bytes, or a number with K, M, G or T (2G)')
    return int(float(found[1] + (found[2] or "")) * _BYTES[found[3].lower()])


def parse_keep(text: str) -> Limits:
    """Return the limits that ``run --keep`` names: an age, a size, or both with a comma between.

    ``30m`` is refused in either case: one reader takes it for minutes, another for megabytes, and
    the wrong one deletes recordings.

    Raises:
        ValueError: It is neither, or ambiguous.

    >>> parse_keep("30d, 2G") == Limits(parse_age("30d"), parse_size("2G"))
    True
    """
    age = size = None
    for word in map(str.strip, text.split(",")):
        if ambiguous := _AMBIGUOUS.fullmatch(word):
            number = ambiguous[1]
            raise ValueError(
                f'"{word}" may mean minutes or megabytes: write {number}min or {number}MB'
            )
        if _AGE.fullmatch(word):
            age = parse_age(word)
        elif _SIZE.fullmatch(word) and not word[-1].isdigit():
            size = parse_size(word)
        else:
            raise ValueError(f'"{word}" is neither an age (30d) nor a size (2G)')
    return Limits(age, size)


def wrong_keep(text: str) -> str | None:
    """Return why a text is no limit of ``run --keep``, None when it is one."""
    try:
        parse_keep(text)
    except ValueError as error:
        return str(error)
    return None


def choose(
    candidates: Iterable[Candidate],
    limits: Limits,
    *,
    now_ns: int,
    used_bytes: int,
    named: Collection[int] | None = None,
) -> Choice:
    """Return which connections go.

    Args:
        candidates: All connections of the log.
        limits: What has to go. Without any, all that may go does.
        now_ns: What time it is.
        used_bytes: What all of the log takes.
        named: Only these may go; None for any.

    """
    ordered = sorted(candidates, key=lambda one: (one.added_ns, one.id))
    protected = ordered[-limits.keep_last :] if limits.keep_last else []
    newest = {one.id for one in protected}
    choice = Choice([], [])
    eligible: list[Candidate] = []
    for one in ordered:
        if named is not None and one.id not in named:
            continue
        if one.stays is not None or one.id in newest:
            why = one.stays or f"one of the last {limits.keep_last}"
            choice.staying.append((one, why))
        else:
            eligible.append(one)
    choice.going.extend(_going(eligible, limits, now_ns, used_bytes))
    if named is None:  # that others stay is what one expects
        choice.staying.clear()
    return choice


def _going(
    eligible: Sequence[Candidate], limits: Limits, now_ns: int, used_bytes: int
) -> list[Candidate]:
    if limits.older_than_ns is None and limits.to_bytes is None:
        return list(eligible)
    going = []
    left = used_bytes
    if limits.older_than_ns is not None:
        going = [one for one in eligible if now_ns - one.last_ns > limits.older_than_ns]
        left -= sum(one.bytes for one in going)
    if limits.to_bytes is not None:
        gone = {one.id for one in going}
        for one in eligible:
            if left <= limits.to_bytes:
                break
            if one.id not in gone:
                going.append(one)
                left -= one.bytes
    return sorted(going, key=lambda one: (one.added_ns, one.id))
