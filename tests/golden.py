"""Golden files: what a program must write, beside what it is made from."""

from pathlib import Path

import pytest


class Golden:
    """Compares with golden files, or writes them again (``--update-golden``)."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, path: Path, found: bytes) -> None:
        """Fail unless a file holds just these bytes."""
        if self._update:
            path.write_bytes(found)
        assert path.exists(), f"{path.name} is missing; pytest --update-golden writes it"
        if path.read_bytes() != found:
            assert found.decode().splitlines() == path.read_text(encoding="utf-8").splitlines()
            pytest.fail(f"{path.name} differs in its line ends")
