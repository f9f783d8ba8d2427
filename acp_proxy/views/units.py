"""Numbers with units, short enough for a table."""

_KIBI = 1024
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NS = 1_000_000_000


def duration(ns: int | None) -> str:
    """Return a duration to three digits or so; empty when unknown.

    >>> [duration(n) for n in (1_500, 2_340_000, 9_870_000_000, 75_000_000_000, 3_723_000_000_000)]
    ['1.5µs', '2.34ms', '9.87s', '1m15s', '1h02m']
    >>> duration(999_600_000)
    '1s'
    """
    if ns is None:
        return ""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    if ns < _MINUTE * _NS:
        for unit, name in ((1_000, "µs"), (1_000_000, "ms")):
            if ns < unit * 999.5:  # the next unit, not 1e+03
                return f"{sign}{ns / unit:.3g}{name}"
        return f"{sign}{ns / _NS:.3g}s"
    seconds = round(ns / _NS)
    for unit, part, names in ((_DAY, _HOUR, "dh"), (_HOUR, _MINUTE, "hm"), (_MINUTE, 1, "ms")):
        if seconds >= unit:
            return f"{sign}{seconds // unit}{names[0]}{seconds % unit // part:02d}{names[1]}"
    return f"{sign}{seconds}s"


def since_start(ns: int | None) -> str:
    """Return a time since the start in seconds, with milliseconds; empty when unknown.

    >>> since_start(12_345_678_901)
    '12.346'
    """
    return "" if ns is None else f"{ns / _NS:.3f}"


def count(number: int, noun: str) -> str:
    """Return a number of things.

    >>> count(1, "frame"), count(2, "frame")
    ('1 frame', '2 frames')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(length: int | None) -> str:
    """Return a number of bytes in the unit that fits.

    >>> [size(n) for n in (0, 999, 2048, 5 * 1024 * 1024)]
    ['0', '999', '2.0K', '5.0M']
    """
    if length is None:
        return ""
    if length < _KIBI:
        return str(length)
    value = length / _KIBI
    for unit in "KMG":
        if value < _KIBI:
            return f"{value:.1f}{unit}"
        value /= _KIBI
    return f"{value:.1f}T"
