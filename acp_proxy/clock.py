"""The wall clock, also where it stands beyond what 64 bits of nanoseconds can say."""

import time
from typing import Final

LATEST_NS: Final = 2**63 - 1
"""11 April 2262: a later time is recorded as this one."""


def wall_clock_ns() -> int:
    """Return the wall clock in ns since 1970, LATEST_NS where it is later than that."""
    try:
        return time.time_ns()
    except OverflowError:  # no clock that a system can be set to is earlier than 1677
        return LATEST_NS
