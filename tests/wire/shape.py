"""How cost grows: the time for four times the input against the time for the input.

Ratios only, the best of several, of this process's own time and without the garbage collector
(which looks at all that the other tests left): a busy machine fails nothing.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LINEAR = 10
"""Above 4, with room for noise and for caches; quadratic cost gives 16."""


def cost(work: Callable[[], object], tries: int = 3) -> float:
    """Return what some work takes at best, in seconds; only to be compared with another."""
    return max(min(_timed(work) for _ in range(tries)), 1e-4)


def growth(prepare: Callable[[int], Callable[[], object]], size: int, tries: int = 3) -> float:
    """Return how many times longer 4 * ``size`` takes than ``size``.

    Args:
        prepare: Makes the work for a size; only the work is timed.
        size: Large enough that the work takes some milliseconds.
        tries: How often both are done; the fastest of each counts.

    """
    small, large = (cost(prepare(n), tries) for n in (size, 4 * size))
    return large / small


def _timed(work: Callable[[], object]) -> float:
    gc.disable()
    try:
        started = time.process_time()
        work()
        return time.process_time() - started
    finally:
        gc.enable()
