"""A fresh log, and the two ways to reach an agent: directly, which shows that a test is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness import Log, Way, end_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def spare_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is written elsewhere for want of a better place inside the test's own folder."""
    (tmp_path / "spare").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "spare"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A log that does not exist yet, in a folder that does not exist yet."""
    log = Log(tmp_path / "records" / "log.db")
    yield log
    for pid in log.recorders():
        end_process(pid)


@pytest.fixture(params=["direct", "proxied"])
def way(request: pytest.FixtureRequest, log: Log) -> Way:
    """Both ways to reach an agent; a test of both says: there is no difference."""
    return Way(log if request.param == "proxied" else None)


@pytest.fixture
def proxied(log: Log) -> Way:
    """The way through the proxy."""
    return Way(log)
