"""Each target's laws, tried briefly: on its seeds, on some inputs that hypothesis draws, and kept finds."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.target import Bites, damaged
from tests.fuzz.targets import TARGETS
from tests.fuzz.under_hypothesis import inputs_of, run

if TYPE_CHECKING:
    from pathlib import Path

_FEW = 15


@pytest.mark.parametrize("name", TARGETS)
def test_the_laws_hold_for_seeds(name: str) -> None:
    target = TARGETS[name]
    seeds = list(target.seeds())
    assert seeds
    for seed in islice(seeds, 0, None, max(1, len(seeds) // _FEW)):
        target.check(seed)


@pytest.mark.parametrize("name", TARGETS)
def test_the_laws_hold_for_what_is_drawn(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=_FEW, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inputs_of(target))
    def attempt(data: bytes) -> None:
        target.check(data)

    attempt()


@pytest.mark.slow
def test_what_fails_is_kept_small_beside_its_traceback(tmp_path: Path) -> None:
    def check(data: bytes) -> None:
        assert b"x" not in data

    broken = TARGETS["classification"]._replace(check=check, seeds=lambda: [b"axb"])
    assert run(broken, tmp_path, 1, 1) > 1

    [kept] = [path for path in tmp_path.iterdir() if path.suffix != ".txt"]
    assert kept.read_bytes() == b"x"
    assert "AssertionError" in kept.with_suffix(".txt").read_text()


def test_damage_is_bounded_and_the_same_each_time() -> None:
    for edits in (b"", bytes(40), bytes(range(200)), b"\xff" * 50):
        once = damaged(b"abcdef" * 10, Bites(edits))
        assert once == damaged(b"abcdef" * 10, Bites(edits))
        assert len(once) <= 60 + 8 * 16
