"""Fixtures for all tests: the captures that may be there, and conversations as frames."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real conversations; the test is skipped where it is absent."""
    folder = SHARED / "captures"
    if not folder.is_dir():
        pytest.skip("../shared/captures is absent: this clone stands alone")
    return folder


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of conversations with the states that they must give; skipped where absent."""
    folder = SHARED / "vectors"
    if not folder.is_dir():
        pytest.skip("../shared/vectors is absent: this clone stands alone")
    return folder
