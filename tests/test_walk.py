"""The quickstart is true: it is walked from behind its installation; ``.ci/run`` walks all of it."""

import sys
from pathlib import Path

import pytest

from tests.walk import QUICKSTART, Block, blocks, newcomer, walk


@pytest.mark.slow
def test_a_newcomer_gets_through_the_quickstart(tmp_path: Path) -> None:
    install, *steps = blocks(QUICKSTART.read_text())
    assert "pip install" in install.commands
    assert len(steps) > 6
    environment = newcomer(str(tmp_path))
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"

    assert walk(steps, tmp_path, environment) == []


def test_a_walk_that_goes_wrong_is_seen(tmp_path: Path) -> None:
    environment = newcomer(str(tmp_path))
    assert walk([Block("echo good\n", ["good"])], tmp_path, environment) == []
    [wrong] = walk([Block("echo bad\n", ["good"])], tmp_path, environment)
    assert "bad" in wrong
    [wrong] = walk([Block("false\n", []), Block("echo no\n", [])], tmp_path, environment)
    assert "echo no" in wrong
    [wrong] = walk([Block("echo x; exit 3\n", ["x"])], tmp_path, environment)
    assert "ended with 3" in wrong
