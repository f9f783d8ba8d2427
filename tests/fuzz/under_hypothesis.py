"""Runs a target with hypothesis for a bounded time; what fails is made small and kept."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.fuzz.finds import Finds
from tests.fuzz.target import Bites, damaged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from tests.fuzz.target import Target

_ROUND = 500
_LONGEST_SECONDS = 20


class FoundError(Exception):
    """An input fails; it is kept already."""


class HangError(Exception):
    """An input takes too long."""


def inputs_of(target: Target) -> st.SearchStrategy[bytes]:
    """Return what a target draws, and its seeds with something changed in them."""
    seeds = list(target.seeds())
    if not seeds:
        return target.inputs()
    mutated = st.tuples(st.sampled_from(seeds), st.binary(max_size=24)).map(
        lambda drawn: damaged(drawn[0], Bites(drawn[1]))
    )
    return target.inputs() | mutated


def run(target: Target, folder: Path, seconds: float, seed: int) -> int:
    """Try inputs until the time is over; return how many were tried."""
    finds = Finds(folder)
    known: set[str] = set()
    until = time.monotonic() + seconds
    tried = 0

    def attempt(data: bytes) -> None:
        nonlocal tried
        if time.monotonic() > until:
            return
        tried += 1
        signal.alarm(_LONGEST_SECONDS)
        key = finds.fails(target, data)
        signal.alarm(0)
        if key is not None and key not in known:
            current.add(key)
            raise FoundError(key)

    signal.signal(signal.SIGALRM, _hangs)
    while time.monotonic() < until:
        current: set[str] = set()
        seed += 1
        try:
            _prepared(target, attempt, seed)()
        except FoundError:
            known |= current
        except hypothesis.errors.Flaky:  # the time was over in the middle of it
            known |= current
    return tried


def _prepared(target: Target, attempt: Callable[[bytes], None], seed: int) -> Callable[[], None]:
    given = hypothesis.given(inputs_of(target))(attempt)
    chosen = settings(
        max_examples=_ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )(given)
    run_all: Callable[[], None] = hypothesis.seed(seed)(chosen)
    return run_all


def _hangs(_number: int, _frame: FrameType | None) -> None:
    raise HangError(f"more than {_LONGEST_SECONDS} seconds")
