"""The wall clock, also where it shows what 64 bits of nanoseconds cannot hold. Cheap to import."""

import time
from typing import Final

UNKNOWN_NS: Final = 2**63 - 1
"""What stands for a time that cannot be told; as a time it would be in April 2262."""


def wall_ns() -> int:
    """Return the wall clock in ns since 1970; ``UNKNOWN_NS`` when it is beyond what can be told.

    Python itself raises OverflowError for a clock at 2262 or later: a machine without a battery, or
    a test, and no reason to record nothing.
    """
    try:
        return min(time.time_ns(), UNKNOWN_NS)
    except (OverflowError, OSError):
        return UNKNOWN_NS
