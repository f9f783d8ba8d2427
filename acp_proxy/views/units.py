"""Numbers with units, short enough for a table."""

_KIBI = 1024
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NS = 1_000_000_000


def duration(ns: int | None) -> str:
    """Return a duration to three digits or so; empty when unknown.

    >>> [duration(n) for n in (1_500, 2_340_000, 9_870_000_000, 75_000_000_000, 3_723_000_000_000)]
    ['1.5µs', '2.34ms', '9.87s', '1m15s', '1h02m']
    """
    if ns is None:
        return ""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    seconds = ns / _NS
    if seconds < 1e-3:  # noqa: PLR2004 - a millisecond
        return f"{sign}{ns / 1e3:.3g}µs"
    if seconds < 1:
        return f"{sign}{ns / 1e6:.3g}ms"
    if seconds < _MINUTE:
        return f"{sign}{seconds:.3g}s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{sign}{whole // _MINUTE}m{whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{sign}{whole // _HOUR}h{whole % _HOUR // _MINUTE:02d}m"
    return f"{sign}{whole // _DAY}d{whole % _DAY // _HOUR:02d}h"


def since_start(ns: int | None) -> str:
    """Return a time since the start in seconds, with milliseconds; empty when unknown.

    >>> since_start(12_345_678_901)
    '12.346'
    """
    return "" if ns is None else f"{ns / _NS:.3f}"


def size(count: int | None) -> str:
    """Return a number of bytes in the unit that fits.

    >>> [size(n) for n in (0, 999, 2048, 5 * 1024 * 1024)]
    ['0', '999', '2.0K', '5.0M']
    """
    if count is None:
        return ""
    if count < _KIBI:
        return str(count)
    value = float(count)
    for unit in "KMGT":
        value /= _KIBI
        if value < _KIBI:
            break
    return f"{value:.1f}{unit}"
