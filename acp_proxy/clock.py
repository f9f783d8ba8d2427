"""The wall clock, also where it stands beyond what 64 bits of nanoseconds can say."""

import time
from typing import Final

LATEST_NS: Final = 2**63 - 1
"""11 April 2262: a later time is recorded as this one."""

_time_ns: Final = time.time_ns


def wall_clock_ns() -> int:
    """Return the wall clock in ns since 1970, LATEST_NS where it is later than that."""
    try:
        return _time_ns()
    except OverflowError:  # no clock that a system can be set to is earlier than 1677
        return LATEST_NS


def make_usable() -> None:
    """Let ``time.time`` and ``time.time_ns`` return LATEST_NS where they would raise.

    Called by our own processes before they import anything else: beyond 2262 even ``import
    logging`` raises, and with it what trio and concurrent.futures need. Elsewhere nothing changes.
    """
    try:
        time.time_ns()
    except OverflowError:
        time.time_ns = wall_clock_ns
        time.time = lambda: wall_clock_ns() / 1e9
